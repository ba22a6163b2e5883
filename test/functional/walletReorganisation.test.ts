/**
 * Answers of a wallet during a reorganisation: wallet calls wait until tip and mempool match, so that no answer lacks
 * transactions that are neither in the disconnected block nor back in the mempool yet.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';

/** Number of transactions of the disconnected block. Each returns separately, which takes many iterations of the event loop. */
const COUNT = 150;

describe('a wallet in the middle of a reorganisation', () => {
  let node: RegtestNode;
  beforeAll(async () => {
    node = await startRegtest();
  });
  afterAll(() => node.stop());

  it('is answered as of before or after it', async () => {
    const own = await node.rpc<string>('getnewaddress');
    await node.rpc('generatetoaddress', [1, own]);
    await node.rpc('generatetoaddress', [100, ADDRESS]);
    const parts: Record<string, number> = {};
    for (let n = 0; n < COUNT; n++) parts[await node.rpc<string>('getnewaddress')] = 0.005;
    await node.rpc('sendmany', ['', parts]);
    await node.rpc('generatetoaddress', [1, ADDRESS]);
    const coins = await node.rpc<{ txid: string; vout: number; amount: number }[]>('listunspent');
    for (const { txid, vout, amount } of coins) {
      const to = { [own]: Number((amount - 0.0005).toFixed(8)) };
      const raw = await node.rpc<string>('createrawtransaction', [[{ txid, vout }], to]);
      const { hex } = await node.rpc<{ hex: string }>('signrawtransactionwithwallet', [raw]);
      await node.rpc('sendrawtransaction', [hex]);
    }
    const [block] = await node.rpc<string[]>('generatetoaddress', [1, ADDRESS]);
    const has = async (): Promise<string> => {
      const { balance, unconfirmed_balance, txcount } =
        await node.rpc<Record<string, number>>('getwalletinfo');
      const { length } = await node.rpc<unknown[]>('listunspent', [0]);
      return [balance, unconfirmed_balance, txcount, length].join();
    };
    const before = await has();
    expect(before).toMatch(new RegExp(`,0,.*,${coins.length}$`));
    let isOver = false;
    const change = async (method: string): Promise<void> => {
      await node.rpc(method, [block]);
    };
    const reorganising = (async () => {
      for (let round = 0; round < 3; round++) {
        await change('invalidateblock');
        await change('reconsiderblock');
      }
    })().finally(() => (isOver = true));
    const seen = new Set<string>();
    while (!isOver) seen.add(await has());
    await reorganising;
    expect([...seen]).toEqual([before]);
  });
});
