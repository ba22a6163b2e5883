/** A transaction of the wallet as the ledger holds it in memory; its bytes stay on disk. */
import type { Bytes } from '../../util/bytes.js';
import type { TxRecord } from './txRecord.js';

/** What a transaction has come to. */
export type EntryState =
  /** In a block of the active chain. */
  | 'confirmed'
  /** In no block, with nothing that speaks against it. */
  | 'unconfirmed'
  /** Another that spends the same is in a block of the active chain. */
  | 'conflicted'
  /** The owner does not wait for it any more. */
  | 'abandoned';

/** An output that is the wallet's, or watched. */
export interface OwnOutput {
  readonly n: number;
  readonly valueSat: bigint;
  /** `MINE` flags. */
  readonly mine: number;
  /** `destinationKey` of where it pays to, behind a claim; empty for what has none. */
  readonly to: string;
  /** Whether its script is the destination's own, and neither has a claim nor shows the key. */
  readonly isPlain: boolean;
}

export interface Entry {
  /** Id in wire order, a byte a character. */
  readonly key: string;
  /** Data of the row; replaced as a whole. */
  row: Omit<TxRecord, 'tx'>;
  /** Order, block and position from the row, without reading a row that is only on disk. */
  readonly orderPos: number;
  readonly blockHash: Bytes;
  readonly blockIndex: number;
  state: EntryState;
  /** The height of the block that holds it or that it conflicts with, −1 without one in the active chain. */
  height: number;
  inMempool: boolean;
  readonly isCoinbase: boolean;
  /** Whether its row has a witness. */
  hasWitness: boolean;
  /** Height or time before which it cannot be in a block; 0 when it never waits. */
  readonly lockTime: number;
  readonly inputs: readonly string[];
  /** How many outputs it has, the wallet's and others'. */
  readonly outputCount: number;
  /** Whether a claim or support is among the outputs that are not the wallet's to spend. */
  hasForeignStake: boolean;
  outputs: readonly OwnOutput[];
}

/** Some entries in an order; an array is such. */
export interface EntrySequence {
  readonly length: number;
  at(place: number): Entry | undefined;
}

/** An entry that is in memory as a whole. */
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

/** What the ledger holds of a transaction apart from its row. */
export type TxSummary = Pick<
  Entry,
  'isCoinbase' | 'hasWitness' | 'lockTime' | 'inputs' | 'outputCount' | 'hasForeignStake' | 'outputs'
>;

/** The key of an output: id and number, a byte a character. Source: the wire form of an outpoint. */
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
