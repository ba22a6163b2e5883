/**
 * The address index (`-addressindex`): which transactions touched a script, what of it is unspent, and the sums. Written
 * in the commit of each block and taken back with it, once it has been filled up to the tip. Owns the rows of the
 * prefixes `A`, `U` and `S` (`addressRows.ts`). The addon makes them of a block in one call, of a large one on another
 * thread; only sums, to which stored ones are added, are read here.
 */
import type { LoadedBlock } from '../chain/loadedBlock.js';
import {
  loadNative,
  type NativeAddressRows,
  type ParsedBlock,
  type ResolvedInputs,
} from '../native/binding.js';
import { INPUT_STRIDE, OUTPUT_STRIDE } from '../primitives/blockLayout.js';
import { PREFIX } from '../store/keys.js';
import { RecordWriter } from '../store/rowRecords.js';
import type { RowTransaction } from '../store/rows.js';
import { breathe } from '../util/breathe.js';
import { asBuffer, type Bytes } from '../util/bytes.js';
import { totalsKey } from './addressRows.js';
import { SCRIPT_KEY_BYTES } from './addressScripts.js';
import { BlockWalk, spentBy, spentInUndo } from './addressWalk.js';
import type { ChainIndex } from './chainIndex.js';

/** Inputs and outputs of a block from which on its rows are made on another thread: a millisecond or so. */
const ROWS_ASIDE = 2000;
/** Scripts whose sums are read at once. Arbitrary. */
const SUMS_AT_ONCE = 2000;
/** Of a script in `NativeAddressRows.totals`: behind the key it is the value of its row. */
const TOTALS_BYTES = SCRIPT_KEY_BYTES + 20;

/** What was made of blocks that are still at hand: whoever looks for scripts in them need not hash these again. */
const madeOf = new WeakMap<ParsedBlock, Buffer>();

/** Keys of the scripts that a block paid to or spent from, each once; null when the index has not made its rows here. */
export function touchedKeys(parsed: ParsedBlock): Iterable<string> | null {
  const totals = madeOf.get(parsed);
  return totals === undefined ? null : keysOf(totals);
}

function* keysOf(totals: Buffer): Generator<string> {
  for (let at = 0; at < totals.length; at += TOTALS_BYTES)
    yield totals.toString('latin1', at, at + SCRIPT_KEY_BYTES);
}

function rowsOf(
  block: LoadedBlock,
  height: number,
  resolved: ResolvedInputs,
): NativeAddressRows | Promise<NativeAddressRows> | null {
  const native = loadNative();
  if (native === null) return null;
  const { raw, parsed } = block;
  const count = parsed.inputs.length / INPUT_STRIDE + parsed.outputs.length / OUTPUT_STRIDE;
  return count < ROWS_ASIDE
    ? native.addressRows(raw, parsed, resolved, height)
    : native.addressRowsAside(raw, parsed, resolved, height);
}

async function connect(
  rows: RowTransaction,
  block: LoadedBlock,
  height: number,
  resolved: ResolvedInputs,
): Promise<void> {
  const made = await rowsOf(block, height, resolved);
  if (made === null) return new BlockWalk(rows, block, height, spentBy(resolved), true).run();
  rows.putRecords(PREFIX.addressHistory + PREFIX.addressUnspent, made.records);
  await rows.relieve();
  await addTotals(rows, made.totals);
  madeOf.set(block.parsed, made.totals);
}

/** Adds sums to those that are stored; they are changed meanwhile. */
async function addTotals(rows: RowTransaction, totals: Buffer): Promise<void> {
  let since = performance.now();
  for (let from = 0; from < totals.length; from += SUMS_AT_ONCE * TOTALS_BYTES) {
    const part = totals.subarray(from, from + SUMS_AT_ONCE * TOTALS_BYTES);
    const keys = Array.from(keysOf(part), totalsKey);
    const stored = await rows.getMany(keys);
    const records = new RecordWriter();
    keys.forEach((key, i) => {
      const at = i * TOTALS_BYTES + SCRIPT_KEY_BYTES;
      const row = part.subarray(at, at + TOTALS_BYTES - SCRIPT_KEY_BYTES);
      if (stored[i] !== undefined) addTo(row, stored[i]);
      records.add(key, row);
    });
    rows.putRecords(PREFIX.addressTotals, records.take());
    await rows.relieve();
    since = await breathe(since);
  }
}

/** Adds the row of a script's sums to another. */
function addTo(sum: Buffer, row: Bytes): void {
  const stored = asBuffer(row);
  for (const at of [0, 8]) {
    const low = sum.readUInt32LE(at) + stored.readUInt32LE(at);
    sum.writeUInt32LE(low >>> 0, at);
    const carry = low > 0xffffffff ? 1 : 0;
    sum.writeInt32LE((sum.readInt32LE(at + 4) + stored.readInt32LE(at + 4) + carry) | 0, at + 4);
  }
  sum.writeUInt32LE(sum.readUInt32LE(16) + stored.readUInt32LE(16), 16);
}

export const addressIndex: ChainIndex = {
  name: 'addressindex',
  version: 1,
  prefixes: [PREFIX.addressHistory, PREFIX.addressUnspent, PREFIX.addressTotals],
  connect,
  disconnect: (rows, block, height, undo) =>
    new BlockWalk(rows, block, height, spentInUndo(undo, block), false).run(),
};
