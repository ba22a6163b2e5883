/** Syncs a chain of full blocks from a peer, with a stop and a kill in between. */
import './sync.test.js';
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { ADDRESS, shared, type RegtestNode } from './support/node.js';
import {
  addressOf,
  chainState,
  heightOf,
  PeerGroup,
  peersOf,
  until,
  untilSameTip,
} from './support/network.js';

const bench = shared('bench/bench-40x1000.dat.gz');

describe('syncing', () => {
  const peers = new PeerGroup();
  const { nodes } = peers;
  const start: PeerGroup['start'] = (options) => peers.start(options);
  const folder = (): string => peers.folder();
  afterEach(() => peers.close());

  it('downloads the headers of a long chain twice if much work is required, and none of a weak one', async () => {
    const blocks = 9000;
    const source = await start();
    for (let made = 0; made < blocks; made += 1000) await source.rpc('generatetoaddress', [1000, ADDRESS]);
    const wanted = (height: number): string => `-minimumchainwork=${(2 * (height + 1)).toString(16)}`;
    const args = [`-connect=${addressOf(source)}`];
    /** Received bytes of `headers` messages, divided by the size of all headers. */
    const fetched = async (node: RegtestNode): Promise<number> =>
      ((await peersOf(node))[0]?.bytesrecv_per_msg['headers'] ?? 0) / (blocks * 113);
    const node = await start({ args: [...args, wanted(8500)] });
    await untilSameTip([source, node], 240_000);
    expect(await fetched(node)).toBeGreaterThan(1.9);
    expect(await chainState(node)).toEqual(await chainState(source));
    const demanding = await start({ args: [...args, wanted(9001)] });
    await until('the end of the first pass', async () => (await fetched(demanding)) >= 1);
    expect(await demanding.rpc('getchaintips')).toHaveLength(1);
    expect(await demanding.rpc('getblockchaininfo')).toMatchObject({ headers: 0, blocks: 0 });
  });

  it.runIf(bench)('fetches the bench chain, also when stopped and killed on the way', async () => {
    const work = folder();
    const file = join(work, 'bench.dat');
    await pipeline(createReadStream(bench!), createGunzip(), createWriteStream(file));
    const rules = '-supportdelay=proportional';
    const source = await start({
      args: [rules, '-maxtipage=2000000000', `-loadblock=${file}`],
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
