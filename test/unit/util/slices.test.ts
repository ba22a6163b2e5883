import { describe, expect, it } from 'vitest';
import { SLICE_MS } from '../../../src/util/slices.js';
import { decodeHexInSlices } from '../../../src/util/text/hexSlices.js';
import { inSlices } from '../../../src/scheduler/slices.js';
import { AT_ONCE_SIZE, atOnce, sortedInSlices, type Slices } from '../../../src/util/slices.js';
import { countPauses, countTurns } from '../../support/slices.js';

describe('work in slices', () => {
  it('returns its value either way, and yields in between', async () => {
    function* count(to: number): Slices<number> {
      let n = 0;
      for (; n < to; n++) yield;
      return n;
    }
    expect(atOnce(count(10))).toBe(10);
    expect(await inSlices(count(10))).toBe(10);
    // Every second reading of the clock ends a slice.
    const { turns } = await countTurns(() => inSlices(count(20)), SLICE_MS / 2);
    expect(turns).toBeGreaterThanOrEqual(9);
  });

  it('throws the errors of the work', async () => {
    function* fails(): Slices<void> {
      yield;
      throw new RangeError('no');
    }
    expect(() => atOnce(fails())).toThrow(RangeError);
    await expect(inSlices(fails())).rejects.toThrow(RangeError);
  });

  it('sorts as the runtime does, with a pause every few thousand comparisons', () => {
    let seed = 1;
    const next = (): number => (seed = (seed * 48271) % 0x7fffffff);
    for (const length of [0, 1, 2, 4096, 4097, 30_000]) {
      const items = Array.from({ length }, (_, n) => ({ key: next() % 1000, n }));
      const compare = (a: { key: number }, b: { key: number }): number => a.key - b.key;
      const { value, pauses } = countPauses(sortedInSlices(items, compare));
      expect(value).toEqual(items.toSorted(compare));
      expect(pauses).toBeGreaterThanOrEqual(Math.floor(length / 4096));
    }
  });
});

describe('hex in slices', () => {
  it('decodes hex and refuses all else, at any position', () => {
    const text = '0aF9'.repeat(AT_ONCE_SIZE);
    const { value, pauses } = countPauses(decodeHexInSlices(text));
    expect(value?.toString('hex')).toBe(text.toLowerCase());
    expect(pauses).toBe(4);
    for (const bad of ['g', ' ', '\u0130', '\u0661']) {
      for (const at of [0, 1, AT_ONCE_SIZE - 1, AT_ONCE_SIZE, text.length - 1]) {
        expect(atOnce(decodeHexInSlices(text.slice(0, at) + bad + text.slice(at + 1)))).toBeNull();
      }
    }
    expect(atOnce(decodeHexInSlices(text.slice(1)))).toBeNull();
    expect(atOnce(decodeHexInSlices(''))).toEqual(Buffer.alloc(0));
  });
});
