import { describe, expect, it } from 'vitest';
import { RecordWriter } from '../../../../src/store/rows/rowRecords.js';
import { RowIndex } from '../../../../src/wallet/store/rowIndex.js';

/** Size of the lengths before a key and a value in records. */
const HEAD_BYTES = 8;

describe('the index of rows', () => {
  let seed = 1;
  const below = (n: number): number => (seed = (seed * 48271) % 0x7fffffff) % n;

  function put(index: RowIndex, key: string, value: Buffer, offset: number): void {
    const writer = new RecordWriter();
    writer.add(key, value);
    const records = writer.take();
    const valueStart = HEAD_BYTES + key.length;
    index.set(records, HEAD_BYTES, valueStart, valueStart + value.length, offset);
  }

  it('finds the same as a map, while rows are added, removed and added again', () => {
    const index = new RowIndex();
    const model = new Map<string, { offset: number; sizeBytes: number }>();
    const keyOf = (n: number): string => `${'ab'[n % 2]!}${n}${'x'.repeat(n % 41)}`;
    const wrong: string[] = [];
    for (let step = 0; step < 60_000; step++) {
      // Phases of mostly new keys alternate with phases of mostly deletions.
      const isGrowing = Math.floor(step / 12_000) % 2 === 0;
      const key = keyOf(below(20_000));
      if (below(10) < (isGrowing ? 8 : 2)) {
        const value = Buffer.alloc(below(30), step);
        put(index, key, value, step + 1);
        model.set(key, { offset: step + 1, sizeBytes: value.length });
      } else {
        index.delete(Buffer.from(key, 'latin1'));
        model.delete(key);
      }
      const asked = keyOf(below(20_000));
      const at = index.find(asked);
      const known = model.get(asked);
      const found = at < 0 ? undefined : index.place(at);
      if (found?.offset !== known?.offset || found?.sizeBytes !== known?.sizeBytes) wrong.push(asked);
    }
    expect(wrong).toEqual([]);
    expect(index.isEmpty).toBe(model.size === 0);
    expect([...index.entries()].map(([key]) => key).sort()).toEqual([...model.keys()].sort());
    expect(index.keys('b').sort()).toEqual([...model.keys()].filter((key) => key.startsWith('b')).sort());
    const places = [...index.inFileOrder('a', false)].map((at) => [index.keyAt(at), index.place(at).offset]);
    const expected = [...model]
      .filter(([key]) => key.startsWith('a'))
      .sort(([, a], [, b]) => a.offset - b.offset)
      .map(([key, { offset }]) => [key, offset]);
    expect(places).toEqual(expected);
    const bytes = [...model].reduce(
      (sum, [key, { sizeBytes }]) => sum + HEAD_BYTES + key.length + sizeBytes,
      0,
    );
    expect(index.liveBytes).toBe(bytes);
  });

  it('keeps the order in which keys were first added, and keys longer than a page', () => {
    const index = new RowIndex();
    const keys = ['short', 'l'.repeat(3 << 20), 'after', 'm'.repeat((1 << 20) - 3), 'last'];
    for (const [n, key] of keys.entries()) put(index, key, Buffer.of(n), n);
    put(index, 'short', Buffer.of(9), 9);
    expect([...index.entries()].map(([key]) => key)).toEqual(keys);
    expect(keys.map((key) => index.place(index.find(key)).offset)).toEqual([9, 1, 2, 3, 4]);
  });

  it('is empty after all rows are removed, and accepts rows again', () => {
    const index = new RowIndex();
    for (let n = 0; n < 5000; n++) put(index, `k${n}`, Buffer.of(1), n + 1);
    for (let n = 0; n < 5000; n++) index.delete(Buffer.from(`k${n}`));
    expect([index.isEmpty, index.liveBytes, index.has('k7')]).toEqual([true, 0, false]);
    for (let n = 0; n < 5000; n++) put(index, `k${n}`, Buffer.of(1), n + 1);
    expect([...index.entries()]).toHaveLength(5000);
  });
});
