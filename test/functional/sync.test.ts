/** Nodes that sync from one another: the first time, over partitions, restarts and kills, and from a pruned one. */
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { ADDRESS, shared, type RegtestNode } from './support/node.js';
import {
  addressOf,
  chainState,
  connect,
  disconnect,
  peersOf,
  startPeer,
  until,
  untilSameTip,
} from './support/network.js';

const bench = shared('bench/bench-40x1000.dat.gz');

describe('syncing', () => {
  const nodes: RegtestNode[] = [];
  const folders: string[] = [];
  afterEach(async () => {
    await Promise.all(nodes.splice(0).map((node) => node.stop()));
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  const start = async (options: Parameters<typeof startPeer>[0] = {}): Promise<RegtestNode> => {
    const node = await startPeer(options);
    nodes.push(node);
    return node;
  };
  const folder = (): string => {
    const path = mkdtempSync(join(tmpdir(), 'sync-'));
    folders.push(path);
    return path;
  };
  const heightOf = (node: RegtestNode): Promise<number> => node.rpc('getblockcount');
  const generate = (node: RegtestNode, blocks: number, address = ADDRESS): Promise<string[]> =>
    node.rpc('generatetoaddress', [blocks, address]);

  it.runIf(bench)('fetches a whole chain, also when stopped and killed on the way', async () => {
    const work = folder();
    const file = join(work, 'bench.dat');
    await pipeline(createReadStream(bench!), createGunzip(), createWriteStream(file));
    const rules = '-supportdelay=proportional';
    const source = await start({
      args: [rules, '-maxtipage=2000000000', `-loadblock=${file}`],
      timeoutMs: 120_000,
    });
    expect(await heightOf(source)).toBe(469);
    const dataDir = folder();
    const args = [rules, `-connect=${addressOf(source)}`];
    const at = async (height: number): Promise<RegtestNode> => {
      const node = await start({ dataDir, args });
      await until(`height ${height}`, async () => (await heightOf(node)) >= height);
      nodes.splice(nodes.indexOf(node), 1);
      return node;
    };
    await (await at(100)).stop();
    await (await at(435)).kill();
    const node = await start({ dataDir, args });
    await untilSameTip([source, node], 120_000);
    expect(await chainState(node)).toEqual(await chainState(source));
  });

  it('joins two chains of a partition: the one with more work wins, over 150 blocks', async () => {
    const [a, b] = [await start(), await start()];
    await connect(a, b);
    await generate(a, 10);
    await untilSameTip([a, b]);
    await disconnect(a, b);
    await generate(a, 150);
    const branch = await generate(b, 151, 'n2eMqTT929pb1RDNuqEnxdaLau1rxy3efi');
    await connect(b, a);
    await untilSameTip([a, b]);
    expect(await a.rpc('getbestblockhash')).toBe(branch.at(-1));
    expect(await chainState(a)).toEqual(await chainState(b));
  });

  it('keeps the tip that came first among equals, and follows the next block', async () => {
    const [a, b, c] = [await start(), await start(), await start()];
    const [tipA] = await generate(a, 1);
    const [tipB] = await generate(b, 1, 'n2eMqTT929pb1RDNuqEnxdaLau1rxy3efi');
    await connect(c, a);
    await untilSameTip([a, c]);
    await connect(c, b);
    await until('both branches', async () => (await c.rpc<unknown[]>('getchaintips')).length === 2);
    expect(await c.rpc('getbestblockhash')).toBe(tipA);
    expect(await b.rpc('getbestblockhash')).toBe(tipB);
    await generate(b, 1);
    await untilSameTip([a, b, c]);
  });

  it('syncs what a pruned node still has, and not what it dropped', async () => {
    const pruned = await start({ args: ['-prune=1', '-maxblockfilesize=65536'] });
    await generate(pruned, 1200);
    const dropped = await pruned.rpc<number>('pruneblockchain', [800]);
    expect(dropped).toBeGreaterThan(100);
    const known = await start();
    const fresh = await start();
    // One that has the chain up to the pruned height gets the rest; one that has nothing gets nothing.
    for (let height = 1; height <= 1000; height++) {
      const hash = await pruned.rpc<string>('getblockhash', [height]);
      const block = await pruned.rpc<string>('getblock', [hash, 0]).catch(() => null);
      if (block === null) break;
      await known.rpc('submitblock', [block]);
    }
    await connect(fresh, pruned);
    await until('headers', async () => {
      const info = await fresh.rpc<{ headers: number }>('getblockchaininfo');
      return info.headers === 1200;
    });
    expect(await heightOf(fresh)).toBe(0);
    const [info] = await peersOf(fresh);
    expect(info).toMatchObject({ inflight: [] });
  });
});
