/**
 * The settled transactions of a wallet (those in blocks of the active chain) as typed arrays (columns) outside the
 * JavaScript heap, in the format of the wallet image (`store/walletImage.ts`). Each takes about 200 bytes. Supports lookup
 * by id, spent output, destination and block. The columns are immutable: before a transaction changes, it is removed from
 * them (`entryIndex.ts`).
 */
import { findText, firstSlot, isText, nextSlot, wordOf } from '../../util/hashSlots.js';
import type { Columns } from '../store/columnFile.js';
import type { OwnOutput } from './entry.js';

export const ID_BYTES = 32;
export const OUT_POINT_BYTES = 36;
/** In `flags`. */
export const IS_COINBASE = 1;
export const HAS_WITNESS = 2;
export const HAS_FOREIGN_STAKE = 4;
/**
 * Flag: no other transaction of the wallet spends the same outputs as this transaction, and it pays to no key in the pool. A
 * scan may skip it.
 */
export const IS_FINISHED = 8;
/** Flag in `ownMine`, in addition to the `MINE` flags: the output is plain (`OwnOutput.isPlain`). */
export const IS_PLAIN = 0x80;
/** Value in `ownTo` for an output without a destination. */
export const NO_DESTINATION = 0xffffffff;

/**
 * Columns of the packed transactions. A row is the number of a transaction, from 0. Own outputs and inputs are numbered over
 * all transactions.
 */
export interface TxColumns {
  readonly ids: Uint8Array;
  readonly idSlots: Int32Array;
  readonly flags: Uint8Array;
  readonly heights: Int32Array;
  /** Position of each transaction in its block. */
  readonly places: Int32Array;
  readonly lockTimes: Uint32Array;
  readonly outputCounts: Uint32Array;
  readonly orderPos: Float64Array;
  /** Row numbers in order of arrival. */
  readonly order: Uint32Array;
  /** Number of the first input of each row, and finally the number after the last input. */
  readonly inputStarts: Uint32Array;
  readonly inputs: Uint8Array;
  /** Hash table of input numbers by the spent output. Inputs of coinbases are left out. */
  readonly inputSlots: Int32Array;
  readonly inputRows: Uint32Array;
  readonly ownStarts: Uint32Array;
  readonly ownNumbers: Uint32Array;
  readonly ownValues: BigInt64Array;
  readonly ownMine: Uint8Array;
  /** Destination number of each own output. */
  readonly ownTo: Uint32Array;
  /** 1 for each own output that no settled transaction of the wallet spends, otherwise 0. */
  readonly ownLeft: Uint8Array;
  readonly ownRows: Uint32Array;
  /** Numbers, among the own outputs, of those that are claims or supports. */
  readonly stakes: Uint32Array;
  /** Start of each destination (`destinationKey`) in `toBytes`, and finally the end of the last one. */
  readonly toStarts: Uint32Array;
  readonly toBytes: Uint8Array;
  readonly toSlots: Int32Array;
  readonly toRowStarts: Uint32Array;
  readonly toRows: Uint32Array;
  readonly blocks: Uint8Array;
  readonly blockSlots: Int32Array;
  readonly blockOf: Uint32Array;
  readonly blockRowStarts: Uint32Array;
  readonly blockRows: Uint32Array;
}

export class PackedTxs {
  readonly columns: TxColumns;
  readonly count: number;
  readonly inputCount: number;
  readonly ownCount: number;
  private readonly idBytes: Buffer;
  private readonly inputBytes: Buffer;
  private readonly toBytes: Buffer;
  private readonly blockBytes: Buffer;

  constructor(columns: Columns | TxColumns) {
    const c = columns as TxColumns;
    this.columns = c;
    this.count = c.flags.length;
    this.inputCount = c.inputRows.length;
    this.ownCount = c.ownNumbers.length;
    const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.idBytes = asBuffer(c.ids);
    this.inputBytes = asBuffer(c.inputs);
    this.toBytes = asBuffer(c.toBytes);
    this.blockBytes = asBuffer(c.blocks);
  }

  /** Row of the transaction with this id (latin1); −1 if it is not found. */
  find(key: string): number {
    return findText(this.columns.idSlots, this.columns.ids, ID_BYTES, key);
  }

  key(row: number): string {
    return this.idBytes.toString('latin1', row * ID_BYTES, (row + 1) * ID_BYTES);
  }

  /** Key of the output that an input spends. */
  input(number: number): string {
    return this.inputBytes.toString('latin1', number * OUT_POINT_BYTES, (number + 1) * OUT_POINT_BYTES);
  }

  inputsOf(row: number): string[] {
    const { inputStarts } = this.columns;
    const found: string[] = [];
    for (let n = inputStarts[row]!; n < inputStarts[row + 1]!; n++) found.push(this.input(n));
    return found;
  }

  /** Rows of the transactions that spend an output. */
  spendersOf(output: string): readonly number[] {
    const { inputSlots, inputs, inputRows } = this.columns;
    let found: number[] | null = null;
    const word = wordOf(output);
    for (let slot = firstSlot(inputSlots, word); inputSlots[slot] !== 0; slot = nextSlot(inputSlots, slot)) {
      const n = inputSlots[slot]! - 1;
      if (isText(inputs, n * OUT_POINT_BYTES, output)) (found ??= []).push(inputRows[n]!);
    }
    return found ?? NO_ROWS;
  }

  /** Number of output `n` of a row among the own outputs; −1 if the output does not belong to the wallet. */
  ownNumber(row: number, n: number): number {
    const { ownStarts, ownNumbers } = this.columns;
    for (let at = ownStarts[row]!; at < ownStarts[row + 1]!; at++) if (ownNumbers[at] === n) return at;
    return -1;
  }

  own(number: number): OwnOutput {
    const { ownNumbers, ownValues, ownMine } = this.columns;
    const flags = ownMine[number]!;
    return {
      n: ownNumbers[number]!,
      valueSat: ownValues[number]!,
      mine: flags & ~IS_PLAIN,
      to: this.toOf(number),
      isPlain: (flags & IS_PLAIN) !== 0,
    };
  }

  /** Destination (`destinationKey`) of an own output. */
  private toOf(number: number): string {
    const { ownTo, toStarts } = this.columns;
    const to = ownTo[number]!;
    return to === NO_DESTINATION ? '' : this.toBytes.toString('latin1', toStarts[to], toStarts[to + 1]);
  }

  ownOf(row: number): OwnOutput[] {
    const { ownStarts } = this.columns;
    const found: OwnOutput[] = [];
    for (let at = ownStarts[row]!; at < ownStarts[row + 1]!; at++) found.push(this.own(at));
    return found;
  }

  /** Number of a destination; −1 if no transaction pays to it. */
  private findTo(destination: string): number {
    const { toSlots, toStarts, toBytes } = this.columns;
    const word = destinationWord(destination);
    for (let slot = firstSlot(toSlots, word); toSlots[slot] !== 0; slot = nextSlot(toSlots, slot)) {
      const to = toSlots[slot]! - 1;
      const start = toStarts[to]!;
      if (toStarts[to + 1]! - start === destination.length && isText(toBytes, start, destination)) return to;
    }
    return -1;
  }

  /** Rows with an own output to a destination, without duplicates. */
  payingTo(destination: string): Uint32Array {
    const to = this.findTo(destination);
    const { toRows, toRowStarts } = this.columns;
    return to < 0 ? NONE : toRows.subarray(toRowStarts[to], toRowStarts[to + 1]);
  }

  /** Numbers of the own outputs to a destination. */
  *ownAt(destination: string): Generator<number> {
    const to = this.findTo(destination);
    if (to < 0) return;
    const { toRows, toRowStarts, ownStarts, ownTo } = this.columns;
    for (let at = toRowStarts[to]!; at < toRowStarts[to + 1]!; at++) {
      const row = toRows[at]!;
      for (let n = ownStarts[row]!; n < ownStarts[row + 1]!; n++) if (ownTo[n] === to) yield n;
    }
  }

  /** Rows of the transactions in a block. `hash` is the block hash as latin1. */
  inBlock(hash: string): Uint32Array {
    const { blockSlots, blocks, blockRows, blockRowStarts } = this.columns;
    const block = findText(blockSlots, blocks, ID_BYTES, hash);
    return block < 0 ? NONE : blockRows.subarray(blockRowStarts[block], blockRowStarts[block + 1]);
  }

  /** Hash of the block that contains the transaction of this row, as a view. */
  blockHash(row: number): Buffer {
    const at = this.columns.blockOf[row]! * ID_BYTES;
    return this.blockBytes.subarray(at, at + ID_BYTES);
  }

  has(row: number, flag: number): boolean {
    return (this.columns.flags[row]! & flag) !== 0;
  }
}

const NONE = new Uint32Array(0);
const NO_ROWS: readonly number[] = [];

/** The value by which hash tables find a destination: the start of its hash, after the type character. */
export const destinationWord = (destination: string): number => wordOf(destination, 1);
