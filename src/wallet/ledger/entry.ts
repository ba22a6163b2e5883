/** A transaction of the wallet in the ledger ("entry"), in memory. The serialized transaction stays on disk. */
import type { Bytes } from '../../util/bytes.js';
import type { TxRecord } from './txRecord.js';

/** State of a transaction. */
export type EntryState =
  /** The transaction is in a block of the active chain. */
  | 'confirmed'
  /** The transaction is not in a block, and does not conflict with one. */
  | 'unconfirmed'
  /** A block of the active chain contains another transaction that spends the same output. */
  | 'conflicted'
  /** The user has abandoned the transaction, so its inputs can be spent again. */
  | 'abandoned';

/** An output that the wallet owns or watches. */
export interface OwnOutput {
  readonly n: number;
  readonly valueSat: bigint;
  /** `MINE` flags. */
  readonly mine: number;
  /**
   * `destinationKey` of the receiver; for a claim or support, of the script after the claim prefix. Empty if the script has
   * no destination.
   */
  readonly to: string;
  /** Whether the script is exactly the standard script of the destination: no claim prefix, no bare public key. */
  readonly isPlain: boolean;
}

export interface Entry {
  /** Transaction id in wire order, as latin1. */
  readonly key: string;
  /** Data of the transaction's row in the wallet file. It is replaced as a whole when it changes. */
  row: Omit<TxRecord, 'tx'>;
  /**
   * `orderPos`, `blockHash` and `blockIndex` are fields of the row, stored in the entry so that they can be read without
   * reading the row from disk.
   */
  readonly orderPos: number;
  readonly blockHash: Bytes;
  readonly blockIndex: number;
  state: EntryState;
  /**
   * Height of the block that contains the transaction or conflicts with it; −1 if that block is not in the active chain or
   * does not exist.
   */
  height: number;
  inMempool: boolean;
  readonly isCoinbase: boolean;
  /** Whether the stored transaction includes a witness. */
  hasWitness: boolean;
  /** Height or time before which the transaction cannot be mined; 0 if there is none. */
  readonly lockTime: number;
  readonly inputs: readonly string[];
  /** Number of all outputs of the transaction, including outputs to others. */
  readonly outputCount: number;
  /** Whether the transaction has a claim or support that the wallet cannot spend. */
  hasForeignStake: boolean;
  outputs: readonly OwnOutput[];
}

/** A sequence of entries that can be accessed by position, such as an array. */
export interface EntrySequence {
  readonly length: number;
  at(place: number): Entry | undefined;
}

/** A transaction whose fields are all in memory. */
export class HeldEntry implements Entry {
  readonly key: string;
  row: Entry['row'];
  state: EntryState = 'unconfirmed';
  height = -1;
  inMempool = false;
  readonly isCoinbase: boolean;
  hasWitness: boolean;
  readonly lockTime: number;
  readonly inputs: readonly string[];
  readonly outputCount: number;
  hasForeignStake: boolean;
  outputs: readonly OwnOutput[];

  constructor(key: string, summary: TxSummary, row: Entry['row']) {
    this.key = key;
    this.row = row;
    this.isCoinbase = summary.isCoinbase;
    this.hasWitness = summary.hasWitness;
    this.lockTime = summary.lockTime;
    this.inputs = summary.inputs;
    this.outputCount = summary.outputCount;
    this.hasForeignStake = summary.hasForeignStake;
    this.outputs = summary.outputs;
  }

  get orderPos(): number {
    return this.row.orderPos;
  }

  get blockHash(): Bytes {
    return this.row.blockHash;
  }

  get blockIndex(): number {
    return this.row.index;
  }
}

/** Fields of an entry that are computed from the transaction, not from the other data of its row. */
export type TxSummary = Pick<
  Entry,
  'isCoinbase' | 'hasWitness' | 'lockTime' | 'inputs' | 'outputCount' | 'hasForeignStake' | 'outputs'
>;

/** Key of an output: its outpoint in wire format, as latin1 text. */
export function outputKey(txKey: string, n: number): string {
  return txKey + String.fromCharCode(n & 0xff, (n >>> 8) & 0xff, (n >>> 16) & 0xff, n >>> 24);
}

/** Transaction id in an output key (`outputKey`). */
export const txKeyOf = (output: string): string => output.slice(0, 32);

/** Output number in an output key (`outputKey`). */
export function outputNumber(output: string): number {
  return (
    output.charCodeAt(32) +
    output.charCodeAt(33) * 0x100 +
    output.charCodeAt(34) * 0x1_0000 +
    output.charCodeAt(35) * 0x100_0000
  );
}
