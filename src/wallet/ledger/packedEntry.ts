/**
 * A settled (confirmed) transaction of the wallet whose data is read when it is needed, from the packed columns
 * (`packedTxs.ts`) and from its row on disk. After `keep` all its data is in memory, and it can change.
 */
import type { Bytes } from '../../util/bytes.js';
import type { Entry, EntryState, OwnOutput } from './entry.js';
import { HAS_FOREIGN_STAKE, HAS_WITNESS, IS_COINBASE, type PackedTxs } from './packedTxs.js';

/** Reads the row of a transaction from disk. */
export type EntryReader = (entry: PackedEntry) => Entry['row'];

export class PackedEntry implements Entry {
  /** Number of the transaction in `txs`. */
  readonly at: number;
  state: EntryState = 'confirmed';
  height: number;
  inMempool = false;
  readonly isCoinbase: boolean;
  hasWitness: boolean;
  readonly lockTime: number;
  readonly outputCount: number;
  hasForeignStake: boolean;
  /** Whether all data is in memory. The columns are then not used any more. */
  isKept = false;
  private readonly txs: PackedTxs;
  private readonly readRow: EntryReader;
  private knownKey: string | null;
  private knownRow: Entry['row'] | null = null;
  private knownInputs: readonly string[] | null = null;
  private knownOutputs: readonly OwnOutput[] | null = null;

  constructor(txs: PackedTxs, at: number, key: string | null, readRow: EntryReader) {
    const { columns } = txs;
    this.at = at;
    this.txs = txs;
    this.knownKey = key;
    this.readRow = readRow;
    this.height = columns.heights[at]!;
    this.isCoinbase = txs.has(at, IS_COINBASE);
    this.hasWitness = txs.has(at, HAS_WITNESS);
    this.hasForeignStake = txs.has(at, HAS_FOREIGN_STAKE);
    this.lockTime = columns.lockTimes[at]!;
    this.outputCount = columns.outputCounts[at]!;
  }

  get key(): string {
    return (this.knownKey ??= this.txs.key(this.at));
  }

  get row(): Entry['row'] {
    return (this.knownRow ??= this.readRow(this));
  }

  set row(row: Entry['row']) {
    this.knownRow = row;
  }

  get inputs(): readonly string[] {
    return (this.knownInputs ??= this.txs.inputsOf(this.at));
  }

  get outputs(): readonly OwnOutput[] {
    return (this.knownOutputs ??= this.txs.ownOf(this.at));
  }

  set outputs(outputs: readonly OwnOutput[]) {
    this.knownOutputs = outputs;
  }

  get orderPos(): number {
    return this.knownRow?.orderPos ?? this.txs.columns.orderPos[this.at]!;
  }

  get blockHash(): Bytes {
    return this.knownRow?.blockHash ?? this.txs.blockHash(this.at);
  }

  get blockIndex(): number {
    return this.knownRow?.index ?? this.txs.columns.places[this.at]!;
  }

  /** Removes the cached row, unless the entry was loaded completely into memory. */
  forgetRow(): void {
    if (!this.isKept) this.knownRow = null;
  }

  /** Loads all data into memory. After this, the columns are not read any more. */
  keep(): void {
    void [this.key, this.row, this.inputs, this.outputs];
    this.isKept = true;
  }
}
