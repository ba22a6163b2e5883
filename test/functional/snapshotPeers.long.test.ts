/** The background validation of a snapshot with peers, block files and disks that give wrong data or none. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADDRESS, HANG_MS, type RegtestNode } from './support/node.js';
import { connect, disconnect, peersOf, PeerGroup, until, untilSameTip } from './support/network.js';
import { headers, readInventory, HEADER_SIZE, shown } from './support/rawMessages.js';
import { RawPeer } from './support/rawPeer.js';
import { canMount, mountSmall } from './support/smallDisk.js';

/** Height of the snapshot. A pruned peer sends only the blocks above it. */
const HEIGHT = 800;
/** Regtest allows pruning from block 1,000 on. */
const TIP = 1010;
const MIB = 1 << 20;

interface Dump {
  filename: string;
  hash: string;
}

const group = new PeerGroup();
let source: RegtestNode;
let dump: Dump;
/** The blocks by height. */
const blocks: Buffer[] = [];

beforeAll(async () => {
  source = await group.start({ args: ['-claimindex'] });
  await source.rpc('generatetoaddress', [103, await source.rpc('getnewaddress')]);
  for (let n = 0; n < 8; n++) await source.rpc('claimname', [`name${n}`, '6f6d67', 0.01]);
  await source.rpc('generatetoaddress', [HEIGHT - 103, ADDRESS]);
  dump = await source.rpc<Dump>('dumpsnapshot', ['chain.snapshot']);
  await source.rpc('generatetoaddress', [TIP - HEIGHT, ADDRESS]);
  for (let height = 0; height <= TIP; height++) {
    const hash = await source.rpc<string>('getblockhash', [height]);
    blocks.push(Buffer.from(await source.rpc<string>('getblock', [hash, 0]), 'hex'));
  }
}, HANG_MS);
afterAll(() => group.close());

const loadArgs = (...more: string[]): string[] => [
  `-loadsnapshot=${dump.filename}`,
  `-snapshothash=${dump.hash}`,
  '-claimindex',
  ...more,
];

/** Height of the last validated block; null after the validation. */
async function validatedHeight(node: RegtestNode): Promise<number | null> {
  const { snapshot } = await node.rpc<{ snapshot?: { validated_height: number } }>('getblockchaininfo');
  return snapshot?.validated_height ?? null;
}

/** Connects a node that has all blocks, and expects that the validation passes. */
async function expectPassed(node: RegtestNode): Promise<void> {
  await connect(node, source);
  await until('the validation', async () => (await validatedHeight(node)) === null);
  await untilSameTip([node, source]);
  expect((await node.rpc<Dump>('dumpsnapshot', ['again', HEIGHT])).hash).toBe(dump.hash);
}

/** Records of a block file. */
function fileOf(parts: readonly Buffer[], magic = 'fae4aad1'): Buffer {
  return Buffer.concat(
    parts.flatMap((block) => {
      const head = Buffer.alloc(8);
      head.write(magic, 'hex');
      head.writeUInt32LE(block.length, 4);
      return [head, block];
    }),
  );
}

/** A peer that has the headers of the chain, and sends the blocks that `blockOf` returns. */
async function wrongPeer(node: RegtestNode, blockOf: (height: number) => Buffer): Promise<RawPeer> {
  const peer = await RawPeer.greet(node.p2pPort);
  const heights = new Map(blocks.map((block, height) => [idOf(block), height]));
  peer.send('headers', headers(blocks.slice(1).map((block) => block.subarray(0, HEADER_SIZE))));
  const serve = async (): Promise<void> => {
    for (;;) {
      const { command, payload } = await peer.nextOf(() => true, 'a message');
      if (command !== 'getdata') continue;
      for (const { hash } of readInventory(payload)) peer.send('block', blockOf(heights.get(shown(hash))!));
    }
  };
  // Ends with the connection.
  serve().catch(() => undefined);
  return peer;
}

const ids = new Map<Buffer, string>();
function idOf(block: Buffer): string {
  return ids.get(block)!;
}

beforeAll(async () => {
  for (const [height, block] of blocks.entries()) ids.set(block, await source.rpc('getblockhash', [height]));
}, HANG_MS);

it('disconnects a peer that sends changed blocks, and passes with another peer', async () => {
  const node = await group.start({ args: loadArgs() });
  for (const change of [
    // Bytes of the coinbase's output, and of its witness.
    (block: Buffer): void => void (block[block.length - 10]! ^= 1),
    (block: Buffer): void => void (block[150]! ^= 1),
  ]) {
    const peer = await wrongPeer(node, (height) => {
      const block = Buffer.from(blocks[height]!);
      if (height > 0 && height <= HEIGHT) change(block);
      return block;
    });
    await peer.closed();
    expect(await validatedHeight(node)).toBeLessThanOrEqual(0);
    await node.rpc('clearbanned');
  }
  await expectPassed(node);
});

it('waits while the peers have pruned the blocks, and passes with a peer that has them', async () => {
  const pruned = await group.start({ args: ['-prune=1', '-maxblockfilesize=65536'] });
  await connect(pruned, source);
  await untilSameTip([pruned, source]);
  expect(await pruned.rpc('pruneblockchain', [TIP - 300])).toBeGreaterThan(100);
  await disconnect(pruned, source);
  const node = await group.start({ args: loadArgs() });
  await connect(node, pruned);
  await untilSameTip([node, pruned]);
  expect(await validatedHeight(node)).toBeLessThanOrEqual(0);
  expect(await peersOf(node)).toHaveLength(1);
  await expectPassed(node);
});

it('skips invalid data in files of -loadblock, and requests the missing blocks from a peer', async () => {
  const changed = Buffer.from(blocks[30]!);
  changed[changed.length - 10]! ^= 1;
  const files: [string, Buffer][] = [
    ['cut', fileOf(blocks.slice(0, 20)).subarray(0, -9)],
    ['flipped', fileOf([...blocks.slice(19, 30), changed, ...blocks.slice(31, 40)])],
    ['another network', fileOf(blocks.slice(40, 50), 'fae4aaf1')],
    ['noise', Buffer.alloc(5000, 0xfa)],
    ['without parents', fileOf(blocks.slice(TIP - 5))],
  ];
  const folder = group.folder();
  const options = files.map(([name, bytes]) => {
    writeFileSync(join(folder, name), bytes);
    return `-loadblock=${join(folder, name)}`;
  });
  const node = await group.start({ args: loadArgs(...options) });
  // Block 30 is missing, and all blocks below it are in the files.
  await until('the files', async () => (await validatedHeight(node)) === 29);
  await expectPassed(node);
});

it('downloads a block again that was changed on disk', async () => {
  const dataDir = group.folder();
  const first = join(dataDir, 'first.dat');
  writeFileSync(first, fileOf([...blocks.slice(0, 40), ...blocks.slice(41, 80)]));
  let node = await group.start({ dataDir, args: loadArgs(`-loadblock=${first}`) });
  await until('40 blocks', async () => (await validatedHeight(node)) === 39);
  await node.stop();
  group.nodes.splice(group.nodes.indexOf(node), 1);
  const stored = join(dataDir, 'regtest', 'blocks', 'blk00000.dat');
  const bytes = readFileSync(stored);
  for (const height of [50, 60]) {
    const at = bytes.indexOf(blocks[height]!);
    bytes[at + blocks[height]!.length - 10]! ^= 1;
  }
  writeFileSync(stored, bytes);
  node = await group.start({ dataDir, args: ['-claimindex'] });
  await expectPassed(node);
  expect(node.output()).toMatch(/is corrupt on disk.*The block is downloaded again/);
});

describe.runIf(canMount)('a full disk', () => {
  /** Fills the disk of the folder except for some bytes. */
  function fill(folder: string, leftBytes: number): void {
    const { bavail, bsize } = statfsSync(folder);
    writeFileSync(join(folder, 'ballast'), Buffer.alloc(bavail * bsize - leftBytes, 1));
  }

  it.each([
    ['less space than a node needs', 10 * MIB],
    ['no space', 0],
  ])('with %s stops the node with advice, and the next start continues', async (_, leftBytes) => {
    const dataDir = group.folder();
    const disk = join(dataDir, 'regtest');
    mkdirSync(disk);
    expect(mountSmall(disk, '160m')).toBe(true);
    try {
      let node = await group.start({ dataDir, args: loadArgs() });
      fill(disk, leftBytes);
      await connect(node, source).catch(() => undefined);
      expect(await node.exited).toBe(1);
      group.nodes.splice(group.nodes.indexOf(node), 1);
      expect(node.output()).toMatch(/Disk space is low|no space is left on its disk/);
      expect(node.output()).not.toContain('is wrong');
      rmSync(join(disk, 'ballast'));
      node = await group.start({ dataDir, args: ['-claimindex'] });
      expect(await node.rpc('getblockcount')).toBeGreaterThanOrEqual(HEIGHT);
      await expectPassed(node);
      group.nodes.splice(group.nodes.indexOf(node), 1);
      await node.stop();
      expect(readdirSync(disk)).not.toContain('chainstate.validation');
    } finally {
      spawnSync('umount', ['-l', disk]);
    }
  });
});
