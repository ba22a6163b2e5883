/** The state of one name: order of claims, sums of supports, counters. */
import { describe, expect, it, vi } from 'vitest';
import { claimIdAtPoint, pointIndex, pointKey, pointTxid, type Item } from '../../../src/claimtrie/item.js';
import {
  ActiveClaim,
  addActiveClaim,
  addActiveItems,
  addSupport,
  compareClaims,
  countActiveSupports,
  countPending,
  emptyNameState,
  findClaim,
  isBlank,
  removeActiveClaim,
  removeActiveClaims,
} from '../../../src/claimtrie/nameState.js';
import { normalizeKey } from '../../../src/claimtrie/nameKey.js';
import { claimIdOf } from '../../../src/script/claimScript.js';
import { ClaimCorruptionError } from '../../../src/claimtrie/corruption.js';
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

  it('keeps the supports of a removed claim, and assigns them to the next claim with its id', () => {
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
    expect(() => addSupport(state, update.claimId, -1n)).toThrow(ClaimCorruptionError);
    expect(() => removeActiveClaim(state, update.point)).toThrow(ClaimCorruptionError);
  });

  it('is the same if many items are added and removed together', () => {
    const claims = Array.from({ length: 200 }, (_, n) =>
      item(n % 7, BigInt((n * 7919) % 50), n % 3, 'claim', n),
    );
    const supports = claims
      .filter((_, n) => n % 5 === 0)
      .map(({ claimId }, n) => ({ ...item(99, BigInt(n), 4, 'support', n), claimId }));
    const [one, together] = [emptyNameState(), emptyNameState()];
    for (const some of [claims.slice(0, 150), claims.slice(150, 153), claims.slice(153)]) {
      for (const claim of some) addActiveClaim(one, claim);
      addActiveItems(together, some);
    }
    for (const { claimId, amount } of supports) addSupport(one, claimId, amount);
    addActiveItems(together, supports);
    const leaving = claims.filter((_, n) => n % 3 === 0);
    for (const some of [leaving.slice(0, 3), leaving.slice(3)]) {
      for (const { point } of some) removeActiveClaim(one, point);
      removeActiveClaims(together, some);
    }
    const shown = ({ claims: left, dangling }: typeof one) => [
      left.map(({ claimId, effective }) => [claimId, effective]),
      [...dangling].sort(),
    ];
    expect(shown(together)).toEqual(shown(one));
    expect(findClaim(together, claims[1]!.point)).toBe(
      together.claims.find(({ point }) => point === claims[1]!.point),
    );
    expect(findClaim(together, claims[0]!.point)).toBeUndefined();
    // Supports of a removed claim count for the next claim with the same id.
    addActiveItems(together, leaving);
    for (const claim of leaving) addActiveClaim(one, claim);
    expect(shown(together)).toEqual(shown(one));
    expect(() => removeActiveClaims(together, [...claims, item(98, 1n, 1)])).toThrow(ClaimCorruptionError);
  });

  it('counts pending and active items', () => {
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
    expect(() => countPending(state, 40, -1)).toThrow(ClaimCorruptionError);
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

describe('a name with very many claims', () => {
  const manyItem = (i: number, amount: bigint): Item => {
    const txid = Buffer.alloc(32);
    txid.writeUInt32BE(Math.imul(i, 2654435761) >>> 0);
    const id = `id ${i}`.padEnd(20, '.');
    return { ...item(0, amount, 1 + (i % 50), 'update'), point: pointKey(txid, i % 3), claimId: id };
  };

  it('keeps order and sums through every change', () => {
    const state = emptyNameState();
    const items = Array.from({ length: 300 }, (_, i) => manyItem(i, BigInt(10 + ((i * 7) % 40))));
    const support = new Map<string, bigint>();
    const present = new Set<Item>();
    for (let step = 0; step < 4000; step++) {
      const chosen = items[(step * 7919) % items.length]!;
      const action = (step * 31) % 7;
      if (action < 2 && present.has(chosen)) {
        expect(removeActiveClaim(state, chosen.point).claimId).toBe(chosen.claimId);
        present.delete(chosen);
      } else if (action < 4 && !present.has(chosen)) {
        addActiveClaim(state, chosen);
        present.add(chosen);
      } else {
        const given = support.get(chosen.claimId) ?? 0n;
        const change = given > 30n ? -given : BigInt(1 + (step % 13));
        const before = state.claims.map(({ point }) => point);
        const moved = addSupport(state, chosen.claimId, change);
        expect(moved).toBe(state.claims.some(({ point }, i) => point !== before[i]));
        support.set(chosen.claimId, given + change);
      }
      if (step % 100 !== 0) continue;
      expect(state.claims).toEqual([...state.claims].sort(compareClaims));
      const effective = (claim: Item): bigint => claim.amount + (support.get(claim.claimId) ?? 0n);
      expect(new Map(state.claims.map((claim) => [claim.point, claim.effective]))).toEqual(
        new Map([...present].map((claim) => [claim.point, effective(claim)])),
      );
      for (const claim of items) expect(findClaim(state, claim.point) !== undefined).toBe(present.has(claim));
      const dangling = items.filter(
        (claim) => !present.has(claim) && (support.get(claim.claimId) ?? 0n) > 0n,
      );
      expect(new Map(state.dangling)).toEqual(
        new Map(dangling.map(({ claimId }) => [claimId, support.get(claimId)!])),
      );
    }
    expect(state.claims.length).toBeGreaterThan(32);
  });

  it('is not traversed for each of its supports', () => {
    const CLAIMS = 20_000;
    const CHANGES = 2000;
    const state = emptyNameState();
    const items = Array.from({ length: CLAIMS }, (_, i) => manyItem(i, BigInt(i * 3)));
    for (const claim of items) addActiveClaim(state, claim);
    state.index = null;
    const asked = vi.spyOn(ActiveClaim.prototype, 'claimId', 'get');
    try {
      for (let i = 0; i < CHANGES; i++) addSupport(state, items[(i * 7919) % CLAIMS]!.claimId, 1n);
      for (let i = 0; i < CHANGES; i++) addSupport(state, `none ${i % 5}`.padEnd(20), 1n);
      expect(asked.mock.calls.length).toBeGreaterThan(0);
      expect(asked.mock.calls.length).toBeLessThan(4 * (CLAIMS + CHANGES));
    } finally {
      asked.mockRestore();
    }
  });
});

describe('normalized keys', () => {
  it('use a fast path for ASCII and the complete algorithm otherwise', () => {
    const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
    expect(normalizeKey('already lower-case_1')).toBe('already lower-case_1');
    expect(normalizeKey('UPPER Case')).toBe('upper case');
    expect(normalizeKey('\0A[`{')).toBe('\0a[`{');
    expect(normalizeKey(latin1('Straße'))).toBe(latin1('strasse'));
    expect(normalizeKey(latin1('É'))).toBe(latin1('e\u0301'));
    expect(normalizeKey('\xffA')).toBe('\xffA');
  });
});
