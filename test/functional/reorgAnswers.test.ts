/**
 * Answers during a reorganisation are as of the old tip or of the new tip. They are never as of a tip in between, or of a mempool
 * to which transactions are still returning.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';

const OTHER = '2NGFrZmcc9pRLpL1veuDercvpTQHhicwg5r';
/**
 * Number of transactions of the disconnected blocks. Each returns separately, which takes many iterations of the event loop.
 */
const COUNT = 150;
/** Number of disconnected blocks. The new branch has one block more. */
const DEPTH = 12;

describe('calls in the middle of a reorganisation', () => {
  let node: RegtestNode;
  let rival: RegtestNode;
  beforeAll(async () => {
    [node, rival] = await Promise.all([startRegtest({ args: ['-rest', '-txindex'] }), startRegtest()]);
  });
  afterAll(async () => {
    await Promise.all([node.stop(), rival.stop()]);
  });

  /** Submits blocks of one node to the other in ascending order. */
  const copy = async (from: RegtestNode, to: RegtestNode, hashes: readonly string[]): Promise<void> => {
    for (const hash of hashes) await to.rpc('submitblock', [await from.rpc('getblock', [hash, 0])]);
  };

  const rest = async <T>(path: string): Promise<T> =>
    (await (await fetch(`http://127.0.0.1:${node.rpcPort}${path}`)).json()) as T;

  it('are answered as of one branch or of the other', async () => {
    const own = await node.rpc<string>('getnewaddress');
    const common = await node.rpc<string[]>('generatetoaddress', [1, own]);
    common.push(...(await node.rpc<string[]>('generatetoaddress', [100, ADDRESS])));
    const parts: Record<string, number> = {};
    for (let n = 0; n < COUNT; n++) parts[await node.rpc<string>('getnewaddress')] = 0.005;
    await node.rpc('sendmany', ['', parts]);
    common.push(...(await node.rpc<string[]>('generatetoaddress', [1, ADDRESS])));
    await copy(node, rival, common);

    const txids: string[] = [];
    const ours: string[] = [];
    const coins = await node.rpc<{ txid: string; vout: number; amount: number }[]>('listunspent');
    for (const [n, { txid, vout, amount }] of coins.entries()) {
      const to = { [own]: Number((amount - 0.0005).toFixed(8)) };
      const raw = await node.rpc<string>('createrawtransaction', [[{ txid, vout }], to]);
      const { hex } = await node.rpc<{ hex: string }>('signrawtransactionwithwallet', [raw]);
      txids.push(await node.rpc<string>('sendrawtransaction', [hex]));
      if (n % COUNT < DEPTH) ours.push(...(await node.rpc<string[]>('generatetoaddress', [1, ADDRESS])));
    }
    ours.push(...(await node.rpc<string[]>('generatetoaddress', [1, ADDRESS])));
    const theirs = await rival.rpc<string[]>('generatetoaddress', [ours.length + 1, OTHER]);
    await copy(rival, node, theirs.slice(0, -1));

    const last = txids.at(-1)!;
    const asked: Record<string, () => Promise<unknown>> = {
      getblockcount: () => node.rpc('getblockcount'),
      getbestblockhash: () => node.rpc('getbestblockhash'),
      getchaintips: async () =>
        (await node.rpc<{ hash: string; status: string }[]>('getchaintips')).find(
          ({ status }) => status === 'active',
        )!.hash,
      getblockheader: async () =>
        (await node.rpc<{ confirmations: number }>('getblockheader', [common[0]!])).confirmations,
      getmempoolinfo: async () => (await node.rpc<{ size: number }>('getmempoolinfo')).size,
      getrawmempool: async () => (await node.rpc<string[]>('getrawmempool')).length,
      'getrawmempool true': async () =>
        Object.values(await node.rpc<Record<string, unknown>>('getrawmempool', [true])).length,
      getrawtransaction: async () =>
        (await node.rpc<{ confirmations?: number }>('getrawtransaction', [last, true])).confirmations ?? 0,
      gettxout: async () => {
        const output = await node.rpc<{ bestblock: string; confirmations: number } | null>('gettxout', [
          last,
          0,
        ]);
        return `${output?.bestblock} ${output?.confirmations}`;
      },
      getblocktemplate: async () => {
        const work = await node.rpc<{ previousblockhash: string; transactions: unknown[] }>(
          'getblocktemplate',
          [{ rules: ['segwit'] }],
        );
        return `${work.previousblockhash} ${work.transactions.length}`;
      },
      '/rest/mempool/info': async () => (await rest<{ size: number }>('/rest/mempool/info.json')).size,
      '/rest/mempool/contents': async () =>
        Object.values(await rest<Record<string, unknown>>('/rest/mempool/contents.json')).length,
      '/rest/chaininfo': async () =>
        (await rest<{ bestblockhash: string }>('/rest/chaininfo.json')).bestblockhash,
    };
    const names = Object.keys(asked);
    const askAll = (): Promise<unknown[]> => Promise.all(Object.values(asked).map((ask) => ask()));
    const before = await askAll();
    const seen = new Map(names.map((name) => [name, new Set<unknown>()]));
    let isOver = false;
    const watching = names.map(async (name) => {
      while (!isOver) seen.get(name)!.add(await asked[name]!().catch(String));
    });
    expect(await node.rpc('submitblock', [await rival.rpc('getblock', [theirs.at(-1)!, 0])])).toBeNull();
    isOver = true;
    await Promise.all(watching);
    const after = await askAll();
    expect(after[names.indexOf('getrawmempool')]).toBe(coins.length);
    const between = names.map((name, n): [string, unknown[]] => {
      expect(after[n], name).not.toBe(before[n]);
      return [name, [...seen.get(name)!].filter((answer) => answer !== before[n] && answer !== after[n])];
    });
    expect(between.filter(([, answers]) => answers.length > 0)).toEqual([]);
  });
});
