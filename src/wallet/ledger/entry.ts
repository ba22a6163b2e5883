/** A transaction of the wallet as the ledger holds it in memory; its bytes stay on disk. */
import type { Bytes } from '../../util/bytes.js';
import type { TxRecord } from './txRecord.js';

/** State of a transaction. */
export type EntryState =
  /** In a block of the active chain. */
  | 'confirmed'
  /** Not in a block, and not in conflict with one. */
  | 'unconfirmed'
  /** Another transaction that spends the same output is in a block of the active chain. */
  | 'conflicted'
  /** The owner has abandoned it. */
  | 'abandoned';

/** An output that the wallet owns or watches. */
export interface OwnOutput {
  readonly n: number;
  readonly valueSat: bigint;
  /** `MINE` flags. */
  readonly mine: number;
  /** `destinationKey` of the receiver, also of a claim or support; empty without a destination. */
  readonly to: string;
  /** Whether its script is the standard script of the destination, without a claim and not a bare public key. */
  readonly isPlain: boolean;
}

export interface Entry {
  /** Id in wire order, latin1. */
  readonly key: string;
  /** Data of the row; replaced as a whole. */
  row: Omit<TxRecord, 'tx'>;
  /** Order, block and position from the row, without reading a row that is only on disk. */
  readonly orderPos: number;
  readonly blockHash: Bytes;
  readonly blockIndex: number;
  state: EntryState;
  /** The height of the block that contains it or conflicts with it; −1 without one in the active chain. */
  height: number;
  inMempool: boolean;
  readonly isCoinbase: boolean;
  /** Whether its row has a witness. */
  hasWitness: boolean;
  /** Height or time before which it cannot be mined; 0 if there is no limit. */
  readonly lockTime: number;
  readonly inputs: readonly string[];
  /** Number of outputs, including those of others. */
  readonly outputCount: number;
  /** Whether an output that the wallet cannot spend has a claim or support. */
  hasForeignStake: boolean;
  outputs: readonly OwnOutput[];
}

/** A sequence of entries, such as an array. */
export interface EntrySequence {
  readonly length: number;
  at(place: number): Entry | undefined;
}

/** An entry that is completely in memory. */
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

/** Data of a transaction in the ledger, apart from the row. */
export type TxSummary = Pick<
  Entry,
  'isCoinbase' | 'hasWitness' | 'lockTime' | 'inputs' | 'outputCount' | 'hasForeignStake' | 'outputs'
>;

/** The key of an output: txid and number as a latin1 string. Source: the wire format of an outpoint. */
export function outputKey(txKey: string, n: number): string {
  return txKey + String.fromCharCode(n & 0xff, (n >>> 8) & 0xff, (n >>> 16) & 0xff, n >>> 24);
}

/** The transaction that an output key names. */
export const txKeyOf = (output: string): string => output.slice(0, 32);

/** The number in an output key. */
export function outputNumber(output: string): number {
  return (
    output.charCodeAt(32) +
    output.charCodeAt(33) * 0x100 +
    output.charCodeAt(34) * 0x1_0000 +
    output.charCodeAt(35) * 0x100_0000
  );
}
