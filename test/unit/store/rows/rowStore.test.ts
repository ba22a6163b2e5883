import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadNative } from '../../../../src/native/binding.js';
import { FlushJournal } from '../../../../src/store/leveldb/flushJournal.js';
import { PackedValues, RecordWriter } from '../../../../src/store/rows/rowRecords.js';
import { RowStore } from '../../../../src/store/rows/rowStore.js';
import { Random } from '../../../differential/support.js';
import { prefixEnd, type RowRange, type RowReader, type RowWriter } from '../../../../src/store/rows/rows.js';

const bytes = (text: string): Buffer => Buffer.from(text);

async function rowsOf(reader: RowReader, range: RowRange): Promise<string[]> {
  const out: string[] = [];
  for await (const [key, value] of reader.range(range)) out.push(`${key}=${Buffer.from(value).toString()}`);
  return out;
}

describe('RowStore', () => {
  let folder: string;
  let store: RowStore;
  const open = (onPoint?: (name: string) => void): Promise<RowStore> =>
    RowStore.open({ path: join(folder, 'db'), cacheBytes: 1 << 20, ...(onPoint ? { onPoint } : {}) });

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rows-'));
    store = await open();
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it('merges overlay and disk, where the overlay hides and deletes lower rows', async () => {
    for (const key of ['a', 'b', 'c', 'd']) store.put(key, bytes(`old-${key}`));
    await store.flush();
    store.put('b', bytes('new-b'));
    store.del('c');
    store.put('bb', bytes('new-bb'));
    expect(await rowsOf(store, { gte: 'a', lt: 'd' })).toEqual(['a=old-a', 'b=new-b', 'bb=new-bb']);
    expect(await rowsOf(store, { gte: 'a', lt: 'z', reverse: true, limit: 2 })).toEqual([
      'd=old-d',
      'bb=new-bb',
    ]);
    expect(
      (await store.getMany(['c', 'b', 'nothing'])).map((row) => row && Buffer.from(row).toString()),
    ).toEqual([undefined, 'new-b', undefined]);
  });

  it('reads a short range in one call with the same result as an iteration', async () => {
    const random = new Random(3);
    const change = (): void => {
      const key = `r${String(random.below(60)).padStart(2, '0')}`;
      if (random.below(3) === 0) store.del(key);
      else store.put(key, random.bytes(4));
    };
    for (let round = 0; round < 40; round++) {
      for (let i = 0; i < 20; i++) change();
      if (round % 3 === 0) await store.flush();
      const from = random.below(50);
      const limit = random.below(12);
      const range: RowRange = {
        gte: `r${String(from).padStart(2, '0')}`,
        lt: `r${String(from + random.below(20)).padStart(2, '0')}`,
        reverse: random.below(2) === 0,
        ...(limit > 0 ? { limit } : {}),
      };
      const walked: [string, Buffer][] = [];
      for await (const [key, value] of store.range(range)) walked.push([key, Buffer.from(value)]);
      const rows = await store.getRange(range);
      expect(rows.map(([key, value]) => [key, Buffer.from(value)])).toEqual(walked);
    }
  });

  it('iterates over a range of a transaction with the same result as a read in one call', async () => {
    const random = new Random(5);
    const keyOf = (): string => `r${String(random.below(60)).padStart(2, '0')}`;
    const change = (rows: RowWriter): void => {
      if (random.chance(2)) rows.del(keyOf());
      else rows.put(keyOf(), random.bytes(4));
    };
    let found = 0;
    for (let round = 0; round < 60; round++) {
      for (let i = 0; i < 20; i++) change(store);
      if (random.chance(3)) await store.flush();
      const transaction = store.begin();
      for (let i = random.below(20); i > 0; i--) change(transaction);
      const range: RowRange = {
        gte: 'r',
        lt: keyOf(),
        reverse: random.chance(2),
        limit: 1 + random.below(12),
      };
      const read = (await transaction.getRange(range)).map(
        ([key, value]) => `${key}=${Buffer.from(value).toString()}`,
      );
      expect(await rowsOf(transaction, range)).toEqual(read);
      found += read.length;
      store.commit(transaction);
    }
    expect(found).toBeGreaterThan(100);
  });

  it('reads as many rows in memory as the limit of an iteration needs', async () => {
    const keyOf = (n: number): string => `r${String(n).padStart(4, '0')}`;
    for (let n = 0; n < 5000; n++) store.put(keyOf(n), bytes('row'));
    let counts: number[] = [];
    const { layers } = store;
    // Each layer is read to its end, so that rows that the merge does not need are counted too.
    store.layers = (throughStage) =>
      layers.call(store, throughStage).map(
        (layer) =>
          async function* (range) {
            const rows: [string, Uint8Array | null][] = [];
            for await (const row of layer(range)) rows.push(row);
            counts.push(rows.length);
            yield* rows;
          },
      );
    const readCounts = async (reader: RowReader, range: RowRange): Promise<number[]> => {
      counts = [];
      expect(await rowsOf(reader, range)).toHaveLength(range.limit!);
      return counts;
    };
    const latest: RowRange = { gte: 'r', lt: 's', reverse: true, limit: 51 };
    expect(await readCounts(store, latest)).toEqual([51, 0]);
    store.del(keyOf(4999));
    expect(await readCounts(store, latest)).toEqual([52, 0]);
    const transaction = store.begin();
    for (let n = 0; n < 10; n++) transaction.del(keyOf(n));
    transaction.put(keyOf(20), bytes('changed'));
    const first: RowRange = { gte: 'r', lt: 's', limit: 51 };
    expect(await readCounts(transaction, first)).toEqual([62, 0]);
    await store.discard(transaction);
  });

  it('accepts records in a transaction like rows that are written one by one', async () => {
    const random = new Random(9);
    const model = new Map<string, string>();
    const keyOf = (): string => random.pick(['a', 'b', 'c']) + String(random.below(30));
    for (let round = 0; round < 60; round++) {
      const rows = store.begin();
      const before = new Map(model);
      for (let step = random.below(12); step >= 0; step--) {
        const records = new RecordWriter();
        const kinds = new Set<string>();
        for (let n = random.below(8); n >= 0; n--) {
          const key = keyOf();
          const value = random.chance(3) ? null : random.bytes(random.below(9));
          if (value === null) model.delete(key);
          else model.set(key, value.toString('latin1'));
          if (random.chance(2)) {
            records.add(key, value);
            kinds.add(key[0]!);
            continue;
          }
          rows.putRecords([...kinds].join(''), Buffer.from(records.take()));
          kinds.clear();
          if (value === null) rows.del(key);
          else rows.put(key, value);
        }
        rows.putRecords([...kinds].join(''), Buffer.from(records.take()));
        if (random.chance(4)) {
          const key = keyOf();
          const found = await rows.get(key);
          expect(found && Buffer.from(found).toString('latin1')).toBe(model.get(key));
        }
        if (random.chance(6)) {
          const range = { gte: keyOf(), lt: 'c' };
          const found = (await rows.getRange(range)).map(([key]) => key);
          expect(found).toEqual([...model.keys()].filter((key) => key >= range.gte && key < 'c').sort());
        }
      }
      if (random.chance(4)) {
        await store.discard(rows);
        model.clear();
        for (const [key, value] of before) model.set(key, value);
      } else store.commit(rows);
      if (random.chance(5)) await store.flush();
      const committed = await store.getRange({ gte: 'a', lt: 'd' });
      expect(new Map(committed.map(([key, value]) => [key, Buffer.from(value).toString('latin1')]))).toEqual(
        model,
      );
    }
  });

  it.skipIf(loadNative() === null)(
    'packs the values before a transaction as single reads return them',
    async () => {
      const random = new Random(17);
      const keyOf = (): string => `k${random.below(300)}`;
      let rounds = 0;
      for (let round = 0; round < 30; round++) {
        for (let i = 0; i < 40; i++) {
          if (random.chance(4)) store.del(keyOf());
          else store.put(keyOf(), random.bytes(random.chance(9) ? 5000 : random.below(30)));
        }
        if (random.chance(3)) await store.flush();
        const keys = Array.from({ length: random.below(200) }, keyOf);
        const records = new RecordWriter();
        for (const key of keys) records.add(key, random.chance(3) ? null : random.bytes(random.below(40)));
        const rows = store.begin();
        const before = await store.getMany(keys);
        rows.put(keys[0] ?? 'k1', random.bytes(3));
        const asked = Buffer.from(records.take());
        const packed = await rows.formerValues(asked);
        await store.discard(rows);
        if (packed === null) {
          // For rows that must be read from disk, a thread is not worth its cost.
          expect(asked.length).toBeLessThan(2048);
          continue;
        }
        rounds++;
        const values = new PackedValues(packed);
        for (const [i, key] of keys.entries()) {
          values.next();
          const value =
            values.length < 0
              ? undefined
              : values.values.subarray(values.start, values.start + values.length);
          expect(value && Buffer.from(value), key).toEqual(before[i] && Buffer.from(before[i]));
        }
      }
      expect(rounds).toBeGreaterThan(10);
      const rows = store.begin();
      expect(() => rows.formerValues(Buffer.of(1, 2, 3))).toThrow('malformed row records');
      await store.discard(rows);
    },
  );

  it('refuses the database of another program, and does not change its rows', async () => {
    const path = join(folder, 'foreign');
    const other = await RowStore.open({ path, cacheBytes: 1 << 20 });
    for (const key of ['\x0e\0obfuscate_key', 'Cabc', '~C']) other.put(key, bytes('theirs'));
    await other.flush();
    await other.close();
    const ours = { path, cacheBytes: 1 << 20, mark: 'Midentity' };
    await expect(RowStore.open(ours)).rejects.toThrow('another program');
    const again = await RowStore.open({ ...ours, mark: 'Cabc' });
    expect((await rowsOf(again, { gte: '\0', lt: '\xff' })).slice(0, 2)).toEqual([
      '\x0e\0obfuscate_key=theirs',
      'Cabc=theirs',
    ]);
    await again.close();
  });

  it('frees the disk space of a dropped range', async () => {
    const path = join(folder, 'db');
    const sizeBytes = (): number =>
      readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0);
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 300; i++)
        for (const kind of 'wx') store.put(`${kind}${i}-${round}`, randomBytes(10_000));
      await store.flush();
    }
    // Moves the rows from the log to the table files.
    await store.close();
    store = await open();
    const full = sizeBytes();
    await store.dropRange('x', 'y');
    store.packRange('x', 'y');
    expect(await rowsOf(store, { gte: 'x', lt: 'y' })).toEqual([]);
    await store.close();
    expect(sizeBytes()).toBeLessThan(0.7 * full);
    store = await open();
    expect((await rowsOf(store, { gte: 'w', lt: 'z' })).length).toBe(1200);
  });

  it('shows rows of a transaction only to the transaction until the commit', async () => {
    store.put('k', bytes('1'));
    const transaction = store.begin();
    transaction.put('k', bytes('2'));
    transaction.del('gone');
    expect(Buffer.from((await transaction.get('k'))!).toString()).toBe('2');
    expect(Buffer.from((await store.get('k'))!).toString()).toBe('1');
    store.commit(transaction);
    expect(Buffer.from((await store.get('k'))!).toString()).toBe('2');
    const other = store.begin();
    other.put('k', bytes('3'));
    await store.discard(other);
    expect(Buffer.from((await store.get('k'))!).toString()).toBe('2');
  });

  it('spills a large transaction, reads from it and flushes it', async () => {
    store.put('k0001', bytes('before'));
    store.put('k9999', bytes('before'));
    await store.flush();
    const transaction = store.begin();
    const big = Buffer.alloc(1 << 20, 7);
    for (let i = 0; i < 60; i++) transaction.put(`big${i}`, big);
    transaction.put('k0001', bytes('spilled'));
    transaction.del('k9999');
    await transaction.relieve();
    expect(transaction.spilled).toBe(true);
    transaction.put('k0002', bytes('after'));
    expect(await rowsOf(transaction, { gte: 'k', lt: 'l' })).toEqual(['k0001=spilled', 'k0002=after']);
    expect(await rowsOf(store, { gte: 'k', lt: 'l' })).toEqual(['k0001=before', 'k9999=before']);
    store.commit(transaction);
    expect(await rowsOf(store, { gte: 'k', lt: 'l' })).toEqual(['k0001=spilled', 'k0002=after']);
    await store.flush();
    await store.close();
    store = await open();
    expect(await rowsOf(store, { gte: 'k', lt: prefixEnd('k') })).toEqual(['k0001=spilled', 'k0002=after']);
    expect((await store.get('big59'))!.length).toBe(1 << 20);
    expect(await rowsOf(store, { gte: '~', lt: prefixEnd('~') })).toEqual([]);
  });

  it('reads one row from every layer, a spilled transaction included', async () => {
    for (const key of ['disk', 'deleted', 'staged', 'hidden']) store.put(key, bytes(`old-${key}`));
    await store.flush();
    store.del('deleted');
    store.put('overlay', bytes('new-overlay'));
    const text = (row: Uint8Array | undefined): string | undefined => row && Buffer.from(row).toString();
    const keys = ['disk', 'deleted', 'staged', 'hidden', 'overlay', 'own', 'nothing'];
    const at = (reader: { getBlocking(key: string): Uint8Array | undefined }): unknown[] =>
      keys.map((key) => text(reader.getBlocking(key)));
    expect(at(store)).toEqual([
      'old-disk',
      undefined,
      'old-staged',
      'old-hidden',
      'new-overlay',
      undefined,
      undefined,
    ]);

    const transaction = store.begin();
    const now = (wanted: readonly string[]): unknown => transaction.getManyNow(wanted)?.map(text) ?? null;
    const before = ['old-disk', undefined, 'old-staged', 'old-hidden', 'new-overlay', undefined, undefined];
    expect(now(keys)).toEqual(before);
    transaction.put('staged', bytes('new-staged'));
    transaction.del('hidden');
    expect(now(keys)).toEqual(before.with(2, 'new-staged').with(3, undefined));
    expect(now(['staged', 'hidden'])).toEqual(['new-staged', undefined]);
    expect(now([])).toEqual([]);
    transaction.put('filler', Buffer.alloc(49 << 20));
    await transaction.relieve();
    expect(transaction.spilled).toBe(true);
    transaction.put('own', bytes('new-own'));
    // The staging area can only be read asynchronously.
    expect([now(keys), now(['own'])]).toEqual([null, ['new-own']]);
    const after = ['old-disk', undefined, 'new-staged', undefined, 'new-overlay', 'new-own', undefined];
    expect(at(transaction)).toEqual(after);
    store.commit(transaction);
    expect(at(store)).toEqual(after);
    await store.flush();
    expect(at(store)).toEqual(after);
  });

  it('discards a spilled transaction completely', async () => {
    const transaction = store.begin();
    for (let i = 0; i < 60; i++) transaction.put(`big${i}`, Buffer.alloc(1 << 20));
    await transaction.relieve();
    await store.discard(transaction);
    expect(await rowsOf(store, { gte: '', lt: '\xff' })).toEqual([]);
  });

  for (const point of [
    'flush:in-journal',
    'flush:journal-committed',
    'flush:applying-journal',
    'flush:before-journal-removal',
  ]) {
    it(`recovers to one state after a stop at ${point}`, async () => {
      store.put('tip', bytes('old'));
      await store.flush();
      await store.close();
      store = await open((name) => {
        if (name === point) throw new Error('stopped');
      });
      for (let i = 0; i < 40; i++) store.put(`row${i}`, Buffer.alloc(1 << 20, i));
      store.put('tip', bytes('new'));
      await expect(store.flush()).rejects.toThrow('stopped');
      await store.close();
      store = await open();
      const tip = Buffer.from((await store.get('tip'))!).toString();
      expect(tip).toBe(point === 'flush:in-journal' ? 'old' : 'new');
      for (let i = 0; i < 40; i++)
        expect((await store.get(`row${i}`))?.[0]).toBe(tip === 'new' ? i : undefined);
      expect(await new FlushJournal(join(folder, 'db.journal')).isCommitted()).toBe(false);
    });
  }

  it('accepts no row during a flush, because it would be lost', async () => {
    for (let i = 0; i < 20_000; i++) store.put(`row${i}`, Buffer.alloc(50));
    const flushed = store.flush();
    expect(() => store.put('late', bytes('x'))).toThrow('during a flush');
    expect(() => store.del('row1')).toThrow('during a flush');
    await expect(store.flush()).rejects.toThrow('during a flush');
    await flushed;
    store.put('late', bytes('x'));
    await store.flush();
    expect(await store.get('late')).toBeDefined();
  });

  describe('with a row cache', () => {
    const MAX_BYTES = 64 << 10;
    const reopen = async (): Promise<void> => {
      await store.close();
      store = await RowStore.open({
        path: join(folder, 'db'),
        cacheBytes: 1 << 20,
        recent: { shares: { n: 0.5, t: 0.5 }, maxBytes: MAX_BYTES },
      });
    };
    const read = async (key: string): Promise<string | undefined> => {
      const row = await store.get(key);
      return row && Buffer.from(row).toString();
    };
    beforeEach(reopen);

    it('returns the value written last, deletions included, within its size limit', async () => {
      const model = new Map<string, string>();
      let state = 1;
      const pick = (count: number): number => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor((state / 2 ** 32) * count);
      };
      for (let round = 0; round < 40; round++) {
        for (let i = 0; i < 60; i++) {
          const key = `${'ntx'.charAt(pick(3))}${pick(300)}`;
          if (pick(4) === 0) {
            store.del(key);
            model.delete(key);
          } else {
            const value = `${round}`.repeat(1 + pick(200));
            store.put(key, bytes(value));
            model.set(key, value);
          }
        }
        await store.flush();
        expect(store.recentBytes).toBeLessThanOrEqual(MAX_BYTES + 1024);
        for (const kind of 'ntx') {
          for (let i = 0; i < 300; i++) expect(await read(kind + i)).toBe(model.get(kind + i));
        }
      }
      expect(store.recentBytes).toBeGreaterThan(MAX_BYTES / 4);
    });

    it('drops deleted ranges of the cached kinds', async () => {
      for (const key of ['n1', 'n2', 't1', 'x1']) store.put(key, bytes('old'));
      await store.flush();
      const kept = store.recentBytes;
      await store.dropRange('x', 'y');
      expect(store.recentBytes).toBe(kept);
      await store.dropRange('n2', 't');
      expect(store.recentBytes).toBeGreaterThan(0);
      expect(store.recentBytes).toBeLessThan(kept);
      expect([await read('n1'), await read('n2'), await read('t1'), await read('x1')]).toEqual([
        'old',
        undefined,
        'old',
        undefined,
      ]);
    });

    it('does not return rows from before a spilled transaction', async () => {
      for (const key of ['n1', 'n2', 't1']) store.put(key, bytes('old'));
      await store.flush();
      const transaction = store.begin();
      transaction.put('n1', bytes('new'));
      transaction.del('t1');
      for (let i = 0; i < 60; i++) transaction.put(`big${i}`, Buffer.alloc(1 << 20));
      await transaction.relieve();
      const seen = async (): Promise<(string | undefined)[]> => [
        await read('n1'),
        await read('n2'),
        await read('t1'),
      ];
      expect(await seen()).toEqual(['old', 'old', 'old']);
      expect(Buffer.from((await transaction.get('n1'))!).toString()).toBe('new');
      expect(await transaction.get('t1')).toBeUndefined();
      store.commit(transaction);
      expect(await seen()).toEqual(['new', 'old', undefined]);
      await store.flush();
      expect(await seen()).toEqual(['new', 'old', undefined]);
    });
  });
});
