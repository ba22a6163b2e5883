import { describe, expect, it } from 'vitest';
import type { ParsedBlock, ResolvedInputs } from '../../src/native/binding.js';
import { parseBlockFallback } from '../../src/primitives/blockScan.js';
import {
  formatOutPoint,
  formatTransaction,
  txid,
  type Transaction,
} from '../../src/primitives/transaction.js';
import {
  buildUndoFallback,
  formatCoinRow,
  parseUndo,
  resolvedFromUndo,
  resolvedFromUndoFallback,
} from '../../src/store/cache/coinRow.js';
import { CoinTableFallback } from '../../src/store/cache/coinTableFallback.js';
import type { CoinTable } from '../../src/store/cache/coinTable.js';
import { PREFIX } from '../../src/store/rows/keys.js';
import { changesOf } from '../../src/store/rows/rowRecords.js';
import { Random, addon, coinbaseTx, formatRawBlock, native, randomScript, randomTx } from './support.js';

/** Content of the database by key as latin1 text. */
type Database = Map<string, Buffer>;

/** An answer of the addon without `packed`, the memory of its tables. The fallback implementation lacks this memory. */
function withoutMemory(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || !('packed' in answer)) return answer;
  const { packed, ...tables } = answer;
  expect(packed).toBeInstanceOf(Buffer);
  return tables;
}

/** A native table and its fallback, each over its own database. All their answers must be equal. */
class Pair {
  readonly native: CoinTable = new (addon().CoinTable)();
  readonly fallback: CoinTable = new CoinTableFallback();
  readonly nativeDb: Database = new Map();
  readonly fallbackDb: Database = new Map();
  private loads = 0;

  both<T>(call: (table: CoinTable) => T): T {
    const expected = call(this.fallback);
    expect(withoutMemory(call(this.native))).toEqual(expected);
    return expected;
  }

  /** Expects that both throw. */
  bothThrow(call: (table: CoinTable) => unknown): void {
    expect(() => call(this.fallback)).toThrow();
    expect(() => call(this.native)).toThrow();
  }

  checkCounters(): void {
    expect(this.native.entryCount).toBe(this.fallback.entryCount);
    expect(this.native.dirtyCount).toBe(this.fallback.dirtyCount);
    expect(this.native.dirtyBytes).toBe(this.fallback.dirtyBytes);
  }

  loadMissing(block: Buffer, parsed: ParsedBlock, checkOutputs: boolean): void {
    const keys = this.both((table) => table.missing(block, parsed, checkOutputs));
    const values = Array.from({ length: keys.length / 36 }, (_, i) =>
      this.fallbackDb.get(keys.toString('latin1', i * 36, i * 36 + 36)),
    );
    if (this.loads++ % 2 === 0) {
      this.both((table) => table.load(keys, values));
      return;
    }
    this.fallback.load(keys, values);
    const rows = new (addon().Memtable)();
    for (const [key, row] of this.nativeDb) rows.set(PREFIX.coin + key, row);
    // Without time the addon loads one coin a call.
    const micros = this.loads % 4 === 0 ? 0 : 1_000_000;
    const load = (): Buffer | null =>
      this.native.loadFrom!(block, parsed, checkOutputs, rows, null, micros, micros);
    for (let left = load(); left !== null; left = load())
      expect(keys.subarray(-left.length).equals(left) && left.length < keys.length).toBe(true);
    expect(this.native.missing(block, parsed, checkOutputs)).toHaveLength(0);
  }

  /** Flushes all entries, or up to `maxBytes`. With a finite limit, the two implementations select different entries. */
  flush(): void {
    for (const [table, db] of [
      [this.native, this.nativeDb],
      [this.fallback, this.fallbackDb],
    ] as const) {
      for (let records = table.takeDirty(3000); records; records = table.takeDirty(3000))
        applyRecords(db, records);
      expect(table.dirtyCount).toBe(0);
      expect(table.dirtyBytes).toBe(0);
    }
    expectSame(this.nativeDb, this.fallbackDb);
  }
}

function applyRecords(db: Database, records: Buffer): void {
  for (const [key, row] of changesOf(records)) {
    expect(key[0]).toBe(PREFIX.coin.charCodeAt(0));
    const outpoint = key.toString('latin1', 1);
    // Coinbase outputs are never fresh, so one may be deleted that the database has never seen.
    if (row === null) db.delete(outpoint);
    else db.set(outpoint, Buffer.from(row));
  }
}

function expectSame(a: Database, b: Database): void {
  expect(a.size).toBe(b.size);
  for (const [key, row] of a) if (!b.get(key)?.equals(row)) expect.fail('the databases differ');
}

/** Both implementations refuse undo data that is truncated, or that has an extra or a missing record. */
function expectRefusedUndo(parsed: ParsedBlock, undo: Buffer): void {
  const record = Buffer.concat([Buffer.alloc(15), Buffer.of(0)]);
  const wrong: Buffer[] = [Buffer.concat([undo, record]), Buffer.concat([undo, record.subarray(1)])];
  if (undo.length > 0) wrong.push(undo.subarray(0, -1), undo.subarray(16 + undo.readUInt32LE(12)));
  for (const bytes of wrong) {
    expect(addon().resolvedFromUndo(parsed, bytes)).toBeNull();
    expect(() => resolvedFromUndo(parsed, bytes)).toThrow();
  }
}

interface OutPointOf {
  hash: Buffer;
  index: number;
}

/** Generates random blocks over a growing set of coins: valid blocks, and blocks with double spends and unknown coins. */
class BlockMaker {
  readonly random: Random;
  coins: OutPointOf[] = [];

  constructor(seed: number) {
    this.random = new Random(seed);
  }

  private take(valid: boolean): OutPointOf | null {
    if (!valid && this.random.chance(4)) return { hash: this.random.bytes(32), index: this.random.below(3) };
    if (this.coins.length === 0) return null;
    const at = this.random.below(this.coins.length);
    const coin = this.coins[at]!;
    // An invalid block may spend a coin twice.
    if (valid || this.random.chance(2)) this.coins.splice(at, 1);
    return coin;
  }

  private keep(tx: Transaction, valid: boolean): void {
    const hash = txid(tx);
    tx.outputs.forEach((output, index) => {
      const unspendable = output.script[0] === 0x6a || output.script.length > 20005;
      if (!unspendable || !valid) this.coins.push({ hash, index });
    });
  }

  make(txCount: number, valid: boolean): Buffer {
    const coinbase = coinbaseTx(this.random);
    const txs = [coinbase];
    const late: Transaction[] = [];
    while (txs.length < txCount) {
      const inputs: OutPointOf[] = [];
      for (let i = 1 + this.random.below(3); i > 0; i--) {
        const coin = this.take(valid);
        if (coin) inputs.push(coin);
      }
      if (inputs.length === 0) break;
      const tx = randomTx(this.random, {
        inputs,
        outputs: 1 + this.random.below(4),
        witness: this.random.chance(2),
      });
      txs.push(tx);
      if (valid || this.random.chance(2)) this.keep(tx, valid);
      else late.push(tx);
      // An invalid block may spend an output of a later transaction, or contain a transaction twice.
      if (!valid && this.random.chance(6)) txs.splice(1, 0, txs[this.random.below(txs.length)]!);
    }
    for (const tx of [coinbase, ...late]) this.keep(tx, valid);
    return formatRawBlock(
      this.random,
      txs.map((tx) => formatTransaction(tx)),
    );
  }
}

describe.skipIf(!native)('native coin table against the fallback', () => {
  it('answers single operations alike', () => {
    const random = new Random(30);
    const pair = new Pair();
    const keys = Array.from({ length: 60 }, () =>
      formatOutPoint({ hash: random.bytes(32), index: random.below(4) }),
    );
    for (let step = 0; step < 20_000; step++) {
      const key = random.pick(keys);
      const coin = { heightCode: random.u32(), amount: random.amount(), script: randomScript(random) };
      switch (random.below(7)) {
        case 0:
          pair.both((table) => table.spend(key));
          break;
        case 1:
        case 2: {
          const overwrite = random.chance(3);
          const outcomes = [pair.fallback, pair.native].map((table) => {
            try {
              table.add(key, coin, overwrite);
              return 'added';
            } catch {
              return 'refused';
            }
          });
          expect(outcomes[1]).toBe(outcomes[0]);
          break;
        }
        case 3: {
          // Rows are only loaded for keys that the table does not have.
          const row =
            pair.fallback.get(key) === undefined ? pair.fallbackDb.get(key.toString('latin1')) : undefined;
          if (pair.fallback.get(key) === undefined) pair.both((table) => table.load(key, [row]));
          break;
        }
        case 4:
          if (random.chance(40)) pair.flush();
          break;
        case 5:
          if (random.chance(40)) pair.both((table) => table.trim(0));
          break;
        default:
          pair.both((table) => table.get(key));
      }
      pair.checkCounters();
    }
    pair.both((table) => table.clear());
    expect(pair.native.usageBytes).toBe(0);
    pair.checkCounters();
  });

  it('connects and disconnects chains of blocks alike, with flushes and evictions on the way', () => {
    for (let seed = 40; seed < 46; seed++) {
      const maker = new BlockMaker(seed);
      const pair = new Pair();
      const stack: {
        block: Buffer;
        parsed: ParsedBlock;
        undo: Buffer;
        before: Map<string, Buffer>;
        coins: OutPointOf[];
      }[] = [];
      for (let step = 0; step < 60; step++) {
        if (stack.length > 0 && maker.random.chance(4)) {
          const { block, parsed, undo, before, coins } = stack.pop()!;
          pair.loadMissing(block, parsed, true);
          expect(pair.both((table) => table.revert(block, parsed, undo, stack.length + 1))).toBe('ok');
          maker.coins = coins;
          pair.flush();
          expectSame(pair.fallbackDb, before);
        } else {
          const height = stack.length + 1;
          pair.flush();
          const before = new Map(pair.fallbackDb);
          const coins = maker.coins.slice();
          const block = maker.make(1 + maker.random.below(20), true);
          const parsed = parseBlockFallback(block);
          const checkOutputs = maker.random.chance(2);
          pair.loadMissing(block, parsed, checkOutputs);
          const resolved = pair.both((table) => table.resolve(block, parsed, height, checkOutputs));
          expect(resolved.status.every((status) => status === 0)).toBe(true);
          const undo = buildUndoFallback(parsed, resolved);
          expect(addon().buildUndo(parsed, resolved).equals(undo)).toBe(true);
          const packed = addon().parseBlock(block);
          const packedInputs = pair.native.resolve(block, packed, height, checkOutputs);
          expect(addon().buildUndo(packed, packedInputs).equals(undo)).toBe(true);
          const expected = { ...resolved, duplicates: new Uint32Array(0) };
          expect(resolvedFromUndoFallback(parsed, undo)).toEqual(expected);
          for (const tables of [parsed, packed])
            expect({ ...resolvedFromUndo(tables, undo), packed: undefined }).toEqual(expected);
          expectRefusedUndo(parsed, undo);
          pair.both((table) => table.apply(block, parsed, height));
          stack.push({ block, parsed, undo, before, coins });
        }
        pair.checkCounters();
        if (maker.random.chance(3)) pair.flush();
        if (maker.random.chance(3)) pair.both((table) => table.trim(0));
        pair.checkCounters();
      }
    }
  });

  it('resolves invalid blocks alike: double spends, unknown coins, wrong order, repeated transactions', () => {
    let missing = 0;
    for (let seed = 50; seed < 110; seed++) {
      const maker = new BlockMaker(seed);
      const pair = new Pair();
      const first = maker.make(1, true);
      const start = parseBlockFallback(first);
      pair.both((table) => table.apply(first, start, 1));
      const block = maker.make(15, false);
      const parsed = parseBlockFallback(block);
      for (const loaded of [false, true]) {
        if (loaded) pair.loadMissing(block, parsed, true);
        const resolved = pair.both((table) => table.resolve(block, parsed, 2));
        pair.both((table) => table.resolve(block, parsed, 2, false));
        missing += resolved.status.filter((status) => status === 1).length;
        // Reading leaves no trace.
        expect(pair.both((table) => table.resolve(block, parsed, 2))).toEqual(resolved);
        if (resolved.status.includes(1)) pair.bothThrow((table) => undoOf(table, parsed, resolved));
      }
      pair.checkCounters();
    }
    expect(missing).toBeGreaterThan(100);
  });

  it('reports outputs that exist already (BIP30)', () => {
    const maker = new BlockMaker(60);
    const pair = new Pair();
    const block = maker.make(1, true);
    const parsed = parseBlockFallback(block);
    pair.both((table) => table.apply(block, parsed, 1));
    const again = pair.both((table) => table.resolve(block, parsed, 2));
    const spendable = maker.coins.length > 0;
    expect(again.duplicates.length).toBe(spendable ? 1 : 0);
    expect(pair.both((table) => table.resolve(block, parsed, 2, false)).duplicates.length).toBe(0);
    pair.both((table) => table.apply(block, parsed, 2));
    expect(spendable).toBe(true);
  });

  it('reports an unclean undo if the table was changed after the block', () => {
    for (const corrupt of ['spent', 'changed', 'restored', 'height'] as const) {
      const maker = new BlockMaker(70);
      const pair = new Pair();
      const first = maker.make(1, true);
      const firstParsed = parseBlockFallback(first);
      pair.both((table) => table.apply(first, firstParsed, 1));
      const spentCoin = maker.coins[0]!;
      maker.coins = [spentCoin];
      const block = maker.make(2, true);
      const parsed = parseBlockFallback(block);
      const resolved = pair.both((table) => table.resolve(block, parsed, 2));
      const undo = buildUndoFallback(parsed, resolved);
      expect(parseUndo(undo).length).toBe(1);
      pair.both((table) => table.apply(block, parsed, 2));
      const made = formatOutPoint(maker.coins[0]!);
      const coin = { heightCode: 9, amount: 5n, script: Buffer.of(0x51) };
      if (corrupt === 'spent') pair.both((table) => table.spend(made));
      if (corrupt === 'changed') pair.both((table) => table.add(made, coin, true));
      if (corrupt === 'restored') pair.both((table) => table.add(formatOutPoint(spentCoin), coin, false));
      pair.loadMissing(block, parsed, true);
      const height = corrupt === 'height' ? 3 : 2;
      expect(pair.both((table) => table.revert(block, parsed, undo, height))).toBe('unclean');
      pair.checkCounters();
    }
  });

  it('refuses arguments that do not match each other', () => {
    const maker = new BlockMaker(80);
    const pair = new Pair();
    const block = maker.make(3, true);
    const parsed = parseBlockFallback(block);
    pair.both((table) => table.apply(block, parsed, 1));
    const next = maker.make(3, true);
    const nextParsed = parseBlockFallback(next);
    pair.bothThrow((table) => table.revert(next, nextParsed, Buffer.alloc(0), 2));
    pair.bothThrow((table) => table.load(Buffer.alloc(36), []));
    pair.bothThrow((table) => table.load(Buffer.alloc(36), [Buffer.alloc(11)]));
    expect(() => pair.native.resolve(block.subarray(0, 200), parsed, 1)).toThrow(/does not belong/);
    const whole = addon().parseBlock(block);
    const cut = { ...whole, packed: whole.packed!.subarray(0, -1) };
    expect(() => pair.native.resolve(block, cut, 1)).toThrow(/does not belong/);
    const resolved = pair.native.resolve(block, whole, 1);
    const cutInputs = { ...resolved, packed: resolved.packed!.subarray(0, -1) };
    expect(() => addon().buildUndo(whole, cutInputs)).toThrow(/do not belong/);
    expect(() => addon().buildUndo(addon().parseBlock(next), resolved)).toThrow(/do not belong/);
    expect(() => pair.native.get(Buffer.alloc(35))).toThrow(TypeError);
  });

  it('keeps its size limits and evicts only clean entries', () => {
    const random = new Random(90);
    const table = new (addon().CoinTable)();
    const count = 50_000;
    const keys: Buffer[] = [];
    for (let i = 0; i < count; i++) {
      const key = formatOutPoint({ hash: random.bytes(32), index: 0 });
      keys.push(key);
      const script = Buffer.concat([Buffer.of(0x76, 0xa9, 20), random.bytes(20), Buffer.of(0x88, 0xac)]);
      if (i % 2) table.add(key, { heightCode: i, amount: BigInt(i), script }, false);
      else table.load(key, [formatCoinRow({ heightCode: i, amount: BigInt(i), script })]);
    }
    expect(table.entryCount).toBe(count);
    expect(table.usageBytes / count).toBeLessThan(90);
    table.trim(0);
    expect(table.entryCount).toBe(count / 2);
    expect(table.get(keys[0]!)).toBeUndefined();
    expect(table.get(keys[1]!)!.amount).toBe(1n);
    const before = table.usageBytes;
    table.trim(before - 1);
    expect(table.usageBytes).toBe(before);
    for (let records = table.takeDirty(100_000); records; records = table.takeDirty(100_000)) {
      expect(records.length).toBeLessThanOrEqual(100_000);
    }
    table.trim(before / 2);
    expect(table.usageBytes).toBeLessThanOrEqual(before / 2);
    expect(table.usageBytes).toBeGreaterThan(before / 2 - 1000);
    // A record that is larger than the limit is returned alone.
    table.add(keys[1]!, { heightCode: 1, amount: 1n, script: Buffer.alloc(500, 0x51) }, true);
    expect(table.takeDirty(10)!.length).toBe(557);
    expect(table.takeDirty(10)).toBeNull();
  });
});

function undoOf(table: CoinTable, parsed: ParsedBlock, resolved: ResolvedInputs): Buffer {
  return table instanceof CoinTableFallback
    ? buildUndoFallback(parsed, resolved)
    : addon().buildUndo(parsed, resolved);
}
