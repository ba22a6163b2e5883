/**
 * The settled transactions of a wallet as columns outside the JavaScript heap, in the form of the wallet image
 * (`store/walletImage.ts`): about 200 bytes each. They are in blocks of the active chain. Owns the lookup by id, spent output,
 * destination and block. Immutable: a transaction that changes is removed first (`entryIndex.ts`).
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
/** What it spends no other transaction of the wallet spends, and it pays to no key in the pool. */
export const IS_FINISHED = 8;
/** Flag in `ownMine`, in addition to the `MINE` flags. */
export const IS_PLAIN = 0x80;
/** In `ownTo`: the output has no destination. */
export const NO_DESTINATION = 0xffffffff;

/** Columns of transactions. Rows are transactions, numbered from 0. Own outputs and inputs are numbered over all rows. */
export interface TxColumns {
  readonly ids: Uint8Array;
  readonly idSlots: Int32Array;
  readonly flags: Uint8Array;
  readonly heights: Int32Array;
  /** Position in the block. */
  readonly places: Int32Array;
  readonly lockTimes: Uint32Array;
  readonly outputCounts: Uint32Array;
  readonly orderPos: Float64Array;
  /** Rows in order of arrival. */
  readonly order: Uint32Array;
  /** Offsets of the inputs of each row, and the end of the last. */
  readonly inputStarts: Uint32Array;
  readonly inputs: Uint8Array;
  /** Hash slots of inputs by the spent output, without those of coinbases. */
  readonly inputSlots: Int32Array;
  readonly inputRows: Uint32Array;
  readonly ownStarts: Uint32Array;
  readonly ownNumbers: Uint32Array;
  readonly ownValues: BigInt64Array;
  readonly ownMine: Uint8Array;
  /** Number of the destination. */
  readonly ownTo: Uint32Array;
  /** 1 if no settled transaction of the wallet spends it. */
  readonly ownLeft: Uint8Array;
  readonly ownRows: Uint32Array;
  /** Numbers of own outputs with a claim or support. */
  readonly stakes: Uint32Array;
  /** Start of each destination (`destinationKey`), and the end of the last. */
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

  /** The row of a transaction by its id (latin1); −1 for none. */
  find(key: string): number {
    return findText(this.columns.idSlots, this.columns.ids, ID_BYTES, key);
  }

  key(row: number): string {
    return this.idBytes.toString('latin1', row * ID_BYTES, (row + 1) * ID_BYTES);
  }

  /** The output key that an input spends. */
  input(number: number): string {
    return this.inputBytes.toString('latin1', number * OUT_POINT_BYTES, (number + 1) * OUT_POINT_BYTES);
  }

  inputsOf(row: number): string[] {
    const { inputStarts } = this.columns;
    const found: string[] = [];
    for (let n = inputStarts[row]!; n < inputStarts[row + 1]!; n++) found.push(this.input(n));
    return found;
  }

  /** The rows that spend an output. */
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

  /** The number of a row's own output; −1 if the output is not the wallet's. */
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

  /** Destination of an own output. */
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

  /** The number of a destination; −1 if no row pays to it. */
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

  /** Rows with an own output to a destination, each once. */
  payingTo(destination: string): Uint32Array {
    const to = this.findTo(destination);
    const { toRows, toRowStarts } = this.columns;
    return to < 0 ? NONE : toRows.subarray(toRowStarts[to], toRowStarts[to + 1]);
  }

  /** Own outputs to a destination. */
  *ownAt(destination: string): Generator<number> {
    const to = this.findTo(destination);
    if (to < 0) return;
    const { toRows, toRowStarts, ownStarts, ownTo } = this.columns;
    for (let at = toRowStarts[to]!; at < toRowStarts[to + 1]!; at++) {
      const row = toRows[at]!;
      for (let n = ownStarts[row]!; n < ownStarts[row + 1]!; n++) if (ownTo[n] === to) yield n;
    }
  }

  /** The rows of a block, by its hash (latin1). */
  inBlock(hash: string): Uint32Array {
    const { blockSlots, blocks, blockRows, blockRowStarts } = this.columns;
    const block = findText(blockSlots, blocks, ID_BYTES, hash);
    return block < 0 ? NONE : blockRows.subarray(blockRowStarts[block], blockRowStarts[block + 1]);
  }

  /** The hash of the block with this row; a view. */
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

/** The hash word of a destination: the start of its hash, after the type. */
export const destinationWord = (destination: string): number => wordOf(destination, 1);
