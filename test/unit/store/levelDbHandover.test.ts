/**
 * The addon and the package use the same folder in turn. With the addon, bytes that are corrupted while the database is open
 * never appear in an answer or in a merged table.
 */
import {
  closeSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadNative } from '../../../src/native/binding.js';
import { noteDurable } from '../../../src/store/leveldb/databaseCheck.js';
import { DatabaseCorruptionError, type LevelDb } from '../../../src/store/leveldb/levelDb.js';
import { PackageLevelDb } from '../../../src/store/leveldb/packageLevelDb.js';
import { NativeLevelDb } from '../../../src/store/leveldb/nativeLevelDb.js';
import { RecordWriter } from '../../../src/store/rows/rowRecords.js';
import { Random } from '../../differential/support.js';

/** The full size is for `npm run test:full`. */
const ROUNDS = process.env['LBCNODE_FULL'] === '1' ? 8 : 4;
const options = { cacheBytes: 16 << 10, writeBufferBytes: 64 << 10 };
const native = loadNative();
const makers: [string, (path: string) => LevelDb][] = [
  ['classic-level', (path) => new PackageLevelDb(path, options)],
];
if (native) makers.push(['addon', (path) => new NativeLevelDb(native, path, options)]);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'leveldb-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

type Model = Map<string, Buffer>;

/** A batch of random changes, which are applied to the model too. */
function batch(random: Random, model: Model): Buffer {
  const writer = new RecordWriter();
  for (let n = 1 + random.below(300); n > 0; n--) {
    const kind = String.fromCharCode(97 + random.below(3));
    const key = random.below(9) === 0 ? `${kind}\xff\0` : `${kind}${random.below(3000)}`;
    if (random.below(4) === 0) {
      model.delete(key);
      writer.add(key, null);
      continue;
    }
    // Some values can be compressed, some are empty, and some are longer than a block.
    const value = random.below(3) === 0 ? Buffer.alloc(random.below(400), 7) : random.bytes(random.below(90));
    const row = random.below(150) === 0 ? random.bytes(9000) : value;
    model.set(key, row);
    writer.add(key, row);
  }
  return Buffer.from(writer.take());
}

async function contentOf(db: LevelDb, reverse = false): Promise<Model> {
  const rows: Model = new Map();
  for await (const [key, value] of db.iterate({ gte: '', lt: '\xff\xff', reverse })) rows.set(key, value);
  return rows;
}

const inOrder = (model: Model): [string, Buffer][] =>
  [...model].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

const inText = (rows: Iterable<readonly [string, Buffer | undefined]>): string =>
  [...rows].map(([key, value]) => `${key}=${value?.toString('latin1') ?? 'none'}`).join('\n');

/** Compares texts, because the test library takes seconds to compare many buffers. */
async function expectContent(db: LevelDb, model: Model): Promise<void> {
  const rows = inOrder(model);
  expect(inText(await contentOf(db)) === inText(rows)).toBe(true);
  expect(inText(await contentOf(db, true)) === inText(rows.reverse())).toBe(true);
  const keys = [...model.keys(), 'a', 'b99999', '', '\xff'];
  const found = await db.getMany(keys, false);
  const wanted = keys.map((key) => [key, model.get(key)] as const);
  expect(inText(keys.map((key, i) => [key, found[i]] as const)) === inText(wanted)).toBe(true);
}

describe('a database that several implementations open in turn', () => {
  it('has the same rows for all', async () => {
    const random = new Random(2026);
    const path = join(folder, 'db');
    const model: Model = new Map();
    for (let round = 0; round < ROUNDS; round++) {
      const db = makers[round % makers.length]![1](path);
      await db.open();
      await expectContent(db, model);
      for (let n = 0; n < 9; n++) {
        await db.write([batch(random, model), batch(random, model)], { sync: n % 5 === 0 });
        if (n % 5 !== 4) continue;
        const [gte, lt] = [`b${random.below(2000)}`, `b${2000 + random.below(900)}`];
        await db.deleteRange(gte, lt);
        for (const key of model.keys()) if (key >= gte && key < lt) model.delete(key);
      }
      if (round % 4 === 3) await db.compact('\0', '\xff');
      await expectContent(db, model);
      if (round % 2 === 0) await noteDurable(path);
      await db.close();
    }
  });
});

describe.skipIf(!native)('corruption of tables of a database that the addon has open', () => {
  const make = (path: string): LevelDb => new NativeLevelDb(native!, path, options);

  it('is reported, and returns neither a row nor a missing row', async () => {
    const random = new Random(31);
    let reported = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const path = join(folder, `db${round}`);
      const model: Model = new Map();
      let db = make(path);
      await db.open();
      for (let n = 0; n < 24; n++) await db.write([batch(random, model)], { sync: false });
      await noteDurable(path);
      await db.close();
      db = make(path);
      await db.open();
      const tables = readdirSync(path).filter((name) => name.endsWith('.ldb'));
      for (const name of tables.sort().slice(0, 1 + random.below(3))) flip(join(path, name), random);
      const corruptions = [
        () => expectContent(db, model),
        () => db.compact('\0', '\xff'),
        () => expectContent(db, model),
      ];
      for (const step of corruptions) if (await isCorruption(step)) reported++;
      await db.close();
      const again = make(path);
      const isRefused = await isCorruption(async () => {
        await again.open();
        await expectContent(again, model);
      });
      if (isRefused) reported++;
      await again.close();
    }
    expect(reported).toBeGreaterThan(ROUNDS);
  }, 60_000);
});

/** Flips a random bit of a file. */
function flip(path: string, random: Random): void {
  const fd = openSync(path, 'r+');
  const at = random.below(fstatSync(fd).size);
  const byte = Buffer.alloc(1);
  readSync(fd, byte, 0, 1, at);
  byte[0]! ^= 1 << random.below(8);
  writeSync(fd, byte, 0, 1, at);
  closeSync(fd);
}

/** Whether a step ends in the message for the operator; any other error is thrown. */
async function isCorruption(step: () => Promise<void>): Promise<boolean> {
  try {
    await step();
    return false;
  } catch (error) {
    if (!(error instanceof DatabaseCorruptionError)) throw error;
    expect(error.message).toMatch(/is corrupt: .*\d{6}\.ldb.*-reindex/s);
    return true;
  }
}
