import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyAverages } from '../../../../../src/mempool/fees/confirmStats.js';
import { FeeEstimator } from '../../../../../src/mempool/fees/feeEstimator.js';
import { estimateFee } from '../../../../../src/rpc/methods/util/estimateFee.js';
import { estimateRawFee } from '../../../../../src/rpc/methods/util/estimateRawFee.js';
import { estimateSmartFee } from '../../../../../src/rpc/methods/util/estimateSmartFee.js';
import type { RpcMethod } from '../../../../../src/rpc/declare/method.js';
import type { JsonValue } from '../../../../../src/util/json/json.js';
import { TestChain, type Answer } from '../../../../support/testChain.js';

describe('the methods that estimate fees', () => {
  let chain: TestChain;
  let fees: FeeEstimator;
  beforeAll(async () => {
    chain = await TestChain.open();
    fees = new FeeEstimator();
    // In a hundred blocks, each block confirms the transaction that arrived with the previous one. One transaction is never
    // confirmed.
    const observed = (
      height: number,
    ): { height: number; feeSat: bigint; sizeBytes: number; feeBucket: number } => ({
      height,
      feeSat: 1234n,
      sizeBytes: 100,
      feeBucket: -1,
    });
    let waiting: ReturnType<typeof observed>[] = [];
    for (let height = 1; height <= 100; height++) {
      fees.connected(height, waiting);
      waiting = [observed(height)];
      fees.entered(waiting[0]!, true);
    }
    fees.connected(101, []);
  });
  afterAll(() => chain.close());

  const call = (method: RpcMethod, params: JsonValue[], estimator = fees): Promise<Answer> =>
    chain.call(method, params, {
      ...chain.context(),
      services: { ...chain.services, fees: estimator },
    });

  it('return an estimate and its target', async () => {
    for (const mode of [[], ['UNSET'], ['CONSERVATIVE'], ['ECONOMICAL']]) {
      expect(await call(estimateSmartFee, [6, ...mode])).toEqual({
        result: { feerate: 0.0001234, blocks: 6 },
      });
    }
    expect(await call(estimateSmartFee, [1])).toMatchObject({ result: { blocks: 2 } });
    expect(await call(estimateSmartFee, [1008])).toMatchObject({ result: { blocks: 49 } });
  });

  it('report a missing estimate', async () => {
    expect(await call(estimateSmartFee, [6], new FeeEstimator())).toEqual({
      result: { errors: ['Insufficient data or no feerate found'], blocks: 0 },
    });
    const none = {
      decay: 0.99931,
      scale: 24,
      fail: {
        startrange: 0,
        endrange: 1e99,
        withintarget: 0,
        totalconfirmed: 0,
        inmempool: 0,
        leftmempool: 0,
      },
      errors: ['Insufficient data or no feerate found which meets threshold'],
    };
    expect(await call(estimateRawFee, [100], new FeeEstimator())).toEqual({ result: { long: none } });
  });

  it('return each horizon that tracks the target', async () => {
    const { result } = await call(estimateRawFee, [1, 0.5]);
    const { short } = result as { short: { pass: object } };
    expect(Object.keys(result as object)).toEqual(['short', 'medium', 'long']);
    expect(short).toEqual({
      feerate: 0.0001234,
      decay: 0.962,
      scale: 1,
      pass: {
        startrange: 12_041,
        endrange: 1e99,
        withintarget: 24.77,
        totalconfirmed: 24.77,
        inmempool: 1,
        leftmempool: 0,
      },
      fail: {
        startrange: 0,
        endrange: 12_041,
        withintarget: 0,
        totalconfirmed: 0,
        inmempool: 0,
        leftmempool: 0,
      },
    });
    expect(Object.keys((await call(estimateRawFee, [13])).result as object)).toEqual(['medium', 'long']);
    expect((await call(estimateRawFee, [1, 1])).result).toMatchObject({
      short: { errors: ['Insufficient data or no feerate found which meets threshold'] },
    });
  });

  it('refuse arguments as the reference does', async () => {
    const outside = 'Invalid conf_target, must be between 1 - 1008';
    for (const method of [estimateSmartFee, estimateRawFee]) {
      for (const target of [0, 1009, -1]) {
        expect(await call(method, [target])).toEqual({ error: { code: -8, message: outside } });
      }
      expect(await call(method, ['6'])).toEqual({
        error: { code: -3, message: 'Expected type number, got string' },
      });
    }
    expect(await call(estimateSmartFee, [6, 'economical'])).toEqual({
      error: { code: -8, message: 'Invalid estimate_mode parameter' },
    });
    expect(await call(estimateSmartFee, [6, null])).toEqual({
      error: { code: -3, message: 'Expected type string, got null' },
    });
    for (const threshold of [-0.1, 1.1]) {
      expect(await call(estimateRawFee, [6, threshold])).toEqual({
        error: { code: -8, message: 'Invalid threshold' },
      });
    }
    expect(await call(estimateRawFee, [6, null])).toHaveProperty('result');
    for (const params of [[], [6], [6, 7]]) {
      expect(await call(estimateFee, params)).toEqual({
        error: {
          code: -32,
          message: 'estimatefee was removed in v0.17.\nClients should use estimatesmartfee.',
        },
      });
    }
  });

  it('have the highest tracked target as maximum', async () => {
    const buckets = Float64Array.of(1000, 1e99);
    const shape = { decay: 0.9, scale: 2, periods: 3 };
    const averages = emptyAverages(2, shape);
    const small = new FeeEstimator({
      bestHeight: 9,
      firstHeight: 1,
      lastHeight: 9,
      buckets,
      averages: { short: averages, medium: averages, long: averages },
    });
    expect(await call(estimateSmartFee, [7], small)).toEqual({
      error: { code: -8, message: 'Invalid conf_target, must be between 1 - 6' },
    });
  });
});
