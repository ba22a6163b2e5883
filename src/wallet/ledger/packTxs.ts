/** Packs a wallet's transactions into typed arrays (columns, `packedTxs.ts`) for the wallet image. */
import { enterSlot, slotsFor, wordAt, wordOf } from '../../util/hashSlots.js';
import type { Slices } from '../../util/slices.js';
import { MINE_STAKE } from '../keys/isMine.js';
import { outputKey, type Entry } from './entry.js';
import {
  destinationWord,
  HAS_FOREIGN_STAKE,
  HAS_WITNESS,
  ID_BYTES,
  IS_COINBASE,
  IS_FINISHED,
  IS_PLAIN,
  NO_DESTINATION,
  OUT_POINT_BYTES,
  type TxColumns,
} from './packedTxs.js';

/** Number of transactions that are packed between two yields to the event loop. */
const STEP = 256;

/** Assigns a number to each distinct key, and collects the rows in which the key occurs. */
class Shared {
  readonly numbers = new Map<string, number>();
  private readonly pairs: number[] = [];

  /** Records that a row contains a key. Returns the number of the key. */
  note(key: string, row: number): number {
    let number = this.numbers.get(key);
    if (number === undefined) this.numbers.set(key, (number = this.numbers.size));
    this.pairs.push(number, row);
    return number;
  }

  /** For each key number: the start of its list in `rows`, and the rows in which the key occurs, without duplicates. */
  rows(): { starts: Uint32Array; rows: Uint32Array } {
    const { pairs } = this;
    const lists: number[][] = Array.from({ length: this.numbers.size }, () => []);
    for (let at = 0; at < pairs.length; at += 2) {
      const list = lists[pairs[at]!]!;
      // Rows are added in ascending order, so the row can only be the last entry of the list.
      if (list[list.length - 1] !== pairs[at + 1]) list.push(pairs[at + 1]!);
    }
    return { starts: startsOf(lists.map((list) => list.length)), rows: Uint32Array.from(lists.flat()) };
  }
}

/** Returns the start offset of each list in the concatenation of all lists, and the end of the last list. */
function startsOf(lengths: readonly number[]): Uint32Array {
  const starts = new Uint32Array(lengths.length + 1);
  for (const [at, length] of lengths.entries()) starts[at + 1] = starts[at]! + length;
  return starts;
}

function textBytes(texts: Iterable<string>, sizeBytes: number): Buffer {
  const bytes = Buffer.alloc(sizeBytes);
  let at = 0;
  for (const text of texts) at += bytes.write(text, at, 'latin1');
  return bytes;
}

function slotsOf(bytes: Uint8Array, keyBytes: number): Int32Array {
  const count = bytes.length / keyBytes;
  const slots = slotsFor(count);
  for (let n = 0; n < count; n++) enterSlot(slots, wordAt(bytes, n * keyBytes), n);
  return slots;
}

export interface PackRules {
  /** Whether an own output (by its key) is unspent. */
  isLeft(output: string): boolean;
  /** See `IS_FINISHED`. */
  isFinished(entry: Entry): boolean;
}

/** Packs `entries` into columns. Each entry must be confirmed and have a position in the order. */
export function* packTxs(entries: readonly Entry[], rules: PackRules): Slices<TxColumns> {
  const count = entries.length;
  const own = entries.map(({ outputs }) => outputs.length);
  const ownStarts = startsOf(own);
  const inputStarts = startsOf(entries.map(({ inputs }) => inputs.length));
  const [ownCount, inputCount] = [ownStarts[count]!, inputStarts[count]!];
  const columns = {
    flags: new Uint8Array(count),
    heights: new Int32Array(count),
    places: new Int32Array(count),
    lockTimes: new Uint32Array(count),
    outputCounts: new Uint32Array(count),
    orderPos: new Float64Array(count),
    blockOf: new Uint32Array(count),
    ownNumbers: new Uint32Array(ownCount),
    ownValues: new BigInt64Array(ownCount),
    ownMine: new Uint8Array(ownCount),
    ownTo: new Uint32Array(ownCount),
    ownLeft: new Uint8Array(ownCount),
    ownRows: new Uint32Array(ownCount),
    inputRows: new Uint32Array(inputCount),
  };
  const destinations = new Shared();
  const blocks = new Shared();
  const stakes: number[] = [];
  const inputSlots = slotsFor(inputCount);
  for (const [row, entry] of entries.entries()) {
    if (row % STEP === 0) yield;
    columns.flags[row] =
      (entry.isCoinbase ? IS_COINBASE : 0) |
      (entry.hasWitness ? HAS_WITNESS : 0) |
      (entry.hasForeignStake ? HAS_FOREIGN_STAKE : 0) |
      (rules.isFinished(entry) ? IS_FINISHED : 0);
    columns.heights[row] = entry.height;
    columns.places[row] = entry.blockIndex;
    columns.lockTimes[row] = entry.lockTime;
    columns.outputCounts[row] = entry.outputCount;
    columns.orderPos[row] = entry.orderPos;
    columns.blockOf[row] = blocks.note(Buffer.from(entry.blockHash).toString('latin1'), row);
    for (const [n, input] of entry.inputs.entries()) {
      const at = inputStarts[row]! + n;
      columns.inputRows[at] = row;
      if (!entry.isCoinbase) enterSlot(inputSlots, wordOf(input), at);
    }
    for (const [n, output] of entry.outputs.entries()) {
      const at = ownStarts[row]! + n;
      columns.ownNumbers[at] = output.n;
      columns.ownValues[at] = output.valueSat;
      columns.ownMine[at] = output.mine | (output.isPlain ? IS_PLAIN : 0);
      columns.ownTo[at] = output.to === '' ? NO_DESTINATION : destinations.note(output.to, row);
      columns.ownLeft[at] = rules.isLeft(outputKey(entry.key, output.n)) ? 1 : 0;
      columns.ownRows[at] = row;
      if ((output.mine & MINE_STAKE) !== 0) stakes.push(at);
    }
  }
  const { orderPos } = columns;
  const order = Uint32Array.from(entries.keys()).sort((a, b) => orderPos[a]! - orderPos[b]!);
  yield;
  const ids = textBytes(keysOf(entries), count * ID_BYTES);
  const inputs = textBytes(inputsOf(entries), inputCount * OUT_POINT_BYTES);
  yield;
  const found = { ...columns, order, ids, idSlots: slotsOf(ids, ID_BYTES), inputs, inputSlots };
  return {
    ...found,
    inputStarts,
    ownStarts,
    stakes: Uint32Array.from(stakes),
    ...destinationColumns(destinations),
    ...blockColumns(blocks),
  };
}

function* keysOf(entries: readonly Entry[]): Generator<string> {
  for (const { key } of entries) yield key;
}

function* inputsOf(entries: readonly Entry[]): Generator<string> {
  for (const { inputs } of entries) yield* inputs;
}

function destinationColumns(
  shared: Shared,
): Pick<TxColumns, 'toStarts' | 'toBytes' | 'toSlots' | 'toRowStarts' | 'toRows'> {
  const keys = [...shared.numbers.keys()];
  const toStarts = startsOf(keys.map((key) => key.length));
  const toSlots = slotsFor(keys.length);
  for (const [n, key] of keys.entries()) enterSlot(toSlots, destinationWord(key), n);
  const { starts, rows } = shared.rows();
  return {
    toStarts,
    toBytes: textBytes(keys, toStarts[keys.length]!),
    toSlots,
    toRowStarts: starts,
    toRows: rows,
  };
}

function blockColumns(
  shared: Shared,
): Pick<TxColumns, 'blocks' | 'blockSlots' | 'blockRowStarts' | 'blockRows'> {
  const blocks = textBytes(shared.numbers.keys(), shared.numbers.size * ID_BYTES);
  const { starts, rows } = shared.rows();
  return { blocks, blockSlots: slotsOf(blocks, ID_BYTES), blockRowStarts: starts, blockRows: rows };
}
