/** Nodes that sync from other nodes: an initial sync, and a sync after partitions, restarts and kills, and from a pruned node. */
import { afterEach, describe, expect, it } from 'vitest';
import { ADDRESS, type RegtestNode } from './support/node.js';
import {
  addressOf,
  chainState,
  connect,
  disconnect,
  heightOf,
  PeerGroup,
  peersOf,
  until,
  untilSameTip,
} from './support/network.js';
import { longIt } from '../support/long.js';

describe('syncing', () => {
  const peers = new PeerGroup();
  const { nodes } = peers;
  const start: PeerGroup['start'] = (options) => peers.start(options);
  const folder = (): string => peers.folder();
  afterEach(() => peers.close());
  const generate = (node: RegtestNode, blocks: number, address = ADDRESS): Promise<string[]> =>
    node.rpc('generatetoaddress', [blocks, address]);

  it('fetches a whole chain, also when stopped and killed on the way', async () => {
    const source = await start();
    await generate(source, 500);
    const dataDir = folder();
    const connected = `-connect=${addressOf(source)}`;
    const stopped = await start({ dataDir, args: [connected, '-stopatheight=100'] });
    expect(await stopped.exited).toBe(0);
    expect(stopped.output()).toContain(' height=100 ');
    expect(stopped.output()).not.toContain(' height=101 ');
    const killed = await start({
      dataDir,
      args: [connected],
      env: { LBCNODE_CRASH_AT: 'commit:after-apply@300' },
    });
    expect(await killed.exited).toBe(null);
    expect(killed.output()).not.toContain(' height=500 ');
    const node = await start({ dataDir, args: [connected] });
    await untilSameTip([source, node]);
    expect(await chainState(node)).toEqual(await chainState(source));
  });

  it('follows the chain with more work after a partition, over 150 blocks, and stops while peers are connected', async () => {
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
    await a.stop();
    await until('parting', async () => (await peersOf(b)).length === 0);
    nodes.splice(nodes.indexOf(a), 1);
  });

  longIt('keeps the tip that arrived first among equals, and follows the next block', async () => {
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

  longIt('downloads the remaining blocks of a pruned node, and not the pruned ones', async () => {
    const dataDir = folder();
    const small = '-maxblockfilesize=65536';
    const full = await start({ dataDir, args: [small] });
    await generate(full, 1000);
    // One node lacks only the last blocks, the other one lacks all blocks.
    const [known, fresh] = [await start(), await start()];
    await connect(known, full);
    await untilSameTip([known, full]);
    await full.stop();
    nodes.splice(nodes.indexOf(full), 1);
    const pruned = await start({ dataDir, args: [small, '-prune=1', '-debug=net'] });
    await generate(pruned, 200);
    const dropped = await pruned.rpc<number>('pruneblockchain', [800]);
    expect(dropped).toBeGreaterThan(100);
    expect(await pruned.rpc('getnetworkinfo')).toMatchObject({ localservices: '000000000000040c' });

    await connect(known, pruned);
    await untilSameTip([known, pruned]);
    expect(await chainState(known)).toEqual(await chainState(pruned));

    await connect(fresh, pruned);
    await until('headers', async () => {
      const info = await fresh.rpc<{ headers: number }>('getblockchaininfo');
      return info.headers === 1200;
    });
    expect(await heightOf(fresh)).toBe(0);
    const [info] = await peersOf(fresh);
    expect(info).toMatchObject({ inflight: [] });
    // Another helps it on.
    await connect(fresh, known);
    await untilSameTip([fresh, known]);
    expect(pruned.output()).not.toContain('below NODE_NETWORK_LIMITED threshold');
  });

  longIt('serves no old blocks near the upload limit, except to whitelisted peers', async () => {
    const dataDir = folder();
    const old = Math.floor(Date.now() / 1000) - 8 * 24 * 60 * 60;
    const bounded = ['-maxuploadtarget=1', '-debug=net'];
    const source = await start({ dataDir, args: [...bounded, `-mocktime=${old}`] });
    const known = await start({ args: [`-mocktime=${old}`] });
    await generate(source, 10);
    await connect(known, source);
    await untilSameTip([source, known]);
    for (const node of [source, known]) await node.rpc('setmocktime', [0]);
    await generate(source, 10);
    await untilSameTip([source, known]);
    expect(await source.rpc('getnettotals')).toMatchObject({
      uploadtarget: { target: 1 << 20, target_reached: false, serve_historical_blocks: false },
    });

    const fresh = await start();
    await fresh.rpc('addnode', [addressOf(source), 'onetry']);
    await until('the refusal', async () =>
      source.output().includes('historical block serving limit reached'),
    );
    await until('parting', async () => (await peersOf(fresh)).length === 0);
    expect(await heightOf(fresh)).toBe(0);

    await source.stop();
    nodes.splice(nodes.indexOf(source), 1);
    const trusting = await start({ dataDir, args: [...bounded, '-whitelist=127.0.0.1'] });
    await connect(fresh, trusting);
    await untilSameTip([fresh, trusting]);
  });
});
