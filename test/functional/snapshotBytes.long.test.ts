/** All snapshots of a block have the same bytes. How the node got the blocks, and when it makes the dump, has no effect. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ADDRESS, HANG_MS, type RegtestNode } from './support/node.js';
import { connect, PeerGroup, until, untilSameTip } from './support/network.js';

/** Height of the snapshots. */
const HEIGHT = 130;
/** Regtest allows pruning from block 1,000 on. */
const TIP = 1010;
/** Lengths of two branches above `HEIGHT`. */
const [SHORT, LONG] = [14, 18];
const CLAIM_INDEX = ['-claimindex'];

interface Dump {
  height: number;
  blockhash: string;
  filename: string;
  hash: string;
}

const group = new PeerGroup();
let source: RegtestNode;
let dump: Dump;

beforeAll(async () => {
  source = await group.start({ args: CLAIM_INDEX });
  const own = await source.rpc<string>('getnewaddress');
  await source.rpc('generatetoaddress', [105, own]);
  for (let n = 0; n < 20; n++) {
    await source.rpc('claimname', [
      `name${n % 7}`,
      Buffer.from(`value ${n}`).toString('hex'),
      Number((0.01 + n / 1000).toFixed(3)),
    ]);
    if (n % 3 === 0) await source.rpc('generatetoaddress', [1, ADDRESS]);
  }
  // A reorg disconnects a part of the blocks.
  const left = await source.rpc<string[]>('generatetoaddress', [3, ADDRESS]);
  await source.rpc('invalidateblock', [left[1]]);
  await source.rpc('generatetoaddress', [HEIGHT - (await source.rpc<number>('getblockcount')), own]);
  dump = await source.rpc<Dump>('dumpsnapshot', ['first']);
  expect(dump.height).toBe(HEIGHT);
  await source.rpc('generatetoaddress', [TIP - HEIGHT, ADDRESS]);
}, HANG_MS);
afterAll(() => group.close());

async function stop(node: RegtestNode): Promise<void> {
  group.nodes.splice(group.nodes.indexOf(node), 1);
  await node.stop();
}

/** The block files of a node, as one file. */
function bootstrapOf({ dataDir }: RegtestNode): string {
  const blocks = join(dataDir, 'regtest', 'blocks');
  const files = readdirSync(blocks).filter((name) => /^blk\d+\.dat$/.test(name));
  const path = join(group.folder(), 'bootstrap.dat');
  writeFileSync(path, Buffer.concat(files.sort().map((name) => readFileSync(join(blocks, name)))));
  return path;
}

/** Dumps the block of another dump, and expects the same bytes. */
async function expectSame(node: RegtestNode, name: string, wanted = dump): Promise<void> {
  await until('the claim index', async () => {
    const { claimindex } = await node.rpc<Record<string, { synced: boolean }>>('getindexinfo');
    return claimindex!.synced;
  });
  const again = await node.rpc<Dump>('dumpsnapshot', [name, wanted.height]);
  expect(again.hash, name).toBe(wanted.hash);
  expect(readFileSync(again.filename).equals(readFileSync(wanted.filename)), name).toBe(true);
}

it('after a sync from a peer, with the index built afterwards', async () => {
  let node = await group.start({ dataDir: group.folder() });
  await connect(node, source);
  await untilSameTip([node, source]);
  const { dataDir } = node;
  await stop(node);
  node = await group.start({ dataDir, args: CLAIM_INDEX });
  await expectSame(node, 'synced');
});

it('after an import by -loadblock, and after -reindex and -reindex-chainstate', async () => {
  const dataDir = group.folder();
  let node = await group.start({ dataDir, args: [...CLAIM_INDEX, `-loadblock=${bootstrapOf(source)}`] });
  await untilSameTip([node, source]);
  await expectSame(node, 'imported');
  for (const option of ['-reindex', '-reindex-chainstate']) {
    await stop(node);
    node = await group.start({ dataDir, args: [...CLAIM_INDEX, option] });
    await untilSameTip([node, source]);
    await expectSame(node, option.slice(1));
  }
});

it('after a start from a snapshot and its validation', async () => {
  const args = [...CLAIM_INDEX, `-loadsnapshot=${dump.filename}`, `-snapshothash=${dump.hash}`];
  const node = await group.start({ args });
  await connect(node, source);
  await until(
    'the validation',
    async () => (await node.rpc<{ snapshot?: object }>('getblockchaininfo')).snapshot === undefined,
  );
  await untilSameTip([node, source]);
  await expectSame(node, 'validated');
});

it('on a node that has deleted old blocks', async () => {
  const node = await group.start({ args: [...CLAIM_INDEX, '-prune=1', '-maxblockfilesize=65536'] });
  await connect(node, source);
  await untilSameTip([node, source]);
  expect(await node.rpc('pruneblockchain', [TIP - 300])).toBeGreaterThan(HEIGHT);
  const old = await node.rpc<string>('getblockhash', [HEIGHT]);
  await expect(node.rpc('getblock', [old])).rejects.toThrow('pruned');
  await expectSame(node, 'pruned', await source.rpc<Dump>('dumpsnapshot', ['tip']));
  await expect(node.rpc('dumpsnapshot', ['old', HEIGHT])).rejects.toThrow('its data was pruned');
});

it('while blocks arrive', async () => {
  const node = await group.start({ args: CLAIM_INDEX });
  await connect(node, source);
  await untilSameTip([node, source]);
  await node.rpc('setnetworkactive', [false]);
  let isOver = false;
  const arriving = (async (): Promise<void> => {
    while (!isOver) await node.rpc('generatetoaddress', [1, ADDRESS]);
  })();
  const before = await node.rpc<number>('getblockcount');
  for (let n = 0; n < 4; n++) await expectSame(node, `arriving${n}`);
  const tip = await node.rpc<Dump>('dumpsnapshot', ['tip']);
  isOver = true;
  await arriving;
  expect(await node.rpc('getblockcount')).toBeGreaterThan(before);
  expect((await node.rpc<Dump>('dumpsnapshot', ['tip again', tip.height])).hash).toBe(tip.hash);
});

it('while a branch with more work replaces the blocks', async () => {
  // Each of two nodes mines a branch on the block of the dump.
  const [weak, strong] = await Promise.all(
    [0, 1].map(async () => {
      const dataDir = group.folder();
      const node = await group.start({ dataDir, args: CLAIM_INDEX });
      await connect(node, source);
      await untilSameTip([node, source]);
      await node.rpc('setnetworkactive', [false]);
      await node.rpc('invalidateblock', [await node.rpc('getblockhash', [HEIGHT + 1])]);
      return node;
    }),
  );
  await weak!.rpc('generatetoaddress', [SHORT, await weak!.rpc('getnewaddress')]);
  await strong!.rpc('generatetoaddress', [LONG, await strong!.rpc('getnewaddress')]);
  /** Hashes of the snapshots of all blocks of both branches. */
  const expected = new Map<string, string>();
  for (const [node, length] of [
    [weak!, SHORT],
    [strong!, LONG],
  ] as const)
    for (let height = HEIGHT; height <= HEIGHT + length; height++) {
      const { blockhash, hash } = await node.rpc<Dump>('dumpsnapshot', [`at ${height}`, height]);
      expect(expected.get(blockhash) ?? hash).toBe(hash);
      expected.set(blockhash, hash);
    }
  for (const node of [weak!, strong!]) await node.rpc('setnetworkactive', [true]);
  const dumps: Promise<Dump>[] = [];
  await connect(weak!, strong!);
  for (let n = 0, isOver = false; !isOver; n++) {
    dumps.push(weak!.rpc<Dump>('dumpsnapshot', [`switching ${n}`]));
    await dumps.at(-1);
    isOver = (await weak!.rpc('getbestblockhash')) === (await strong!.rpc('getbestblockhash'));
  }
  dumps.push(weak!.rpc<Dump>('dumpsnapshot', ['switched']));
  for (const { blockhash, hash } of await Promise.all(dumps)) expect(hash).toBe(expected.get(blockhash));
  expect((await dumps.at(-1)!).height).toBe(HEIGHT + LONG);
});
