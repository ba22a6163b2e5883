import { describe, expect, it } from 'vitest';
import { selectEviction, type EvictionCandidate } from '../../../../src/net/peers/eviction.js';

/** Peers that connected one second apart, each in its own group. Nothing protects any of them. */
function crowd(
  count: number,
  changes: (i: number) => Partial<EvictionCandidate> = () => ({}),
): EvictionCandidate[] {
  return Array.from({ length: count }, (_, i) => ({
    id: i,
    connectedAtSec: 1000 + i,
    minPingMs: Infinity,
    lastBlockMs: 0,
    lastTxMs: 0,
    hasDesirableServices: true,
    relaysTransactions: true,
    hasBloomFilter: false,
    keyedGroup: BigInt(i),
    ...changes(i),
  }));
}

describe('eviction', () => {
  it('removes no peer if there are few', () => {
    expect(selectEviction([])).toBe(null);
    expect(selectEviction(crowd(20))).toBe(null);
    expect(selectEviction(crowd(21))).not.toBe(null);
  });

  it('removes the youngest of the largest group', () => {
    // Thirty of the forty peers are in the same group.
    const candidates = crowd(40, (i) => ({ keyedGroup: i < 30 ? 7n : BigInt(100 + i) }));
    const evicted = selectEviction(candidates)!;
    expect(candidates[evicted]!.keyedGroup).toBe(7n);
    const older = selectEviction(candidates.filter(({ id }) => id !== evicted))!;
    expect(older).toBeLessThan(evicted);
  });

  it('protects peers that are near, and those that sent blocks and transactions last', () => {
    const useful = new Set([30, 31, 32, 33]);
    for (const change of [{ minPingMs: 1 }, { lastBlockMs: 5 }, { lastTxMs: 5 }]) {
      let left = crowd(60, (i) => ({ keyedGroup: 7n, ...(useful.has(i) ? change : {}) }));
      for (let evicted = selectEviction(left); evicted !== null; evicted = selectEviction(left)) {
        expect(useful.has(evicted)).toBe(false);
        left = left.filter(({ id }) => id !== evicted);
      }
      expect(left.length).toBeLessThan(25);
    }
  });

  it('protects the half that has been there longest', () => {
    const first = selectEviction(crowd(60, () => ({ keyedGroup: 7n })))!;
    expect(first).toBeGreaterThan(30);
  });
});
