/**
 * Both implementations of LevelDB give the same answers. Neither returns bytes that were corrupted before the database was
 * opened.
 */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadNative } from '../../../../src/native/binding.js';
import { noteDurable } from '../../../../src/store/leveldb/databaseCheck.js';
import { DatabaseCorruptionError, type LevelDb } from '../../../../src/store/leveldb/levelDb.js';
import { NativeLevelDb } from '../../../../src/store/leveldb/nativeLevelDb.js';
import { PackageLevelDb } from '../../../../src/store/leveldb/packageLevelDb.js';
import { RecordWriter, type RowChange } from '../../../../src/store/rows/rowRecords.js';
import { Random } from '../../../differential/support.js';

const options = { cacheBytes: 1 << 20, writeBufferBytes: 64 << 10 };
const native = loadNative();
const makers: [string, (path: string) => LevelDb][] = [
  ['classic-level', (path) => new PackageLevelDb(path, options)],
];
if (native) makers.push(['addon', (path) => new NativeLevelDb(native, path, options)]);

function recordsOf(changes: readonly RowChange[]): Buffer {
  const writer = new RecordWriter();
  for (const [key, value] of changes) writer.add(key, value);
  return Buffer.from(writer.take());
}

async function contentOf(db: LevelDb): Promise<string[]> {
  const rows: string[] = [];
  for await (const [key, value] of db.iterate({ gte: '', lt: '\xff\xff' }))
    rows.push(`${key}=${value.toString('latin1')}`);
  return rows;
}

/** Batches of puts and deletes with repeated keys. Some keys are not UTF-8. */
function* batches(random: Random, count: number): Generator<RowChange[]> {
  for (let i = 0; i < count; i++) {
    yield Array.from({ length: 1 + random.below(200) }, (): RowChange => {
      const key = `k\xff\0${random.below(2000)}`;
      return [key, random.below(5) === 0 ? null : random.bytes(random.below(120))];
    });
  }
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'leveldb-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe.skipIf(!native)('rows that are read by ranges only', () => {
  /** Writes rows of two types, and compacts them. */
  async function written(path: string, rangeKinds: string): Promise<LevelDb> {
    const db = new NativeLevelDb(native!, path, { ...options, rangeKinds });
    await db.open();
    const changes = Array.from({ length: 20_000 }, (_, i): RowChange => [
      `${i % 4 ? 'v' : 'n'}${i}`,
      Buffer.from([i]),
    ]);
    await db.write([recordsOf(changes)], { sync: false });
    await db.compact('', '\xff');
    return db;
  }

  it('have no bloom filters, but every program finds them', async () => {
    const path = join(folder, 'db');
    const db = await written(path, 'v');
    const found = async (from: LevelDb): Promise<void> => {
      const keys = ['n0', 'n19996', 'v1', 'v19999', 'v0', 'n1', 'x'];
      const rows = await from.getMany(keys, true);
      expect(rows.map((row) => row?.[0])).toEqual([
        0,
        19996 & 255,
        1,
        19999 & 255,
        undefined,
        undefined,
        undefined,
      ]);
      expect(await contentOf(from)).toHaveLength(20_000);
    };
    await found(db);
    await db.close();
    const plain = await written(join(folder, 'plain'), '');
    await plain.close();
    const tableBytes = (of: string): number =>
      readdirSync(join(folder, of))
        .filter((name) => name.endsWith('.ldb'))
        .reduce((sum, name) => sum + statSync(join(folder, of, name)).size, 0);
    // A filter takes 10 bits a row.
    expect(tableBytes('plain') - tableBytes('db')).toBeGreaterThan(15_000);
    for (const [, make] of makers) {
      const again = make(path);
      await again.open();
      await found(again);
      await again.close();
    }
  });
});

describe.each(makers)('LevelDB (%s)', (_name, make) => {
  it('stores, deletes, counts and iterates', async () => {
    const db = make(join(folder, 'db'));
    await db.open();
    const model = new Map<string, Buffer>();
    let changes = 0;
    for (const batch of batches(new Random(7), 60)) {
      for (const [key, value] of batch) {
        if (value === null) model.delete(key as string);
        else model.set(key as string, value as Buffer);
      }
      changes += batch.length;
      const half = batch.length >> 1;
      await db.write([recordsOf(batch.slice(0, half)), recordsOf(batch.slice(half))], { sync: false });
    }
    expect(db.sequence).toBe(changes);
    const keys = [...model.keys()].sort();
    const lines = keys.map((key) => `${key}=${model.get(key)!.toString('latin1')}`);
    expect(await contentOf(db)).toEqual(lines);

    const asked = Array.from({ length: 50 }, (_, i) => `k\xff\0${i * 40}`);
    const wanted = asked.map((_, i) => i);
    const out: (Uint8Array | undefined)[] = [];
    for (let at = 0; at < wanted.length;) {
      const read = db.getNow(asked, wanted.slice(at), out, true);
      expect(read).toBeGreaterThan(0);
      at += read;
    }
    const expected = asked.map((key) => model.get(key));
    expect(out.map((row) => row && Buffer.from(row))).toEqual(expected);
    expect(await db.getMany(asked, false)).toEqual(expected);
    expect(await db.get(keys[3]!)).toEqual(model.get(keys[3]!));

    for (const [reverse, limit] of [
      [false, 7],
      [true, 7],
      [false, 900],
      [true, undefined],
    ] as const) {
      const range = { gte: keys[20]!, lt: keys[400]!, reverse, ...(limit ? { limit } : {}) };
      let wantedKeys = keys.slice(20, 400);
      if (reverse) wantedKeys = wantedKeys.reverse();
      wantedKeys = wantedKeys.slice(0, limit);
      const walked: string[] = [];
      for await (const [key] of db.iterate(range)) walked.push(key);
      expect(walked).toEqual(wantedKeys);
      const now = db.rangeNow(range);
      if (now !== null) expect(now.map(([key]) => key)).toEqual(wantedKeys);
    }

    await db.deleteRange(keys[10]!, keys[20]!);
    expect(await contentOf(db)).toEqual([...lines.slice(0, 10), ...lines.slice(20)]);
    expect(db.sequence).toBe(changes + 10);
    await db.compact('\0', '\xff');
    await db.close();
    await db.open();
    expect(await contentOf(db)).toEqual([...lines.slice(0, 10), ...lines.slice(20)]);
    expect(db.sequence).toBe(changes + 10);
    await db.close();
  });

  it('never returns a part of a long range as all of it', async () => {
    const db = make(join(folder, 'db'));
    await db.open();
    const rows = Array.from({ length: 3000 }, (_, n): RowChange => [
      `k${String(n).padStart(5, '0')}`,
      Buffer.of(1),
    ]);
    await db.write([recordsOf(rows)], { sync: false });
    for (const limit of [undefined, 1024, 1025, 2999, 3000, 4000]) {
      const range = { gte: 'k', lt: 'l', ...(limit === undefined ? {} : { limit }) };
      const now = db.rangeNow(range);
      if (now !== null) expect(now).toHaveLength(Math.min(limit ?? Infinity, rows.length));
    }
    await db.close();
  });

  it('iterates over a snapshot of the rows, and releases it when iteration stops early', async () => {
    const db = make(join(folder, 'db'));
    await db.open();
    const rows = Array.from({ length: 600 }, (_, i): RowChange => [`r${1000 + i}`, Buffer.from('old')]);
    await db.write([recordsOf(rows)], { sync: true });
    const walk = db.iterate({ gte: 'r', lt: 's' });
    await walk.next();
    await db.write([recordsOf(rows.map(([key]) => [key, Buffer.from('new')]))], { sync: true });
    let count = 1;
    for await (const [, value] of walk) {
      expect(value.toString()).toBe('old');
      if (++count === 500) break;
    }
    await db.close();
  });
});

describe.each(makers)('a database with compressed tables (%s)', (_name, make) => {
  /** Size of all tables in bytes. */
  const tableBytes = (path: string): number =>
    readdirSync(path)
      .filter((name) => name.endsWith('.ldb'))
      .reduce((sum, name) => sum + statSync(join(path, name)).size, 0);

  it('is read and verified, and its tables are written without compression', async () => {
    const path = join(folder, 'db');
    const packed = new ClassicLevel<string, string>(path, { compression: true });
    const rows: string[] = [];
    // Tables of equal size, because their keys are read to find swapped tables.
    for (let table = 0; table < 4; table++) {
      const changes = Array.from({ length: 50 }, (_, i) => ({
        type: 'put' as const,
        key: `t${table}row${100 + i}`,
        value: `${'value '.repeat(100)}${i}`,
      }));
      await packed.batch(changes);
      await packed.compactRange(`t${table}`, `t${table}z`);
      rows.push(...changes.map(({ key, value }) => `${key}=${value}`));
    }
    await packed.close();
    const plainBytes = rows.join('').length;
    expect(tableBytes(path)).toBeLessThan(plainBytes / 2);
    const tables = readdirSync(path).filter((name) => name.endsWith('.ldb'));
    const sizes = new Set(tables.map((name) => statSync(join(path, name)).size));
    expect(sizes.size).toBeLessThan(tables.length);

    const db = make(path);
    await db.open();
    expect(await contentOf(db)).toEqual(rows);
    // One row a table, so that the compaction writes all tables again.
    const added = Array.from({ length: 4 }, (_, table): RowChange => [
      `t${table}row120~`,
      Buffer.from('new'),
    ]);
    await db.write([recordsOf(added)], { sync: true });
    await db.compact('\0', '\xff');
    await db.close();
    expect(tableBytes(path)).toBeGreaterThan(plainBytes * 0.9);

    const again = make(path);
    await again.open();
    const all = [...rows, ...added.map(([key]) => `${key}=new`)];
    expect(await contentOf(again)).toEqual(all.toSorted());
    await again.close();
  });
});

describe.each(makers)('corruption of the files of LevelDB (%s)', (_name, make) => {
  let original: string;
  let rows: string[];

  beforeAll(async () => {
    original = mkdtempSync(join(tmpdir(), 'leveldb-whole-'));
    const path = join(original, 'db');
    const db = make(path);
    await db.open();
    for (const batch of batches(new Random(11), 80)) await db.write([recordsOf(batch)], { sync: false });
    await db.compact('\0', '\xff');
    for (const batch of batches(new Random(12), 30)) await db.write([recordsOf(batch)], { sync: true });
    await noteDurable(path);
    rows = await contentOf(db);
    await db.close();
  });
  afterAll(() => rmSync(original, { recursive: true }));

  /** Whether the rows equal the original ones; otherwise the message. */
  async function outcome(path: string): Promise<'same' | string> {
    const db = make(path);
    try {
      await db.open();
    } catch (error) {
      if (error instanceof DatabaseCorruptionError) return error.message;
      throw error;
    }
    try {
      expect(await contentOf(db)).toEqual(rows);
      return 'same';
    } catch (error) {
      if (error instanceof DatabaseCorruptionError) return error.message;
      throw error;
    } finally {
      await db.close();
    }
  }

  it('is never returned as data', async () => {
    const random = new Random(13);
    const files = readdirSync(join(original, 'db')).filter((file) => !/^(LOCK|LOG)/.test(file));
    expect(files.some((file) => file.endsWith('.ldb')) && files.some((file) => file.endsWith('.log'))).toBe(
      true,
    );
    const seen = { same: 0, reported: 0 };
    for (const file of files) {
      const size = statSync(join(original, 'db', file)).size;
      for (let i = 0; i < 8; i++) {
        const path = join(folder, `db${file}${i}`);
        cpSync(join(original, 'db'), path, { recursive: true });
        const target = join(path, file);
        if (i === 0) rmSync(target);
        else if (i < 4) truncateSync(target, random.below(size));
        else {
          const content = readFileSync(target);
          content[random.below(size)]! ^= 1 << random.below(8);
          writeFileSync(target, content);
        }
        const what = await outcome(path);
        seen[what === 'same' ? 'same' : 'reported']++;
        if (what !== 'same') expect(what).toMatch(/is corrupt: .*(\d{6}|CURRENT).*-reindex/s);
        rmSync(path, { recursive: true });
      }
    }
    expect(seen.reported).toBeGreaterThan(files.length * 3);
    // Flipped bits have no effect in the file `durable` itself and in unused ends of files.
    expect(seen.same).toBeGreaterThan(0);
  });

  it('is truncated after a crash of the machine, behind the durable part', async () => {
    const path = join(folder, 'db');
    cpSync(join(original, 'db'), path, { recursive: true });
    // An invalid file `durable` is ignored and replaced.
    writeFileSync(join(path, 'durable'), Buffer.alloc(50, 7));
    const db = make(path);
    await db.open();
    const before = db.sequence;
    await noteDurable(path);
    await db.write([recordsOf([['z1', Buffer.alloc(3000, 1)]])], { sync: false });
    await db.write([recordsOf([['z2', Buffer.alloc(3000, 2)]])], { sync: false });
    await db.close();
    const log = readdirSync(path)
      .filter((file) => file.endsWith('.log'))
      .sort()
      .at(-1)!;
    const content = readFileSync(join(path, log));
    content[100]! ^= 1;
    writeFileSync(join(path, log), content);
    const again = make(path);
    await again.open();
    expect(await contentOf(again)).toEqual(rows);
    expect(again.sequence).toBe(before);
    await again.close();
  });

  it('is truncated where the rest of a long record is zeros, with and without a note', async () => {
    for (const isNoted of [true, false]) {
      const path = join(folder, `db${String(isNoted)}`);
      cpSync(join(original, 'db'), path, { recursive: true });
      const db = make(path);
      await db.open();
      await noteDurable(path);
      await db.write([recordsOf([['z1', Buffer.alloc(100_000, 1)]])], { sync: false });
      await db.close();
      const log = readdirSync(path)
        .filter((file) => file.endsWith('.log'))
        .sort()
        .at(-1)!;
      const content = readFileSync(join(path, log));
      content.fill(0, 32 << 10);
      writeFileSync(join(path, log), content);
      if (!isNoted) rmSync(join(path, 'durable'));
      const again = make(path);
      await again.open();
      expect(await contentOf(again)).toEqual(rows);
      await again.close();
    }
  });

  it('is reported by name if two tables of equal size are swapped', async () => {
    const path = join(folder, 'db');
    const db = make(path);
    await db.open();
    // Values that cannot be packed, so that every table has the same size.
    const random = new Random(17);
    for (let table = 0; table < 4; table++) {
      const content = Array.from({ length: 40 }, (_, i): RowChange => [
        `t${table}row${100 + i}`,
        random.bytes(500),
      ]);
      await db.write([recordsOf(content)], { sync: true });
      await db.compact(`t${table}`, `t${table}z`);
    }
    await noteDurable(path);
    await db.close();
    const tables = readdirSync(path).filter((name) => name.endsWith('.ldb'));
    const sizes = tables.map((name) => statSync(join(path, name)).size);
    const [one, other] = tables.filter((_, i) => sizes.filter((size) => size === sizes[i]).length > 1);
    const [first, second] = [one!, other!].map((name) => readFileSync(join(path, name)));
    expect(first!.equals(second!)).toBe(false);
    const whole = make(path);
    await whole.open();
    await whole.close();
    writeFileSync(join(path, one!), second!);
    writeFileSync(join(path, other!), first!);
    await expect(make(path).open()).rejects.toThrow(
      new RegExp(`(${one}|${other}) contains another table.*-reindex`),
    );
  });

  it('is reported by name if a folder is in place of a file', async () => {
    for (const file of [
      'CURRENT',
      readdirSync(join(original, 'db')).find((name) => name.endsWith('.log'))!,
    ]) {
      const path = join(folder, `db${file}`);
      cpSync(join(original, 'db'), path, { recursive: true });
      rmSync(join(path, file));
      mkdirSync(join(path, file));
      await expect(make(path).open()).rejects.toThrow(new RegExp(`${file} is a folder.*-reindex`));
    }
    const path = join(folder, 'db');
    cpSync(join(original, 'db'), path, { recursive: true });
    rmSync(join(path, 'durable'));
    mkdirSync(join(path, 'durable'));
    const db = make(path);
    await db.open();
    await noteDurable(path);
    expect(statSync(join(path, 'durable')).isFile()).toBe(true);
    await db.close();
  });
});
