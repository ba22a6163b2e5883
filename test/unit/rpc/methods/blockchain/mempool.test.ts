import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MempoolEntry } from '../../../../../src/mempool/mempoolReader.js';
import { invokeMethod } from '../../../../../src/rpc/call/callMethod.js';
import { getMempoolAncestors } from '../../../../../src/rpc/methods/blockchain/mempool/getMempoolAncestors.js';
import { getMempoolDescendants } from '../../../../../src/rpc/methods/blockchain/mempool/getMempoolDescendants.js';
import { getMempoolEntry } from '../../../../../src/rpc/methods/blockchain/mempool/getMempoolEntry.js';
import { getMempoolInfo } from '../../../../../src/rpc/methods/blockchain/mempool/getMempoolInfo.js';
import { getRawMempool } from '../../../../../src/rpc/methods/blockchain/mempool/getRawMempool.js';
import { saveMempool } from '../../../../../src/rpc/methods/blockchain/mempool/saveMempool.js';
import { hashToHex, toHex } from '../../../../../src/util/bytes.js';
import type { Slices } from '../../../../../src/util/slices.js';
import { TestChain } from '../../../../support/testChain.js';

const parentId = Buffer.alloc(32, 1);
const childId = Buffer.alloc(32, 2);
function* bothIds(): Slices<Buffer[]> {
  yield;
  return [parentId, childId];
}

const parent: MempoolEntry = {
  txid: parentId,
  wtxid: Buffer.alloc(32, 3),
  sizeBytes: 100,
  weight: 400,
  feeSat: 150n,
  modifiedFeeSat: 151n,
  entryTimeSec: 1_600_000_001,
  entryHeight: 7,
  descendantCount: 2,
  descendantSizeBytes: 300,
  descendantFeesSat: 401n,
  ancestorCount: 1,
  ancestorSizeBytes: 100,
  ancestorFeesSat: 151n,
  parents: [],
  children: [childId],
};
const child: MempoolEntry = { ...parent, txid: childId, parents: [parentId], children: [] };

describe('the mempool methods', () => {
  let chain: TestChain;
  beforeAll(async () => {
    chain = await TestChain.open();
  });
  afterAll(() => chain.close());

  it('answer for a mempool without transactions', async () => {
    expect(await chain.call(getMempoolInfo)).toEqual({
      result: {
        size: 0,
        bytes: 0,
        usage: 0,
        maxmempool: 300_000_000,
        mempoolminfee: 0.00001,
        minrelaytxfee: 0.00001,
        total_fee: 0,
        unbroadcastcount: 0,
      },
    });
    const { result } = await chain.call(getMempoolInfo, [], chain.context('lbrycrd'));
    expect(result).not.toHaveProperty('total_fee');
    expect(result).not.toHaveProperty('unbroadcastcount');
    for (const verbose of [false, 0])
      expect(await chain.call(getRawMempool, [verbose])).toEqual({ result: [] });
    for (const verbose of [true, 1])
      expect(await chain.call(getRawMempool, [verbose])).toEqual({ result: {} });
    for (const method of [getMempoolEntry, getMempoolAncestors, getMempoolDescendants]) {
      expect(await chain.call(method, [toHex(parentId)])).toEqual({
        error: { code: -5, message: 'Transaction not in mempool' },
      });
      expect(await chain.call(method, ['00'])).toEqual({
        error: { code: -8, message: 'parameter 1 must be of length 64 (not 2)' },
      });
    }
  });

  it('list the mempool in parts, and omit transactions that leave it meanwhile', async () => {
    let described = 0;
    const entry = (txid: Uint8Array): MempoolEntry | null => {
      described++;
      return described > 1 ? null : { ...parent, txid: Buffer.from(txid) };
    };
    const mempool = { ...chain.services.mempool, txidsInSlices: bothIds, entry };
    const context = { ...chain.context(), services: { ...chain.services, mempool } };
    await invokeMethod(getRawMempool, context, [true]);
    expect(described).toBe(0);
    const { result } = await chain.call(getRawMempool, [true], context);
    expect(Object.keys(result as object)).toEqual([hashToHex(parentId)]);
    expect(described).toBe(2);
  });

  it('save the mempool', async () => {
    let saves = 0;
    const mempool = { ...chain.services.mempool, save: () => Promise.resolve(void saves++) };
    const context = { ...chain.context(), services: { ...chain.services, mempool } };
    expect(await chain.call(saveMempool, [], context)).toEqual({ result: null });
    expect(saves).toBe(1);
  });

  it('refuse to save before the stored mempool is loaded, and report a failure of the disk', async () => {
    const fail = (part: object): ReturnType<TestChain['call']> => {
      const mempool = { ...chain.services.mempool, ...part };
      return chain.call(saveMempool, [], { ...chain.context(), services: { ...chain.services, mempool } });
    };
    expect(await fail({ isLoaded: false })).toEqual({
      error: { code: -1, message: 'The mempool was not loaded yet' },
    });
    expect(await fail({ save: () => Promise.reject(new Error('disk')) })).toEqual({
      error: { code: -1, message: 'Unable to dump mempool to disk' },
    });
  });

  it('show entries, ancestors and descendants', async () => {
    const entries = new Map([parent, child].map((entry) => [toHex(entry.txid), entry]));
    const mempool = {
      ...chain.services.mempool,
      txidsInSlices: bothIds,
      entry: (txid: Uint8Array) => entries.get(toHex(txid)) ?? null,
      ancestors: () => [parent],
      descendants: () => [child],
    };
    const context = { ...chain.context(), services: { ...chain.services, mempool } };
    const shown = {
      fees: { base: 0.0000015, modified: 0.00000151, ancestor: 0.00000151, descendant: 0.00000401 },
      size: 100,
      fee: 0.0000015,
      modifiedfee: 0.00000151,
      time: 1_600_000_001,
      height: 7,
      descendantcount: 2,
      descendantsize: 300,
      descendantfees: 401,
      ancestorcount: 1,
      ancestorsize: 100,
      ancestorfees: 151,
      wtxid: hashToHex(parent.wtxid),
      depends: [],
      spentby: [hashToHex(childId)],
    };
    const ids = [hashToHex(parentId), hashToHex(childId)] as const;
    expect(await chain.call(getMempoolEntry, [ids[0]], context)).toEqual({ result: shown });
    expect(await chain.call(getRawMempool, [], context)).toEqual({ result: ids });
    const verbose = (await chain.call(getRawMempool, [true], context)).result as Record<string, object>;
    expect(Object.keys(verbose)).toEqual(ids);
    expect(verbose[ids[1]]).toEqual({ ...shown, depends: [ids[0]], spentby: [] });
    expect(await chain.call(getMempoolAncestors, [ids[1]], context)).toEqual({ result: [ids[0]] });
    expect(await chain.call(getMempoolDescendants, [ids[0], true], context)).toEqual({
      result: { [ids[1]]: verbose[ids[1]] },
    });
  });
});
