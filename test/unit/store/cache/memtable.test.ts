/** Rows in memory: lookups, order and records equal those of a plain map, and the reported memory is right. */
import { describe, expect, it } from 'vitest';
import { loadNative } from '../../../../src/native/binding.js';
import { KeyedRows } from '../../../../src/store/rows/keyedRows.js';
import { NativeMemtable } from '../../../../src/store/cache/nativeMemtable.js';
import { changesOf } from '../../../../src/store/rows/rowRecords.js';
import { MemtableFallback } from '../../../../src/store/cache/memtableFallback.js';
import { SortedKeys } from '../../../../src/store/cache/sortedKeys.js';
import { ValueArena } from '../../../../src/store/cache/valueArena.js';
import type { Memtable } from '../../../../src/store/cache/memtable.js';
import type { RowRange } from '../../../../src/store/rows/rows.js';

/** Numbers below `count`, the same in every run. */
function numbers(seed: number): (count: number) => number {
  let state = seed;
  return (count) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
}

const text = (rows: Iterable<readonly [Buffer | string, Uint8Array | null]>): [string, string | null][] =>
  Array.from(rows, ([key, value]) => [
    typeof key === 'string' ? key : key.toString('latin1'),
    value && Buffer.from(value).toString('latin1'),
  ]);

/** All rows, read as records of at most about this number of bytes. */
function all(rows: Memtable | KeyedRows, maxBytes: number): [string, string | null][] {
  if (rows instanceof KeyedRows) return text(rows.entries());
  return Array.from(rows.records(maxBytes), (records) => {
    expect(records.length).toBeLessThan(maxBytes + 9100);
    return text(changesOf(records));
  }).flat();
}

function modelSlice(
  model: Map<string, string | null>,
  { gte, lt, reverse, limit = Infinity }: RowRange,
): [string, string | null][] {
  const rows = [...model].filter(([key]) => key >= gte && key < lt).sort(([a], [b]) => (a < b ? -1 : 1));
  if (reverse) rows.reverse();
  let values = 0;
  const found = rows.filter(([, value]) => values < limit && (value === null || ++values <= limit));
  return reverse ? found.reverse() : found;
}

const native = loadNative();
const tables: [string, () => Memtable][] = [['fallback', () => new MemtableFallback()]];
if (native) tables.push(['native', () => new NativeMemtable(new native.Memtable())]);

describe('rows in memory', () => {
  for (const [kind, make] of [...tables, ['of a transaction', () => new KeyedRows()] as const]) {
    it(`have the values set last, in the order of their keys: ${kind}`, () => {
      const pick = numbers(7);
      const rows = make();
      const model = new Map<string, string | null>();
      const randomKey = (): string => 'k\0\xff'.charAt(pick(3)).repeat(pick(3)) + String(pick(1000));
      for (let step = 0; step < 6_000; step++) {
        const key = randomKey();
        const value =
          pick(5) === 0 ? null : String.fromCharCode(pick(256)).repeat(pick(pick(20) === 0 ? 9000 : 90));
        rows.set(key, value === null ? null : Buffer.from(value, 'latin1'));
        model.set(key, value);
        if (step % 200 !== 0) continue;
        const [a, b] = [randomKey(), randomKey()].sort() as [string, string];
        const range = { gte: a, lt: b };
        expect(text(rows.slice(range))).toEqual(modelSlice(model, range));
        // The rows of a transaction are always read as a whole.
        if (rows instanceof KeyedRows) continue;
        for (const reverse of [false, true]) {
          const part = { ...range, reverse, limit: pick(30) };
          expect(text(rows.slice(part))).toEqual(modelSlice(model, part));
        }
      }
      for (const maxBytes of [1, 5_000, 1 << 20]) {
        const found = all(rows, maxBytes);
        expect(found.length).toBe(model.size);
        expect(new Map(found)).toEqual(model);
      }
      // A value must not change when others are read.
      const found = Array.from(model.keys(), (key) => rows.get(key));
      expect(found.map((value) => value && Buffer.from(value).toString('latin1'))).toEqual([
        ...model.values(),
      ]);
      expect(rows.get('absent')).toBeUndefined();
      rows.clear();
      expect(all(rows, 5_000)).toEqual([]);
      expect(rows.slice({ gte: '', lt: '\xff\xff' })).toEqual([]);
      expect(rows.sizeBytes).toBe(0);
      rows.set('', Buffer.from('again'));
      expect(text(rows.slice({ gte: '', lt: 'z' }))).toEqual([['', 'again']]);
    });
  }

  it.each(tables)('accept records as they return them: %s', (_, make) => {
    const [rows, other] = [make(), make()];
    rows.set('', Buffer.from('of no key'));
    rows.set('ab', null);
    rows.set('b', Buffer.alloc(0));
    rows.set('c', Buffer.alloc(5000, 7));
    other.set('ab', Buffer.from('there'));
    for (const records of rows.records(100)) other.addRecords(records);
    expect(new Map(all(other, 1 << 20))).toEqual(new Map(all(rows, 1 << 20)));
  });

  it.each(tables)('return values that do not change when the row changes: %s', (_, make) => {
    const rows = make();
    rows.set('a', Buffer.from('first'));
    const got = rows.get('a')!;
    const [sliced] = rows.slice({ gte: 'a', lt: 'b' });
    rows.set('a', Buffer.from('2nd'));
    expect(Buffer.from(got).toString()).toBe('first');
    expect(Buffer.from(sliced![1]!).toString()).toBe('first');
  });

  it.each(tables)('leave out a row that no lower layer has and that was deleted: %s', (_, make) => {
    const rows = make();
    rows.declareNew('UV');
    rows.set('Ukept', Buffer.from('1'));
    rows.set('Ugone', Buffer.from('2'));
    rows.set('Ugone', null);
    rows.set('Vback', Buffer.from('3'));
    rows.set('Vback', null);
    rows.set('Vback', Buffer.alloc(100, 4));
    rows.set('Vgone', Buffer.from('5'));
    rows.set('Vgone', Buffer.alloc(100, 6));
    rows.set('Vgone', null);
    // Deletions of rows of lower layers are kept, also if the row is added again between two deletions.
    rows.set('Ubelow', null);
    rows.set('Ubelow', Buffer.from('7'));
    rows.set('Ubelow', null);
    rows.set('W', Buffer.from('8'));
    rows.set('W', null);
    const left = new Map([
      ['Ubelow', null],
      ['Ukept', '1'],
      ['Vback', '\x04'.repeat(100)],
      ['W', null],
    ]);
    expect(new Map(all(rows, 1 << 20))).toEqual(left);
    expect(['Ugone', 'Vgone', 'Ubelow'].map((key) => rows.get(key))).toEqual([null, null, null]);
    rows.clear();
    rows.set('Ugone', null);
    expect(all(rows, 1 << 20)).toEqual([['Ugone', null]]);
  });

  it.skipIf(!native)('are returned in the order of their keys by the addon', () => {
    const pick = numbers(9);
    const rows = tables[1]![1]();
    const keys = new Set(['', 'a', 'a\0', 'b']);
    for (let n = 0; n < 5000; n++)
      keys.add(String.fromCharCode(...Array.from({ length: pick(12) }, () => pick(pick(2) === 0 ? 2 : 256))));
    for (const key of keys) rows.set(key, Buffer.from(key, 'latin1'));
    expect(all(rows, 3000).map(([key]) => key)).toEqual([...keys].sort());
  });
});

describe('rows of a transaction', () => {
  it('report which types of rows they may contain', () => {
    const rows = new KeyedRows();
    rows.set('Itxindex', Buffer.alloc(0));
    rows.set('claim', Buffer.alloc(0));
    rows.addRecords('XA', Buffer.alloc(8));
    expect([...'IcXA'].map((kind) => rows.mayHave(kind))).toEqual([true, true, true, true]);
    expect([...'STaix'].map((kind) => rows.mayHave(kind))).toEqual([false, false, false, false, false]);
    rows.clear();
    expect([...'IcXA'].some((kind) => rows.mayHave(kind))).toBe(false);
  });
});

describe('packed values', () => {
  it('use no more memory when they are rewritten repeatedly or grow', () => {
    const arena = new ValueArena();
    let node = arena.add(Buffer.alloc(1500));
    const first = arena.usedBytes;
    for (let i = 0; i < 10_000; i++) node = arena.replace(node, Buffer.alloc(1500 - (i % 3), i));
    expect(arena.usedBytes).toBe(first);
    expect(arena.view(node)).toEqual(Buffer.alloc(1500, 9999 % 256));

    const sizes = [100, 3 << 20];
    for (const size of sizes) {
      const growing = new ValueArena();
      let place = growing.add(Buffer.alloc(size));
      for (let i = 1; i <= 200; i++)
        place = growing.replace(place, Buffer.alloc(size + Math.floor((i * size) / 200)));
      // At the end the value is twice as long. Each move reserves an eighth more, so at most nine old places remain.
      expect(growing.usedBytes).toBeLessThan(16 * size + 200);
      expect(growing.view(place).length).toBe(2 * size);
    }
  });

  it('reuse freed space and empty slabs', () => {
    const arena = new ValueArena();
    const places = Array.from({ length: 1000 }, (_, i) => arena.add(Buffer.alloc(40, i)));
    const full = arena.usedBytes;
    for (const place of places) arena.free(place);
    const again = Array.from({ length: 1000 }, (_, i) => arena.add(Buffer.alloc(33 + (i % 8), i + 1)));
    expect(arena.usedBytes).toBe(full);
    expect(new Set(again).size).toBe(1000);
    expect(again.every((place, i) => arena.view(place).equals(Buffer.alloc(33 + (i % 8), i + 1)))).toBe(true);
    for (let round = 0; round < 3; round++) {
      arena.clear();
      expect(arena.usedBytes).toBe(0);
      const many = Array.from({ length: 3000 }, (_, i) => arena.add(Buffer.alloc(1000, i + round)));
      expect(many.every((place, i) => arena.view(place)[999] === (i + round) % 256)).toBe(true);
    }
  });
});

describe('sorted keys', () => {
  it('need time in proportion to the rows added since the last query, not to all rows', () => {
    const keys = new SortedKeys();
    let compared = 0;
    // A comparison of two keys calls `valueOf` of both.
    const key = (value: string): string =>
      Object.assign(new String(value), {
        valueOf: () => {
          compared++;
          return value;
        },
      }) as unknown as string;
    const pick = numbers(3);
    for (let i = 0; i < 20_000; i++) keys.add(key(String(pick(1e9)).padStart(9, '0')));
    keys.between('0', '1');
    const atOnce = compared;
    for (let round = 0; round < 500; round++) {
      keys.add(key(String(pick(1e9)).padStart(9, '0')));
      keys.between('5', '50001');
    }
    expect(compared - atOnce).toBeLessThan(atOnce);
  });
});
