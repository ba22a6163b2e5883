/** The state of one name: order of claims, sums of supports, counters. */
import { describe, expect, it } from 'vitest';
import { claimIdAtPoint, pointIndex, pointKey, pointTxid, type Item } from '../../../src/claimtrie/item.js';
import {
  addActiveClaim,
  addSupport,
  countActiveSupports,
  countPending,
  emptyNameState,
  isBlank,
  removeActiveClaim,
} from '../../../src/claimtrie/nameState.js';
import { normalizeKey } from '../../../src/claimtrie/nameKey.js';
import { claimIdOf } from '../../../src/script/claimScript.js';
import { AssertionError } from '../../../src/util/assert.js';
import { toLatin1 } from '../../../src/util/bytes.js';

function item(txByte: number, amount: bigint, height: number, kind: Item['kind'] = 'claim', n = 0): Item {
  const point = pointKey(Buffer.alloc(32, txByte), n);
  return {
    name: 'x',
    since: height,
    point,
    kind,
    claimId: kind === 'claim' ? claimIdAtPoint(point) : 'i'.repeat(20),
    amount,
    height,
    txOffset: 0,
    dueHeight: height,
    activated: height,
    removed: 0,
    removal: 0,
    rawName: 'x',
    ordinal: 0,
    isNew: false,
  };
}

describe('state of a name', () => {
  it('orders claims by effective amount, then height, then outpoint', () => {
    const state = emptyNameState();
    const claims = [
      item(9, 10n, 5),
      item(8, 10n, 4),
      item(7, 11n, 9),
      item(3, 10n, 5, 'claim', 2),
      item(3, 10n, 5, 'claim', 256),
    ];
    for (const claim of claims) addActiveClaim(state, claim);
    const order = (): number[] =>
      state.claims.map((claim) => claims.findIndex(({ point }) => point === claim.point));
    expect(order()).toEqual([2, 1, 3, 4, 0]);
    expect(addSupport(state, claims[0]!.claimId, 5n)).toBe(true);
    expect(order()).toEqual([0, 2, 1, 3, 4]);
    expect(addSupport(state, claims[0]!.claimId, 5n)).toBe(false);
    expect(addSupport(state, claims[4]!.claimId, 0n)).toBe(false);
  });

  it('keeps the supports of a claim that is gone, and gives them to the next one with its id', () => {
    const state = emptyNameState();
    const update = item(1, 10n, 5, 'update');
    addSupport(state, update.claimId, 7n);
    addSupport(state, update.claimId, 2n ** 60n);
    addActiveClaim(state, update);
    expect(state.claims[0]!.effective).toBe(17n + 2n ** 60n);
    expect(state.dangling.size).toBe(0);
    removeActiveClaim(state, update.point);
    expect(state.dangling.get(update.claimId)).toBe(7n + 2n ** 60n);
    addSupport(state, update.claimId, -(7n + 2n ** 60n));
    expect(state.dangling.size).toBe(0);
    expect(() => addSupport(state, update.claimId, -1n)).toThrow(AssertionError);
    expect(() => removeActiveClaim(state, update.point)).toThrow(AssertionError);
  });

  it('counts what is pending and what is not', () => {
    const state = emptyNameState();
    expect(isBlank(state)).toBe(true);
    state.alive = 4;
    addActiveClaim(state, item(1, 1n, 1));
    countPending(state, 40, 1);
    countPending(state, 40, 1);
    expect(countActiveSupports(state)).toBe(1);
    countPending(state, 40, -1);
    countPending(state, 40, -1);
    expect(state.pending.size).toBe(0);
    expect(() => countPending(state, 40, -1)).toThrow(AssertionError);
    expect(isBlank(state)).toBe(false);
  });

  it('derives claim ids from outpoints as scripts do', () => {
    const txid = Buffer.from('0123456789abcdef'.repeat(4), 'hex');
    for (const n of [0, 1, 255, 256, 0xfffffffe]) {
      const point = pointKey(txid, n);
      expect(pointTxid(point)).toEqual(txid);
      expect(pointIndex(point)).toBe(n);
      expect(claimIdAtPoint(point)).toBe(toLatin1(claimIdOf(txid, n)));
    }
  });
});

describe('normalized keys', () => {
  it('take the short way for ASCII and the whole one beyond it', () => {
    const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
    expect(normalizeKey('already lower-case_1')).toBe('already lower-case_1');
    expect(normalizeKey('UPPER Case')).toBe('upper case');
    expect(normalizeKey('\0A[`{')).toBe('\0a[`{');
    expect(normalizeKey(latin1('Straße'))).toBe(latin1('strasse'));
    expect(normalizeKey(latin1('É'))).toBe(latin1('e\u0301'));
    expect(normalizeKey('\xffA')).toBe('\xffA');
  });
});
