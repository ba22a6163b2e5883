/**
 * A transaction in the mempool: its bytes, derived data, and the running sums over its unconfirmed ancestors and
 * descendants. The class computes the memory of the entry itself; `txPool.ts` maintains links and sums. Source: Core
 * txmempool.h `CTxMemPoolEntry`.
 */
import { OUTPOINT_SIZE_BYTES } from '../store/cache/coinTable.js';
import { NO_HEADER } from '../store/files/headerTable.js';
import { parseTransaction, type Transaction } from '../primitives/transaction.js';
import { assert } from '../util/assert.js';
import { fromLatin1 } from '../util/bytes.js';
import { Reader } from '../util/reader.js';

/**
 * Memory in bytes in addition to the transaction's own bytes, measured on Node 20 with `test/bench/mempool.mjs`: the entry
 * with its amounts, keys and buffer objects, and its slot in the map.
 */
const ENTRY_USAGE_BYTES = 850;
/** Memory in bytes of a spent outpoint: its key and its map entry. */
const SPEND_USAGE_BYTES = 140;
/** Memory in bytes of a link to a parent or child, with its share of the array. */
export const LINK_USAGE_BYTES = 40;

/** Height and time up to which the relative lock times of a transaction lock it. Source: `LockPoints`. */
export interface LockPoints {
  /** Last height and last median time past at which the transaction is still locked; -1 if it is not locked. */
  readonly minHeight: number;
  readonly minTimeSec: number;
  /**
   * Block on which both values depend. The values are valid while this block is in the active chain. `NO_HEADER` if they
   * depend on no block.
   */
  readonly block: number;
}

export const NO_LOCKS: LockPoints = { minHeight: -1, minTimeSec: -1, block: NO_HEADER };

export interface EntryFacts {
  /** Txid and wtxid in wire order, one character per byte; the same string if they are equal. */
  readonly key: string;
  readonly wtxKey: string;
  /** Transaction serialized with witness, in a buffer of its own. */
  readonly bytes: Buffer;
  readonly tx: Transaction;
  readonly weight: number;
  readonly sizeBytes: number;
  readonly sigopsCost: number;
  readonly feeSat: bigint;
  readonly timeSec: number;
  /** Height of the chain when the transaction arrived. */
  readonly height: number;
  readonly spendsCoinbase: boolean;
  readonly locks: LockPoints;
}

const NONE: PoolEntry[] = [];

export class PoolEntry {
  readonly key: string;
  readonly wtxKey: string;
  readonly bytes: Buffer;
  readonly weight: number;
  readonly sizeBytes: number;
  readonly sigopsCost: number;
  readonly feeSat: bigint;
  readonly timeSec: number;
  readonly height: number;
  readonly spendsCoinbase: boolean;
  readonly lockTime: number;
  /** Whether all sequence numbers are final, so that the lock time has no effect. */
  readonly hasFinalSequences: boolean;
  readonly inputCount: number;
  locks: LockPoints;
  /** Change of the fee by `prioritisetransaction`, in satoshis. */
  feeDeltaSat = 0n;
  /** Unconfirmed parents and children, without duplicates, in no particular order. */
  parents: readonly PoolEntry[] = NONE;
  children: readonly PoolEntry[] = NONE;
  /** Sums over the entry and its descendants, and over the entry and its ancestors. Fees include fee deltas. */
  descendantCount = 1;
  descendantSizeBytes: number;
  descendantFeesSat: bigint;
  ancestorCount = 1;
  ancestorSizeBytes: number;
  ancestorFeesSat: bigint;
  ancestorSigopsCost: number;
  /** Position in the eviction queue (-1 if the entry is not in it), and the score by which the queue is sorted. */
  evictionIndex = -1;
  evictionScore = 0;
  /** Item of the entry in the package order (`packageOrder.ts`); null while the entry must be sorted again. */
  package: { readonly entry: PoolEntry; readonly score: number } | null = null;
  /** Fee rate bucket in which the fee estimator counts the unconfirmed transaction; -1 if it is not counted. */
  feeBucket = -1;

  constructor(facts: EntryFacts) {
    const { tx } = facts;
    this.key = facts.key;
    this.wtxKey = facts.wtxKey;
    this.bytes = facts.bytes;
    this.weight = facts.weight;
    this.sizeBytes = facts.sizeBytes;
    this.sigopsCost = facts.sigopsCost;
    this.feeSat = facts.feeSat;
    this.timeSec = facts.timeSec;
    this.height = facts.height;
    this.spendsCoinbase = facts.spendsCoinbase;
    this.locks = facts.locks;
    this.lockTime = tx.lockTime;
    this.hasFinalSequences = tx.inputs.every((input) => input.sequence === 0xffffffff);
    this.inputCount = tx.inputs.length;
    this.descendantSizeBytes = facts.sizeBytes;
    this.descendantFeesSat = facts.feeSat;
    this.ancestorSizeBytes = facts.sizeBytes;
    this.ancestorFeesSat = facts.feeSat;
    this.ancestorSigopsCost = facts.sigopsCost;
  }

  get txid(): Buffer {
    return fromLatin1(this.key);
  }

  get wtxid(): Buffer {
    return fromLatin1(this.wtxKey);
  }

  get hasWitness(): boolean {
    return this.key !== this.wtxKey;
  }

  get modifiedFeeSat(): bigint {
    return this.feeSat + this.feeDeltaSat;
  }

  /** Memory of the entry in bytes, without its links. */
  get usageBytes(): number {
    return ENTRY_USAGE_BYTES + this.bytes.length + this.inputCount * SPEND_USAGE_BYTES;
  }

  /** Parses the transaction from its bytes at each call. Scripts are views of `bytes`. */
  parse(): Transaction {
    return parseTransaction(new Reader(this.bytes));
  }

  /** Keys of the outpoints that the transaction spends, in order. */
  spentKeys(): string[] {
    return spentKeysOf(this.bytes);
  }

  changeDescendants(sizeBytes: number, feesSat: bigint, count: number): void {
    this.descendantSizeBytes += sizeBytes;
    this.descendantFeesSat += feesSat;
    this.descendantCount += count;
    assert(
      this.descendantCount > 0 && this.descendantSizeBytes > 0,
      'descendants of a transaction miscounted',
    );
  }

  changeAncestors(sizeBytes: number, feesSat: bigint, count: number, sigopsCost: number): void {
    this.ancestorSizeBytes += sizeBytes;
    this.ancestorFeesSat += feesSat;
    this.ancestorCount += count;
    this.ancestorSigopsCost += sigopsCost;
    this.package = null;
    assert(this.ancestorCount > 0 && this.ancestorSizeBytes > 0, 'ancestors of a transaction miscounted');
  }
}

/** The outpoints that a serialized transaction spends, 36 bytes each, one character per byte. */
export function spentKeysOf(bytes: Buffer): string[] {
  const reader = new Reader(bytes, 4);
  let count = reader.compactSize();
  if (count === 0) {
    reader.skip(1);
    count = reader.compactSize();
  }
  const keys: string[] = [];
  for (let i = 0; i < count; i++) {
    keys.push(bytes.toString('latin1', reader.offset, reader.offset + OUTPOINT_SIZE_BYTES));
    reader.skip(OUTPOINT_SIZE_BYTES);
    reader.skip(reader.compactSize() + 4);
  }
  return keys;
}

/** Key of the transaction that contains the outpoint's output. */
export function txKeyOf(outPointKey: string): string {
  return outPointKey.slice(0, 32);
}

/** Compares two entries by the bytes of the txid in wire order, as the reference's sets of transactions do. */
export function compareByKey(a: Pick<PoolEntry, 'key'>, b: Pick<PoolEntry, 'key'>): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}
