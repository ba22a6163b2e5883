/** A chain of full blocks fetched from a peer, over a stop and a kill. */
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { shared, type RegtestNode } from './support/node.js';
import { addressOf, chainState, heightOf, PeerGroup, until, untilSameTip } from './support/network.js';

const bench = shared('bench/bench-40x1000.dat.gz');

describe('syncing', () => {
  const peers = new PeerGroup();
  const { nodes } = peers;
  const start: PeerGroup['start'] = (options) => peers.start(options);
  const folder = (): string => peers.folder();
  afterEach(() => peers.close());

  it.runIf(bench)('fetches the bench chain, also when stopped and killed on the way', async () => {
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
});
