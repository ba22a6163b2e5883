/** Relay between nodes: blocks, compact blocks and transactions, and peers that are refused. */
import { afterEach, describe, expect, it } from 'vitest';
import { ADDRESS, type RegtestNode } from './support/node.js';
import {
  addressOf,
  connect,
  OPEN_ADDRESS,
  peersOf,
  spendCoinbase,
  startPeer,
  until,
  untilSameMempool,
  untilSameTip,
} from './support/network.js';

describe('relay', () => {
  const nodes: RegtestNode[] = [];
  afterEach(async () => {
    await Promise.all(nodes.splice(0).map((node) => node.stop()));
  });
  const start = async (...args: string[]): Promise<RegtestNode> => {
    const node = await startPeer({ args });
    nodes.push(node);
    return node;
  };
  const generate = (node: RegtestNode, blocks: number, address = ADDRESS): Promise<string[]> =>
    node.rpc('generatetoaddress', [blocks, address]);

  it('relays blocks and transactions through a node in the middle', async () => {
    const [a, b, c] = [await start(), await start(), await start()];
    // During the initial download, a node only requests blocks from outbound peers.
    await connect(b, a);
    await connect(c, b);
    await generate(a, 105, OPEN_ADDRESS);
    await untilSameTip([a, b, c]);
    const sent = new Set<string>();
    for (let height = 1; height <= 4; height++)
      sent.add(await a.rpc<string>('sendrawtransaction', [await spendCoinbase(a, height)]));
    await untilSameMempool([a, b, c]);
    expect(new Set(await c.rpc<string[]>('getrawmempool'))).toEqual(sent);
    await generate(c, 1);
    await untilSameTip([a, b, c]);
    expect(await a.rpc('getrawmempool')).toEqual([]);
  });

  it('rebuilds compact blocks from a full, a partial and an empty mempool', async () => {
    // Transactions are announced to whitelisted peers at once. Compact blocks are only sent to peers whose tip is recent.
    const [a, b] = [await start('-whitelist=127.0.0.1'), await start()];
    await connect(b, a);
    await generate(a, 130, OPEN_ADDRESS);
    await untilSameTip([a, b]);
    const received = async (command: string): Promise<number> =>
      (await peersOf(b))[0]!.bytesrecv_per_msg[command] ?? 0;
    /** Mines a block on `a`. `b` has some of its transactions. Returns the kinds of messages that transferred it. */
    const mine = async (
      shared: number[],
      hidden: number[],
    ): Promise<{ compact: boolean; parts: boolean; whole: boolean }> => {
      for (const height of shared) await a.rpc('sendrawtransaction', [await spendCoinbase(a, height)]);
      await untilSameMempool([a, b]);
      await b.rpc('setnetworkactive', [false]);
      for (const height of hidden) await a.rpc('sendrawtransaction', [await spendCoinbase(a, height)]);
      await b.rpc('setnetworkactive', [true]);
      await connect(b, a);
      // Transactions that were sent before a peer connected are not announced to it.
      const before = [await received('cmpctblock'), await received('blocktxn'), await received('block')];
      await generate(a, 1);
      await untilSameTip([a, b]);
      const after = [await received('cmpctblock'), await received('blocktxn'), await received('block')];
      return {
        compact: after[0]! > before[0]!,
        parts: after[1]! > before[1]!,
        whole: after[2]! > before[2]!,
      };
    };
    expect(await mine([1, 2, 3], [])).toMatchObject({ compact: true, parts: false });
    expect(await mine([4, 5], [6, 7])).toMatchObject({ compact: true, parts: true });
    expect(await mine([], [8, 9, 10])).toMatchObject({ compact: true, parts: true });
  });

  it('bans, unbans and whitelists peers, and can be switched off', async () => {
    const [a, b] = [await start(), await start('-whitelist=127.0.0.1')];
    await connect(a, b);
    expect((await peersOf(b))[0]).toMatchObject({ inbound: true, whitelisted: true });
    await a.rpc('setban', ['127.0.0.1', 'add', 3600]);
    await until('parting', async () => (await peersOf(a)).length === 0);
    expect(await a.rpc('listbanned')).toMatchObject([
      { address: '127.0.0.1/32', ban_reason: 'manually added' },
    ]);
    await b.rpc('addnode', [addressOf(a), 'onetry']);
    await until('refusal', async () => (await peersOf(b)).length === 0);
    expect(await peersOf(a)).toEqual([]);
    await a.rpc('clearbanned');
    await connect(b, a);
    await a.rpc('setnetworkactive', [false]);
    await until('silence', async () => (await peersOf(a)).length === 0);
    expect(await a.rpc('getnetworkinfo')).toMatchObject({ networkactive: false, connections: 0 });
    await a.rpc('setnetworkactive', [true]);
    await connect(b, a);
    expect(await a.rpc('getconnectioncount')).toBe(1);
  });

  it('announces its address according to the options, and does not connect to itself', async () => {
    const node = await start('-externalip=8.8.8.8:5');
    expect(await node.rpc('getnetworkinfo')).toMatchObject({
      localaddresses: [{ address: '8.8.8.8', port: 5, score: 4 }],
    });
    await node.rpc('addnode', [addressOf(node), 'onetry']);
    await until('recognition', async () => node.output().includes('connected to self'));
    expect(await peersOf(node)).toEqual([]);
    // A node whose options cannot work does not start.
    await expect(start('-externalip=localhost', '-dns=0')).rejects.toThrow(
      "Cannot resolve -externalip address: 'localhost'",
    );
  });
});
