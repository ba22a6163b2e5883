import { afterEach, describe, expect, it } from 'vitest';
import { txid } from '../../../../src/primitives/transaction.js';
import { RPC_ERROR } from '../../../../src/rpc/declare/errors.js';
import { callMethod, invokeMethod } from '../../../../src/rpc/call/callMethod.js';
import { defineMethod, type RpcContext, type RpcMethod } from '../../../../src/rpc/declare/method.js';
import { getBestBlockHash } from '../../../../src/rpc/methods/blockchain/getBestBlockHash.js';
import { getBlockCount } from '../../../../src/rpc/methods/blockchain/getBlockCount.js';
import { getChainTips } from '../../../../src/rpc/methods/blockchain/getChainTips.js';
import { getMempoolEntry } from '../../../../src/rpc/methods/blockchain/mempool/getMempoolEntry.js';
import { getMempoolInfo } from '../../../../src/rpc/methods/blockchain/mempool/getMempoolInfo.js';
import { getRawMempool } from '../../../../src/rpc/methods/blockchain/mempool/getRawMempool.js';
import { getTxOut } from '../../../../src/rpc/methods/blockchain/getTxOut.js';
import { echo } from '../../../../src/rpc/methods/hidden/echo.js';
import { waitForBlockHeight } from '../../../../src/rpc/methods/hidden/waitForBlockHeight.js';
import { getRawTransaction } from '../../../../src/rpc/methods/rawtransactions/getRawTransaction.js';
import { METHODS } from '../../../../src/rpc/declare/methodTable.js';
import { t } from '../../../../src/schema/schema.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import type { JsonValue } from '../../../../src/util/json/json.js';
import { ADDRESS_SCRIPT, type Answer } from '../../../support/testChain.js';
import { coinsOf, PoolWorld, spendCoins } from '../../mempool/support.js';

/** Blocks on each of two branches of the same work. */
const LENGTH = 3;

describe('a call during a reorganisation', () => {
  let world: PoolWorld;
  afterEach(() => world.close());

  const chainOf = (): PoolWorld['chain']['opened']['chain'] => world.chain.opened.chain;

  function context(signal = new AbortController().signal): RpcContext {
    const { mempool, chain } = world;
    const services = { ...chain.services, mempool, mempoolGate: mempool };
    return { ...chain.context('documented', signal), services };
  }

  /** Makes two branches of the same length. The active one contains transactions. Returns the tip of the other one. */
  async function fork(): Promise<{ other: number; ids: string[] }> {
    world = await PoolWorld.open(102);
    const parent = spendCoins([await world.coinbase(1)], 10_000n);
    const child = spendCoins(coinsOf(parent), 10_000n);
    const third = spendCoins([await world.coinbase(2)], 10_000n);
    await world.mineBlock([], ADDRESS_SCRIPT);
    await world.chain.mine(LENGTH - 1, ADDRESS_SCRIPT);
    const other = chainOf().tip;
    const first = await world.disconnectFrom(103);
    await world.mineBlock([parent, child]);
    await world.mineBlock([third]);
    await world.chain.mine(LENGTH - 2);
    const active = chainOf().tip;
    await world.reconsider(first);
    if (chainOf().tip !== active) await chainOf().preciousBlock(active);
    expect(world.mempool.size).toBe(0);
    return { other, ids: [parent, child, third].map((tx) => hashToHex(txid(tx))) };
  }

  /** Calls `look` whenever a reorganisation yields. */
  function whenever(look: () => void): void {
    const { events, afterStep } = chainOf();
    events.on('blockDisconnected', look);
    events.on('blockConnected', look);
    afterStep.unshift(async () => look());
    afterStep.push(async () => look());
  }

  it('is answered after the reorganisation', async () => {
    const { other, ids } = await fork();
    const last = ids[2]!;
    const calls: readonly (readonly [RpcMethod, readonly JsonValue[]])[] = [
      [getBlockCount, []],
      [getBestBlockHash, []],
      [getChainTips, []],
      [getRawMempool, []],
      [getRawMempool, [true]],
      [getMempoolInfo, []],
      [getMempoolEntry, [last]],
      [getTxOut, [last, 0]],
      [getRawTransaction, [last, true]],
    ];
    const ask = (): Promise<Answer[]> =>
      Promise.all(calls.map(([method, params]) => world.chain.call(method, params, context())));
    const before = await ask();
    const asked: Promise<Answer[]>[] = [];
    whenever(() => asked.push(ask()));
    await chainOf().preciousBlock(other);
    expect(world.ids()).toEqual([...ids].sort());
    const after = await ask();
    expect(after).not.toEqual(before);
    expect(asked).toHaveLength(2 * LENGTH + 2);
    for (const answers of await Promise.all(asked)) expect(answers).toEqual(after);
  });

  it('is answered at once if it uses neither chain nor mempool', async () => {
    const { other } = await fork();
    const answers: unknown[] = [];
    whenever(() => answers.push(callMethod(echo, context(), ['x'])));
    await chainOf().preciousBlock(other);
    expect(answers).toEqual(Array.from({ length: 2 * LENGTH + 2 }, () => ['x']));
  });

  /** A method that reads the height in each iteration of the event loop, from its start until the other branch is active. */
  function heights(chainUse?: 'reads'): { method: RpcMethod; runs: () => number; goOn: () => void } {
    let runs = 0;
    let goOn = (): void => undefined;
    const later = new Promise<void>((resolve) => (goOn = resolve));
    const method = defineMethod({
      name: 'heights',
      category: 'hidden',
      ...(chainUse === undefined ? {} : { chainUse }),
      summary: 'Answers a height.',
      params: [],
      result: t.int('the height'),
      async run({ services: { chain } }) {
        runs++;
        await later;
        const { height } = chain.chain;
        if (height === 102) throw new Error('not even a block of the branch is there');
        return height;
      },
    });
    return { method, runs: () => runs, goOn: () => goOn() };
  }

  it.each([101 + LENGTH, 102])(
    'is repeated if it began before the reorganisation and continued at height %d',
    async (at) => {
      const { other } = await fork();
      const { method, runs, goOn } = heights('reads');
      chainOf().events.on('blockDisconnected', () => void (chainOf().height === at && goOn()));
      const answer = invokeMethod(method, context(), []);
      await chainOf().preciousBlock(other);
      expect(await answer).toBe(102 + LENGTH);
      expect(runs()).toBe(2);
    },
  );

  it('runs once if its method changes data', async () => {
    const { other } = await fork();
    const { method, runs, goOn } = heights();
    const begun = invokeMethod(method, context(), []);
    const meanwhile: Promise<unknown>[] = [];
    chainOf().events.on('blockDisconnected', () => meanwhile.push(invokeMethod(method, context(), [])));
    await chainOf().preciousBlock(other);
    goOn();
    expect(await Promise.all([begun, ...meanwhile])).toEqual(
      Array.from({ length: 1 + LENGTH }, () => 102 + LENGTH),
    );
    expect(runs()).toBe(1 + LENGTH);
  });

  it('can start a reorganisation', async () => {
    const { other } = await fork();
    const method = METHODS.find(({ name }) => name === 'preciousblock')!;
    const precious = (id: number): Promise<unknown> =>
      invokeMethod(method, context(), [hashToHex(chainOf().index.headers.hash(id))]);
    const active = chainOf().tip;
    let back: Promise<unknown> | null = null;
    chainOf().events.on('blockDisconnected', () => (back ??= precious(active)));
    await precious(other);
    await back;
    expect(chainOf().tip).toBe(active);
  });

  it('ends when its caller disconnects', async () => {
    const { other } = await fork();
    const gone = new AbortController();
    const asked: Promise<unknown>[] = [];
    const ended: string[] = [];
    chainOf().events.on('blockDisconnected', () => {
      const answer = world.chain.call(getBlockCount, [], context(gone.signal));
      asked.push(
        answer.then((value) => {
          ended.push(`call ${chainOf().reorganisation.isWhole}`);
          return value;
        }),
      );
    });
    chainOf().afterStep.push(async () => {
      gone.abort();
      await Promise.all(asked);
      ended.push('reorganisation');
    });
    await chainOf().preciousBlock(other);
    const refused = { error: { code: RPC_ERROR.CLIENT_NOT_CONNECTED, message: 'Shutting down' } };
    expect(await Promise.all(asked)).toEqual([refused, refused, refused]);
    expect(ended).toEqual(['call false', 'call false', 'call false', 'reorganisation']);
  });

  it('fails after a failed reorganisation', async () => {
    const { other } = await fork();
    const asked: Promise<unknown>[] = [];
    const ask = (): Promise<unknown> => invokeMethod(getBlockCount, context(), []).catch(String);
    chainOf().events.on('blockDisconnected', () => asked.push(ask()));
    chainOf().afterStep.push(() => Promise.reject(new Error('no')));
    expect(await chainOf().preciousBlock(other).catch(String)).toContain('no');
    asked.push(ask());
    expect(new Set(await Promise.all(asked))).toEqual(
      new Set(['Error: the node is stopping after an error']),
    );
  });

  it('does not report an intermediate tip after it waited for a block', async () => {
    const { other } = await fork();
    const signal = new AbortController();
    const waiting = invokeMethod(waitForBlockHeight, context(signal.signal), [1000, 0]).catch(String);
    chainOf().afterStep.push(async () => {
      signal.abort();
      expect(await waiting).toContain('Shutting down');
    });
    await chainOf().preciousBlock(other);
  });
});

describe('the declarations', () => {
  it('declare for each method how it uses the chain', () => {
    const acts = METHODS.filter(
      ({ needsWallet, chainUse, follows }) =>
        needsWallet === undefined && chainUse === undefined && follows === undefined,
    );
    // These methods change or start something, wait by themselves, or hold the chain while they read it.
    expect(acts.map(({ name }) => name).sort()).toEqual([
      'dumpsnapshot',
      'generate',
      'generatetoaddress',
      'getblocktemplate',
      'gettxoutsetinfo',
      'invalidateblock',
      'preciousblock',
      'prioritisetransaction',
      'pruneblockchain',
      'reconsiderblock',
      'savemempool',
      'scantxoutset',
      'sendrawtransaction',
      'setmocktime',
      'submitblock',
      'syncwithvalidationinterfacequeue',
      'verifychain',
      'verifysnapshot',
      'waitforblock',
      'waitforblockheight',
      'waitfornewblock',
    ]);
    for (const { name, chainUse, follows } of METHODS)
      if (follows !== undefined) expect(chainUse, name).toBeUndefined();
  });
});
