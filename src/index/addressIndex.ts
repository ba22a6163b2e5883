/**
 * The address index (`-addressindex`): for each script its transactions, its unspent outputs, and sums. Once it is filled up
 * to the tip, its rows are written in the commit of each block, and reverted when the block is disconnected. Its rows have
 * the prefixes `A`, `U` and `S` (`addressRows.ts`). The addon builds the rows of a block in one call. For a large block this
 * call runs on another thread, while the scripts of the block are verified. The stored sums of each script are added to those
 * of the block, by the same call if they can be read in a short time.
 */
import type { BegunBlock } from '../chain/connect/contributor.js';
import type { LoadedBlock } from '../chain/blocks/loadedBlock.js';
import {
  loadNative,
  type NativeAddon,
  type NativeAddressRows,
  type ParsedBlock,
  type ResolvedInputs,
} from '../native/binding.js';
import { INPUT_STRIDE, OUTPUT_STRIDE } from '../primitives/blockLayout.js';
import { READ_NOW_MICROS, SLOW_ROW_MICROS } from '../store/leveldb/levelDb.js';
import { PREFIX } from '../store/rows/keys.js';
import { PackedValues } from '../store/rows/rowRecords.js';
import type { RowTransaction } from '../store/rows/rows.js';
import { yieldIfDue } from '../scheduler/yield.js';
import { asBuffer } from '../util/bytes.js';
import { whenResolved, type MaybePromise } from '../util/maybePromise.js';
import { SCRIPT_KEY_BYTES } from './addressScripts.js';
import { BlockWalk, spentBy, spentInUndo } from './addressWalk.js';
import type { ChainIndex } from './chainIndex.js';

/**
 * Minimum number of inputs and outputs of a block whose rows are built on another thread. For fewer, the transfer takes
 * longer than building the rows.
 */
const ROWS_ASIDE = 1000;
/** The size of the row transaction is checked only after a block whose rows have at least this size in bytes. */
const SMALL_BYTES = 64 << 10;
/** Number of scripts whose stored sums are read in one call. Arbitrary: about a millisecond of work. */
const SUMS_AT_ONCE = 4000;
/**
 * Sizes of the parts of a record with sums in `NativeAddressRows.records`: bytes before the script key (`HEAD_BYTES`), and bytes of the
 * sums after it (`SUMS_BYTES`).
 */
const HEAD_BYTES = 8;
const SUMS_BYTES = 28;
const ALL_PREFIXES = PREFIX.addressHistory + PREFIX.addressUnspent + PREFIX.addressTotals;
const KEY_BYTES = PREFIX.addressTotals.length + SCRIPT_KEY_BYTES;
const TOTALS_BYTES = HEAD_BYTES + KEY_BYTES + SUMS_BYTES;

/** Receives the places of `NativeAddon.addressRows`. */
const places = new Uint32Array(2);

/**
 * Cache of the records with sums that were built for blocks still in memory. A search for scripts in these blocks uses it
 * instead of hashing the scripts again.
 */
const madeOf = new WeakMap<ParsedBlock, Buffer>();

/**
 * Distinct keys of the scripts that a block paid to or spent from; null if this process has not built the index rows of the
 * block.
 */
export function touchedKeys(parsed: ParsedBlock): Iterable<string> | null {
  const totals = madeOf.get(parsed);
  return totals === undefined ? null : scriptKeysOf(totals);
}

function* scriptKeysOf(totals: Buffer): Generator<string> {
  for (const key of rowKeysOf(totals)) yield key.slice(PREFIX.addressTotals.length);
}

function* rowKeysOf(totals: Buffer): Generator<string> {
  for (let at = HEAD_BYTES; at < totals.length; at += TOTALS_BYTES)
    yield totals.toString('latin1', at, at + KEY_BYTES);
}

function begin(
  rows: RowTransaction,
  block: LoadedBlock,
  height: number,
  resolved: ResolvedInputs,
): BegunBlock | null {
  const native = loadNative();
  const { inputs, outputs } = block.parsed;
  if (native === null || inputs.length / INPUT_STRIDE + outputs.length / OUTPUT_STRIDE < ROWS_ASIDE)
    return null;
  const made = makeAside(native, rows, block, height, resolved);
  return {
    settled: made.then(
      () => undefined,
      () => undefined,
    ),
    finish: async () => put(rows, block, await made),
  };
}

async function makeAside(
  native: NativeAddon,
  rows: RowTransaction,
  { raw, parsed }: LoadedBlock,
  height: number,
  resolved: ResolvedInputs,
): Promise<NativeAddressRows> {
  const made = await native.addressRowsAside(raw, parsed, resolved, height);
  await addStored(rows, made.records.subarray(made.totalsAt));
  return made;
}

function put(
  rows: RowTransaction,
  { parsed }: LoadedBlock,
  { records, totalsAt }: NativeAddressRows,
): MaybePromise<void> {
  rows.putRecords(ALL_PREFIXES, records);
  madeOf.set(parsed, records.subarray(totalsAt));
  return records.length < SMALL_BYTES ? undefined : rows.relieve();
}

function connect(
  rows: RowTransaction,
  block: LoadedBlock,
  height: number,
  resolved: ResolvedInputs,
): MaybePromise<void> {
  const native = loadNative();
  if (native === null) return new BlockWalk(rows, block, height, spentBy(resolved), true).run();
  const begun = begin(rows, block, height, resolved);
  return begun === null ? connectHere(native, rows, block, height, resolved) : begun.finish();
}

/** Builds and adds the rows of a block on this thread. */
function connectHere(
  native: NativeAddon,
  rows: RowTransaction,
  block: LoadedBlock,
  height: number,
  resolved: ResolvedInputs,
): MaybePromise<void> {
  const source = rows.sourceOf?.(PREFIX.addressTotals) ?? null;
  const records = native.addressRows(
    block.raw,
    block.parsed,
    resolved,
    height,
    source && source.overlay,
    source && source.database,
    READ_NOW_MICROS,
    SLOW_ROW_MICROS,
    places,
  );
  const [totalsAt, unreadAt] = [places[0]!, places[1]!];
  const made = { records, totalsAt };
  if (unreadAt === records.length) return put(rows, block, made);
  return whenResolved(addStored(rows, records.subarray(unreadAt)), () => put(rows, block, made));
}

/** Adds the stored sums to `totals`, in place. The row transaction must not contain new values of the sums yet. */
function addStored(rows: RowTransaction, totals: Buffer): MaybePromise<void> {
  if (totals.length > SUMS_AT_ONCE * TOTALS_BYTES) return addInParts(rows, totals);
  const packed = rows.formerValues?.(totals);
  return packed ? whenResolved(packed, (values) => addPacked(totals, values)) : addRows(rows, totals);
}

async function addInParts(rows: RowTransaction, totals: Buffer): Promise<void> {
  let since = performance.now();
  for (let from = 0; from < totals.length; from += SUMS_AT_ONCE * TOTALS_BYTES) {
    const part = totals.subarray(from, from + SUMS_AT_ONCE * TOTALS_BYTES);
    await addStored(rows, part);
    since = await yieldIfDue(since);
  }
}

function addPacked(totals: Buffer, packed: Buffer): void {
  const values = new PackedValues(packed);
  for (let at = HEAD_BYTES + KEY_BYTES; at < totals.length; at += TOTALS_BYTES) {
    values.next();
    if (values.length === SUMS_BYTES) addSums(totals, at, packed, values.start);
  }
}

async function addRows(rows: RowTransaction, totals: Buffer): Promise<void> {
  const stored = await rows.getMany([...rowKeysOf(totals)]);
  stored.forEach((row, i) => {
    if (row) addSums(totals, i * TOTALS_BYTES + HEAD_BYTES + KEY_BYTES, asBuffer(row), 0);
  });
}

/** Adds the stored sums of a script to the sums of a block, in place. */
function addSums(sums: Buffer, at: number, stored: Buffer, from: number): void {
  addAmount(sums, at, stored, from);
  addAmount(sums, at + 8, stored, from + 8);
  for (let n = 16; n < SUMS_BYTES; n += 4)
    sums.writeUInt32LE(sums.readUInt32LE(at + n) + stored.readUInt32LE(from + n), at + n);
}

/** Adds a 64-bit number to another, in place, in two 32-bit halves. A bigint for each number would create garbage. */
function addAmount(sums: Buffer, at: number, stored: Buffer, from: number): void {
  const low = sums.readUInt32LE(at) + stored.readUInt32LE(from);
  const carry = low > 0xffffffff ? 1 : 0;
  sums.writeUInt32LE(low >>> 0, at);
  sums.writeInt32LE((sums.readInt32LE(at + 4) + stored.readInt32LE(from + 4) + carry) | 0, at + 4);
}

export const addressIndex: ChainIndex = {
  name: 'addressindex',
  version: 2,
  prefixes: [PREFIX.addressHistory, PREFIX.addressUnspent, PREFIX.addressTotals],
  begin,
  connect,
  disconnect: (rows, block, height, undo) =>
    new BlockWalk(rows, block, height, spentInUndo(undo, block), false).run(),
};
