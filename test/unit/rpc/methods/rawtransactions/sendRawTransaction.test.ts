import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RpcContext, RpcMethod } from '../../../../../src/rpc/declare/method.js';
import { formatTransaction, txid, type Transaction } from '../../../../../src/primitives/transaction.js';
import { prioritiseTransaction } from '../../../../../src/rpc/methods/mining/prioritiseTransaction.js';
import { getRawMempool } from '../../../../../src/rpc/methods/blockchain/mempool/getRawMempool.js';
import { sendRawTransaction } from '../../../../../src/rpc/methods/rawtransactions/sendRawTransaction.js';
import { testMempoolAccept } from '../../../../../src/rpc/methods/rawtransactions/testMempoolAccept.js';
import { hashToHex, toHex } from '../../../../../src/util/bytes.js';
import type { JsonValue } from '../../../../../src/util/json/json.js';
import type { Answer } from '../../../../support/testChain.js';
import { coinsOf, PoolWorld, spendCoins } from '../../../mempool/support.js';

const hexOf = (tx: Transaction): string => toHex(formatTransaction(tx));
const id = (tx: Transaction): string => hashToHex(txid(tx));

describe('sending transactions to the mempool', () => {
  let world: PoolWorld;
  let context: RpcContext;
  beforeAll(async () => {
    world = await PoolWorld.open(110);
    const { mempool } = world;
    const services = { ...world.chain.services, mempool, mempoolGate: mempool };
    context = { ...world.chain.context(), services };
  });
  afterAll(() => world.close());

  const call = (method: RpcMethod, ...params: JsonValue[]): Promise<Answer> =>
    world.chain.call(method, params, context);

  it('returns the id, also if the mempool has the transaction', async () => {
    const tx = spendCoins([await world.coinbase(1)], 1000n);
    expect(await call(testMempoolAccept, [hexOf(tx)])).toEqual({ result: [{ txid: id(tx), allowed: true }] });
    expect(world.mempool.size).toBe(0);
    for (let times = 0; times < 2; times++) {
      expect(await call(sendRawTransaction, hexOf(tx))).toEqual({ result: id(tx) });
    }
    expect(await Promise.all([call(getRawMempool), call(sendRawTransaction, hexOf(tx))])).toEqual([
      { result: [id(tx)] },
      { result: id(tx) },
    ]);
    expect(await call(testMempoolAccept, [hexOf(tx)])).toEqual({
      result: [{ txid: id(tx), allowed: false, 'reject-reason': '18: txn-already-in-mempool' }],
    });
  });

  it('answers two calls at the same time', async () => {
    const tx = spendCoins([await world.coinbase(2)], 1000n);
    const both = await Promise.all([
      call(sendRawTransaction, hexOf(tx)),
      call(sendRawTransaction, hexOf(tx)),
    ]);
    expect(both).toEqual([{ result: id(tx) }, { result: id(tx) }]);
  });

  it('refuses transactions as the reference does', async () => {
    const mined = spendCoins([await world.coinbase(3)], 1000n);
    await world.mineBlock([mined]);
    expect(await call(sendRawTransaction, hexOf(mined))).toEqual({
      error: { code: -27, message: 'transaction already in block chain' },
    });
    const orphan = spendCoins([{ txid: Buffer.alloc(32, 3), n: 0, value: 5000n }], 1000n);
    expect(await call(sendRawTransaction, hexOf(orphan))).toEqual({
      error: { code: -25, message: 'Missing inputs' },
    });
    expect(await call(testMempoolAccept, [hexOf(orphan)])).toMatchObject({
      result: [{ allowed: false, 'reject-reason': 'missing-inputs' }],
    });
    const poor = spendCoins(coinsOf(mined), 10n);
    expect(await call(sendRawTransaction, hexOf(poor))).toEqual({
      error: { code: -26, message: 'min relay fee not met, 10 < 61 (code 66)' },
    });
    expect(await call(testMempoolAccept, [hexOf(poor)])).toMatchObject({
      result: [{ 'reject-reason': '66: min relay fee not met' }],
    });
  });

  it('refuses absurd fees by default', async () => {
    const tx = spendCoins([await world.coinbase(4)], 50_000_001n);
    const message = 'absurdly-high-fee, 50000001 > 50000000 (code 256)';
    expect(await call(sendRawTransaction, hexOf(tx))).toEqual({ error: { code: -26, message } });
    expect(await call(sendRawTransaction, hexOf(tx), false)).toEqual({ error: { code: -26, message } });
    expect(await call(testMempoolAccept, [hexOf(tx)])).toMatchObject({
      result: [{ 'reject-reason': '256: absurdly-high-fee' }],
    });
    expect(await call(testMempoolAccept, [hexOf(tx)], true)).toMatchObject({ result: [{ allowed: true }] });
    expect(await call(sendRawTransaction, hexOf(tx), true)).toEqual({ result: id(tx) });
  });

  it('checks its parameters', async () => {
    for (const text of ['00', 'zz', '']) {
      const error = { code: -22, message: 'TX decode failed' };
      expect(await call(sendRawTransaction, text)).toEqual({ error });
      expect(await call(testMempoolAccept, [text])).toEqual({ error });
    }
    for (const list of [[], ['00', '00']]) {
      expect(await call(testMempoolAccept, list)).toEqual({
        error: { code: -8, message: 'Array must contain exactly one raw transaction for now' },
      });
    }
    expect(await call(sendRawTransaction, 1)).toEqual({
      error: { code: -3, message: 'Expected type string, got number' },
    });
    expect(await call(sendRawTransaction, '00', null)).toEqual({
      error: { code: -3, message: 'Expected type bool, got null' },
    });
    expect(await call(testMempoolAccept, '00')).toEqual({
      error: { code: -3, message: 'Expected type array, got string' },
    });
  });

  it('includes fee deltas of prioritisetransaction', async () => {
    const tx = spendCoins([await world.coinbase(5)], 0n);
    expect(await call(prioritiseTransaction, id(tx), null, 100)).toEqual({ result: true });
    expect(await call(sendRawTransaction, hexOf(tx))).toEqual({ result: id(tx) });
    expect(await call(prioritiseTransaction, id(tx), 0, -40)).toEqual({ result: true });
    expect(world.mempool.entry(txid(tx))).toMatchObject({ feeSat: 0n, modifiedFeeSat: 60n });
    expect(await call(prioritiseTransaction, id(tx), 1, 0)).toEqual({
      error: {
        code: -8,
        message: 'Priority is no longer supported, dummy argument to prioritisetransaction must be 0.',
      },
    });
    expect(await call(prioritiseTransaction, 'xyz', 0, 0)).toEqual({
      error: { code: -1, message: "txid must be hexadecimal string (not 'xyz')" },
    });
    expect(await call(prioritiseTransaction, id(tx), 0, 0.5)).toMatchObject({ error: { code: -1 } });
  });
});
