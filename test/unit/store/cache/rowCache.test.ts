/** Rows that remain in memory after a flush: they are never stale, they stay within the limit, and the useful ones are kept. */
import { describe, expect, it } from 'vitest';
import { loadNative, type NativeCachedRows } from '../../../../src/native/binding.js';
import type { RowCache } from '../../../../src/store/cache/memtable.js';
import { NativeRowCache } from '../../../../src/store/cache/nativeMemtable.js';
import { RowCaches, RowCacheFallback } from '../../../../src/store/cache/rowCache.js';
import { RecordWriter } from '../../../../src/store/rows/rowRecords.js';
import { Random } from '../../../differential/support.js';

const MAX_BYTES = 64 << 10;
const native = loadNative();
const caches: [string, () => RowCache][] = [['fallback', () => new RowCacheFallback(MAX_BYTES)]];
if (native) caches.push(['native', () => new NativeRowCache(new native.RowCache(MAX_BYTES))]);

/** The value of a key in a cache of the addon; null if the key is unknown or deleted. */
function valueOf(rows: NativeCachedRows, key: string): Buffer | null {
  const target = Buffer.alloc(64 << 10);
  const length = rows.read(key, target, 0);
  return length < 0 ? null : target.subarray(0, length);
}

describe.each(caches)('a cache of rows: %s', (_, make) => {
  it('returns the value set last or nothing, within its size limit', () => {
    const random = new Random(5);
    const cache = make();
    const model = new Map<string, Buffer | null>();
    let known = 0;
    let forgotten = 0;
    for (let step = 0; step < 60_000; step++) {
      const key = 't' + random.bytes(1 + random.below(2)).toString('latin1');
      if (random.chance(3)) {
        const length = random.chance(200) ? 3000 + random.below(9000) : random.below(150);
        const value = random.chance(8) ? null : random.bytes(length);
        if (random.chance(2)) cache.set(key, value);
        else {
          const records = new RecordWriter();
          records.add('u' + key, Buffer.alloc(3));
          records.add(key, value);
          records.add('', null);
          cache.setRecords('t', records.take());
        }
        model.set(key, value);
        expect(cache.sizeBytes).toBeLessThanOrEqual(MAX_BYTES + 13_000);
        continue;
      }
      const row = cache.get(key);
      if (row === undefined) {
        if (model.has(key)) forgotten++;
        continue;
      }
      known++;
      expect(model.has(key)).toBe(true);
      const value = model.get(key)!;
      expect(row === null ? null : Buffer.from(row).equals(value)).toBe(row === null ? value : true);
    }
    expect(known).toBeGreaterThan(1000);
    expect(forgotten).toBeGreaterThan(1000);
    cache.clear();
    expect(cache.sizeBytes).toBe(0);
    expect([...model.keys()].every((key) => cache.get(key) === undefined)).toBe(true);
  });

  it('drops a row that exceeds the size limit', () => {
    const cache = make();
    cache.set('t1', Buffer.alloc(100, 1));
    cache.set('t1', Buffer.alloc(2 * MAX_BYTES, 2));
    const row = cache.get('t1');
    expect(row === undefined || (row !== null && row.length === 2 * MAX_BYTES)).toBe(true);
    cache.set('t1', Buffer.alloc(100, 3));
    expect(cache.get('t1')).toEqual(Buffer.alloc(100, 3));
  });

  it('evicts rows when its size limit becomes smaller, and holds more rows when it becomes larger', () => {
    const cache = make();
    const fill = (): void => {
      for (let i = 0; i < 4000; i++) cache.set(`t${i}`, Buffer.alloc(100, i));
    };
    fill();
    expect(cache.sizeBytes).toBeGreaterThan(MAX_BYTES / 3);
    cache.resize(MAX_BYTES / 8);
    expect(cache.sizeBytes).toBeLessThanOrEqual(MAX_BYTES / 8);
    fill();
    expect(cache.sizeBytes).toBeLessThanOrEqual(MAX_BYTES / 8 + 200);
    cache.resize(4 * MAX_BYTES);
    fill();
    expect(cache.sizeBytes).toBeGreaterThan(2 * MAX_BYTES * 0.9);
    expect(cache.sizeBytes).toBeLessThanOrEqual(4 * MAX_BYTES + 200);
  });

  it('frees memory after keys of any length and bytes', () => {
    const cache = make();
    const keys = [300, 319, 320, 321, 3000].map((length) => 't\0\xff'.padEnd(length, '\x80'));
    keys.push('t', 't\0');
    keys.forEach((key, i) => cache.set(key, Buffer.alloc(i, i)));
    keys.forEach((key, i) => expect(cache.get(key)).toEqual(Buffer.alloc(i, i)));
  });
});

describe.skipIf(!native)('a native cache', () => {
  it('keeps rows that are read now and then, however many are set', () => {
    const cache = caches[1]![1]();
    for (let i = 0; i < 50; i++) cache.set(`hot${i}`, Buffer.alloc(100, i));
    for (let i = 0; i < 20_000; i++) {
      cache.set(`cold${i}`, Buffer.alloc(100, i));
      if (i % 100 === 0) for (let hot = 0; hot < 50; hot++) cache.get(`hot${hot}`);
    }
    for (let i = 0; i < 50; i++) expect(cache.get(`hot${i}`)).toEqual(Buffer.alloc(100, i));
    expect(cache.get('cold0')).toBeUndefined();
  });

  it('has space for growing rows, and frees their former space', () => {
    const cache = caches[1]![1]();
    const random = new Random(9);
    // The rows take about a quarter of the limit at most, so that each fits in its bucket.
    const lengths = new Map(Array.from({ length: 100 }, (_, i) => [`t${i}`, 20]));
    for (let step = 0; step < 40_000; step++) {
      const key = `t${random.below(100)}`;
      const length = Math.min(140, lengths.get(key)! + random.below(30));
      lengths.set(key, length);
      cache.set(key, Buffer.alloc(length, length));
      if (length === 140 && random.chance(5)) {
        cache.set(key, Buffer.alloc(10, 10));
        lengths.set(key, 10);
      }
      expect(cache.sizeBytes).toBeLessThanOrEqual(MAX_BYTES);
    }
    for (const [key, length] of lengths) expect(cache.get(key)).toEqual(Buffer.alloc(length, length));
  });

  it('refuses bytes that are not records', () => {
    const rows = new native!.RowCache(MAX_BYTES);
    const records = new RecordWriter();
    records.add('t1', Buffer.alloc(100));
    const whole = records.take();
    for (let size = 1; size < whole.length; size++)
      expect(() => rows.setRecords(0x74, whole.subarray(0, size))).toThrow('malformed row records');
    expect(rows.count).toBe(0);
    rows.setRecords(0x74, whole);
    rows.setRecords(0x75, whole);
    expect(rows.count).toBe(1);
  });

  it('grows with its rows, and uses its limit for keys and values alone', () => {
    const limit = 2 << 20;
    const rows = new native!.RowCache(limit);
    const key = (i: number): string => `t1key${String(i).padStart(9, '0')}`;
    const bytes = 14 + 100;
    let set = 0;
    for (const share of [0.01, 0.1, 0.4]) {
      for (; set * bytes < share * limit; set++) rows.set(key(set), Buffer.alloc(100, set));
      expect(rows.sizeBytes).toBeLessThan(3 * share * limit + (1 << 20));
      expect(rows.count).toBeGreaterThan(0.98 * set);
      for (let i = 0; i < set; i += 7) {
        const value = valueOf(rows, key(i));
        if (value) expect(value).toEqual(Buffer.alloc(100, i));
      }
    }
    for (; set * bytes < 3 * limit; set++) rows.set(key(set), Buffer.alloc(100, set));
    expect(rows.sizeBytes).toBeLessThanOrEqual(limit);
    expect(rows.count * bytes).toBeGreaterThan(0.85 * limit);
    expect(valueOf(rows, key(0))).toBeNull();
    expect(valueOf(rows, key(set - 1))).toEqual(Buffer.alloc(100, set - 1));
    const before = rows.count;
    rows.resize(limit * 2);
    expect(rows.count).toBeGreaterThan(0.99 * before);
    rows.resize(limit / 4);
    expect(rows.sizeBytes).toBeLessThanOrEqual(limit / 4);
    expect(rows.count * bytes).toBeGreaterThan((0.85 * limit) / 4);
  });

  it('holds rows of any size, and gives many large ones a larger share', () => {
    const limit = 1 << 20;
    const rows = new native!.RowCache(limit);
    for (const length of [10, 5000, 20, 40_000, 30]) {
      rows.set('t1name', Buffer.alloc(length, length));
      expect(valueOf(rows, 't1name')).toEqual(Buffer.alloc(length, length));
      expect(rows.count).toBe(1);
    }
    for (let i = 0; i < 1000; i++) rows.set(`t1small${i}`, Buffer.alloc(100, i));
    for (let i = 0; i < 100; i++) {
      rows.set(`t1large${i}`, Buffer.alloc(8000, i));
      expect(rows.sizeBytes).toBeLessThanOrEqual(limit);
    }
    for (let i = 80; i < 100; i++) expect(valueOf(rows, `t1large${i}`)).toEqual(Buffer.alloc(8000, i));
    for (let i = 0; i < 1000; i++) expect(valueOf(rows, `t1small${i}`)).toEqual(Buffer.alloc(100, i));
    rows.set('t1large99', null);
    expect(rows.read('t1large99', Buffer.alloc(0), 0)).toBe(-2);
    rows.set('t1small9', null);
    expect(rows.read('t1small9', Buffer.alloc(0), 0)).toBe(-2);
    rows.clear();
    expect(rows.count).toBe(0);
    expect(rows.sizeBytes).toBe(0);
  });

  it('refuses a size limit of 0', () => {
    expect(() => new native!.RowCache(0)).toThrow('size limit');
    expect(() => {
      new native!.RowCache(MAX_BYTES).resize(0);
    }).toThrow('size limit');
  });

  it('evicts even if every row was read', () => {
    const cache = caches[1]![1]();
    for (let i = 0; i < 5000; i++) {
      cache.set(`row${i}`, Buffer.alloc(100, i));
      for (let back = 0; back < 600 && back <= i; back += 7) cache.get(`row${i - back}`);
    }
    expect(cache.sizeBytes).toBeLessThanOrEqual(MAX_BYTES + 200);
    expect(cache.get('row4999')).toEqual(Buffer.alloc(100, 4999 % 256));
  });
});

describe('recent rows', () => {
  it('have kinds with a configured share, and are dropped by kind', () => {
    const rows = new RowCaches({ shares: { n: 0.25, t: 0.75 }, maxBytes: MAX_BYTES });
    const records = new RecordWriter();
    for (const key of ['n1', 't1', 'x1']) records.add(key, Buffer.from(key));
    rows.setRecords(records.take());
    expect(rows.get('n1')).toEqual(Buffer.from('n1'));
    expect(rows.get('x1')).toBeUndefined();
    for (let i = 0; i < 5000; i++) records.add(`n${i}`, Buffer.alloc(50));
    rows.setRecords(records.take());
    expect(rows.get('t1')).toEqual(Buffer.from('t1'));
    rows.forget('m', 'n2');
    expect(rows.get('n4999')).toBeUndefined();
    expect(rows.get('t1')).toEqual(Buffer.from('t1'));
    expect(new RowCaches({ shares: { t: 1 }, maxBytes: 0 }).get('t1')).toBeUndefined();
  });
});
