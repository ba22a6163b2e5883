/** Compares orders with those of GCC's `std::sort` for the same keys. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { standardPlace, standardSort } from '../../../src/util/standardSort.js';

function keysOf(length: number, kinds: number, seed: number): number[] {
  let state = seed;
  const next = (): number => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 8;
  return Array.from({ length }, () => next() % kinds);
}

/** The worst case for the median of three, so that `std::sort` switches to heapsort. */
function worstKeys(length: number): number[] {
  const keys = Array<number>(length).fill(0);
  for (let i = 1; i <= length / 2; i++) {
    if (i % 2 === 1) {
      keys[i - 1] = i;
      keys[i] = length / 2 + i;
    }
    keys[length / 2 + i - 1] = 2 * i;
  }
  return keys.map((key) => key >> 3);
}

/** The previous position of each element. */
const sorted = (keys: readonly number[]): string =>
  standardSort(
    keys.map((key, at) => ({ key, at })),
    (a, b) => a.key < b.key,
  )
    .map(({ at }) => at)
    .join(' ');
const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

describe('the standard sort', () => {
  it('is stable up to 16 elements', () => {
    expect(sorted(keysOf(16, 3, 1))).toBe('0 1 10 12 13 15 4 5 6 2 3 7 8 9 11 14');
    expect([sorted([]), sorted([1]), sorted([2, 1])]).toEqual(['', '0', '1 0']);
  });

  it('orders equal elements of longer lists as the reference does', () => {
    expect(sorted(keysOf(17, 3, 2))).toBe('15 14 10 5 9 7 8 1 11 3 0 6 4 12 13 2 16');
    expect(sorted(keysOf(40, 5, 3))).toBe(
      '29 20 19 18 16 25 11 9 34 38 8 7 31 14 5 22 3 36 1 28 27 4 6 30 39 37 2 33 32 10 26 17 21 12 13 15 35 24 23 0',
    );
    expect(digest(sorted(keysOf(200, 7, 4)))).toBe('7a913f76856a4ec9');
    expect(digest(sorted(keysOf(1000, 9, 5)))).toBe('660e94c96b14f214');
    expect(digest(sorted(worstKeys(1000)))).toBe('702f40ee02eaa06b');
  });

  it('inserts one element at the position of a full sort', () => {
    const lists = [[1], [2, 1], keysOf(16, 3, 1), keysOf(17, 3, 2), worstKeys(300)];
    for (const [length, kinds, seed] of [
      [40, 5, 3],
      [200, 7, 4],
      [200, 1, 5],
      [300, 300, 6],
    ] as const)
      lists.push(keysOf(length, kinds, seed));
    for (const keys of lists) {
      const numbers = Float64Array.from(keys);
      const order = sorted(keys).split(' ').map(Number);
      expect(keys.map((_, at) => standardPlace(numbers, at))).toEqual(keys.map((_, at) => order.indexOf(at)));
    }
  });
});
