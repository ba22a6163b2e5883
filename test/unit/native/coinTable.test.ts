import { describe, expect, it } from 'vitest';
import {
  buildUndo,
  buildUndoFallback,
  formatCoinRow,
  parseCoinRow,
  parseUndo,
} from '../../../src/store/cache/coinRow.js';
import type { CoinTable, CoinValue } from '../../../src/store/cache/coinTable.js';
import { CoinTableFallback } from '../../../src/store/cache/coinTableFallback.js';
import { createCoinTable } from '../../../src/store/cache/createCoinTable.js';
import { PREFIX } from '../../../src/store/rows/keys.js';
import { changesOf } from '../../../src/store/rows/rowRecords.js';
import { parseBlockView } from '../../../src/primitives/blockView.js';
import { ReadError } from '../../../src/util/reader.js';
import { Random, randomBlock } from '../../differential/support.js';

/** Compares the table with a map of coins, and the flushed records with a map of the database. */
function playAgainstModel(table: CoinTable, seed: number): void {
  const random = new Random(seed);
  const keys = Array.from({ length: 40 }, () => random.bytes(36));
  const model = new Map<string, CoinValue>();
  const database = new Map<string, CoinValue>();
  const known = (key: Buffer) => {
    // As in the chain, coins that the table does not have are first read from the database.
    if (table.get(key) !== undefined) return;
    const stored = database.get(key.toString('hex'));
    table.load(key, [stored && formatCoinRow(stored)]);
  };
  for (let step = 0; step < 4000; step++) {
    const key = random.pick(keys);
    const name = key.toString('hex');
    known(key);
    const expected = model.get(name) ?? null;
    expect(table.get(key)).toEqual(expected);
    if (expected) {
      if (random.chance(2)) {
        expect(table.spend(key)).toBe(true);
        model.delete(name);
      } else {
        expect(() => table.add(key, expected, false)).toThrow();
      }
    } else {
      expect(table.spend(key)).toBe(false);
      const coin = {
        heightCode: random.u32(),
        amount: random.amount(),
        script: random.bytes(random.below(60)),
      };
      if (coin.script[0] === 0x6a) coin.script[0] = 0x51;
      table.add(key, coin, random.chance(2));
      model.set(name, coin);
    }
    if (random.chance(50)) {
      for (let records = table.takeDirty(500); records; records = table.takeDirty(500)) {
        for (const [recordKey, row] of changesOf(records)) {
          const outpoint = recordKey.toString('hex', 1);
          if (row === null) database.delete(outpoint);
          else database.set(outpoint, parseCoinRow(row));
        }
      }
      expect(database).toEqual(model);
      expect(table.dirtyCount).toBe(0);
    }
    if (random.chance(50)) table.trim(0);
  }
}

describe('coin table', () => {
  it('keeps the coins over flushes and evictions (fallback)', () =>
    playAgainstModel(new CoinTableFallback(), 1));
  it('keeps the coins over flushes and evictions (as configured)', () =>
    playAgainstModel(createCoinTable(), 2));

  it('ignores unspendable outputs', () => {
    const table = createCoinTable();
    const key = Buffer.alloc(36, 1);
    table.add(key, { heightCode: 2, amount: 1n, script: Buffer.of(0x6a, 1, 2) }, false);
    table.add(key, { heightCode: 2, amount: 1n, script: Buffer.alloc(20006, 0x51) }, false);
    expect(table.get(key)).toBeUndefined();
    table.add(key, { heightCode: 2, amount: 1n, script: Buffer.alloc(20005, 0x51) }, false);
    expect(table.get(key)!.script.length).toBe(20005);
  });

  it('removes a coin that is not in the database, and leaves a tombstone for one that is', () => {
    const table = createCoinTable();
    const fresh = Buffer.alloc(36, 1);
    const stored = Buffer.alloc(36, 2);
    const coin = { heightCode: 2, amount: 1n, script: Buffer.of(0x51) };
    table.add(fresh, coin, false);
    table.load(stored, [formatCoinRow(coin)]);
    table.spend(fresh);
    table.spend(stored);
    expect(table.get(fresh)).toBeUndefined();
    expect(table.get(stored)).toBeNull();
    const records = table.takeDirty(1000)!;
    expect([...changesOf(records)]).toEqual([[Buffer.concat([Buffer.from(PREFIX.coin), stored]), null]]);
    expect(table.entryCount).toBe(0);
  });
});

describe('coin rows and undo blobs', () => {
  it('round-trip', () => {
    const coin = {
      heightCode: 0xfffffffe,
      amount: 400_000_000n * 100_000_000n,
      script: Buffer.from('76a9', 'hex'),
    };
    expect(parseCoinRow(formatCoinRow(coin))).toEqual(coin);
    expect(() => parseCoinRow(Buffer.alloc(11))).toThrow(ReadError);
  });

  it('keep the spent coins of a block in the order of its inputs', () => {
    const random = new Random(3);
    const block = randomBlock(random, 6);
    const parsed = parseBlockView(block);
    const table = createCoinTable();
    const missing = table.missing(block, parsed, false);
    const coins = Array.from({ length: missing.length / 36 }, (_, i) => ({
      heightCode: 2 * i,
      amount: random.amount(),
      script: random.bytes(i * 3),
    }));
    table.load(missing, coins.map(formatCoinRow));
    const resolved = table.resolve(block, parsed, 9);
    const undo = buildUndo(parsed, resolved);
    expect(parseUndo(undo)).toEqual(coins);
    expect(buildUndoFallback(parsed, resolved)).toEqual(undo);
    expect(() => parseUndo(undo.subarray(0, -1))).toThrow(ReadError);
    expect(() => parseUndo(Buffer.concat([undo, Buffer.alloc(15)]))).toThrow(ReadError);
  });
});
