/**
 * Compact blocks (BIP152): builds the message, and reconstructs a block from the message and known transactions. The caller
 * passes the transactions. Source: Core blockencodings.cpp.
 */
import {
  MAX_BLOCK_SERIALIZED_SIZE,
  MAX_BLOCK_WEIGHT,
  MIN_SERIALIZABLE_TRANSACTION_WEIGHT,
} from '../../consensus/limits.js';
import { compactSizeLength } from '../../consensus/txSize.js';
import { loadBlock, type LoadedBlock } from '../../chain/blocks/loadedBlock.js';
import { sha256 } from '../../crypto/hash.js';
import { TX_FLAGS, TX_HAS_WITNESS, TX_STRIDE } from '../../primitives/blockLayout.js';
import { txBytes, txidAt, wtxidAt } from '../../primitives/blockView.js';
import { HEADER_SIZE_BYTES } from '../../primitives/header.js';
import { assert } from '../../util/assert.js';
import { equalBytes, type Bytes } from '../../util/bytes.js';
import { ReadError } from '../../util/reader.js';
import { Writer } from '../../util/writer.js';
import { SHORT_ID_SIZE_BYTES, type CompactBlockMessage } from '../messages/cmpctblock.js';
import { isNullTransaction, withoutWitness } from '../rawTransaction.js';
import { ShortIdTable } from './shortIdTable.js';
import { SipHash, SIP_KEY_SIZE_BYTES } from '../../crypto/sipHash.js';

const MAX_TRANSACTIONS = MAX_BLOCK_WEIGHT / MIN_SERIALIZABLE_TRANSACTION_WEIGHT;
const MAX_INDEX = 0xffff;
/** Offset of the compact target in a header. A header with the target zero counts as null. */
const BITS_OFFSET = 104;

/**
 * SipHash function for the short ids of a compact block. Its key is derived from the header and the nonce. Source:
 * `FillShortTxIDSelector`.
 */
export function shortIdHash(header: Bytes, nonce: bigint): SipHash {
  const digest = sha256(new Writer(HEADER_SIZE_BYTES + 8).raw(header).u64(nonce).finish());
  return new SipHash(digest.subarray(0, SIP_KEY_SIZE_BYTES));
}

/** Serialization of transaction `index` of a block, with or without witness (BIP144). */
function rawTransactionAt({ raw, parsed }: LoadedBlock, index: number, withWitness: boolean): Buffer {
  const bytes = txBytes(raw, parsed, index);
  const hasWitness = (parsed.txs[index * TX_STRIDE + TX_FLAGS]! & TX_HAS_WITNESS) !== 0;
  return hasWitness && !withWitness ? withoutWitness(bytes) : bytes;
}

/**
 * Builds the message for a block with at least one transaction. Only the coinbase is prefilled. With `withWitness` (version
 * 2) short ids are computed from wtxids and transactions include their witness; without it (version 1) short ids are
 * computed from txids and transactions have no witness. The nonce should be a random number for each block.
 */
export function buildCompactBlock(
  block: LoadedBlock,
  nonce: bigint,
  withWitness: boolean,
): CompactBlockMessage {
  const { raw, parsed } = block;
  const header = raw.subarray(0, HEADER_SIZE_BYTES);
  const sip = shortIdHash(header, nonce);
  const shortIds = Buffer.alloc((parsed.txCount - 1) * SHORT_ID_SIZE_BYTES);
  for (let i = 1; i < parsed.txCount; i++) {
    sip.update(withWitness ? wtxidAt(parsed, i) : txidAt(parsed, i));
    const at = (i - 1) * SHORT_ID_SIZE_BYTES;
    shortIds.writeUInt32LE(sip.low, at);
    shortIds.writeUInt16LE(sip.high & 0xffff, at + 4);
  }
  return { header, nonce, shortIds, prefilled: [{ index: 0, raw: rawTransactionAt(block, 0, withWitness) }] };
}

/**
 * Transactions of a block that a `getblocktxn` message requests; null if an index is too high, for which the peer gets 100
 * misbehaviour points.
 */
export function pickTransactions(
  block: LoadedBlock,
  indexes: readonly number[],
  withWitness: boolean,
): Buffer[] | null {
  if (indexes.some((index) => index >= block.parsed.txCount)) return null;
  return indexes.map((index) => rawTransactionAt(block, index, withWitness));
}

/** A transaction that the block may contain, because it is in the mempool or left it recently. */
export interface Candidate {
  readonly wtxid: Bytes;
  /** Transaction serialized with witness. */
  readonly bytes: Bytes;
}

/**
 * `invalid`: the message violates the protocol. `failed`: the block cannot be reconstructed and must be requested in full,
 * which is not the peer's fault. Source: `ReadStatus`.
 */
export type Unreadable = { readonly status: 'invalid' | 'failed' };
export type BeginResult = { readonly status: 'ok'; readonly partial: PartialBlock } | Unreadable;
export type CompleteResult = { readonly status: 'ok'; readonly block: LoadedBlock } | Unreadable;

const INVALID: Unreadable = { status: 'invalid' };
const FAILED: Unreadable = { status: 'failed' };

/**
 * A partly reconstructed block. It refers to the bytes of the message, which must not change. Source:
 * `PartiallyDownloadedBlock`.
 */
export class PartialBlock {
  /** 112 bytes. */
  readonly header: Buffer;
  private readonly sip: SipHash;
  /** Transactions by position in the block; null if missing. */
  private readonly txs: (Bytes | null)[];
  private readonly table: ShortIdTable;
  /** For each short id, the candidate that matches it; `AMBIGUOUS` if several different candidates match it. */
  private readonly found: (Candidate | typeof AMBIGUOUS | undefined)[];
  private readonly prefilledCount: number;
  private matches = 0;
  private isSpent = false;

  private constructor(message: CompactBlockMessage, txs: (Bytes | null)[], table: ShortIdTable) {
    this.header = message.header;
    this.sip = shortIdHash(message.header, message.nonce);
    this.txs = txs;
    this.table = table;
    this.found = Array.from({ length: table.count });
    this.prefilledCount = message.prefilled.length;
  }

  /** Starts the reconstruction from a message, before candidates are added. Source: the part of `InitData` before the mempool. */
  static begin(message: CompactBlockMessage): BeginResult {
    const { header, shortIds, prefilled } = message;
    const shortIdCount = shortIds.length / SHORT_ID_SIZE_BYTES;
    const count = shortIdCount + prefilled.length;
    if (header.readUInt32LE(BITS_OFFSET) === 0 || count === 0 || count > MAX_TRANSACTIONS) return INVALID;
    const txs = Array.from<Bytes | null>({ length: count }).fill(null);
    for (const [i, { index, raw }] of prefilled.entries()) {
      // An index above the number of short ids and earlier prefilled transactions would leave a position without any
      // transaction.
      if (isNullTransaction(raw) || index > MAX_INDEX || index > shortIdCount + i) return INVALID;
      txs[index] = raw;
    }
    const table = ShortIdTable.build(shortIds);
    return table === null ? FAILED : { status: 'ok', partial: new PartialBlock(message, txs, table) };
  }

  /**
   * Adds the candidates that match short ids of the block. May be called several times. If two different transactions match
   * a position, the position stays empty. Returns whether further candidates can be useful.
   */
  fill(candidates: Iterable<Candidate>): boolean {
    const { sip, table, found } = this;
    if (this.matches === table.count) return false;
    for (const candidate of candidates) {
      sip.update(candidate.wtxid);
      const number = table.find(sip.low, sip.high & 0xffff);
      if (number < 0) continue;
      const other = found[number];
      if (other === undefined) {
        found[number] = candidate;
        // As in the reference, the search ends when all positions are filled, although a further candidate might match one
        // of them.
        if (++this.matches === table.count) return false;
      } else if (other !== AMBIGUOUS && !equalBytes(other.wtxid, candidate.wtxid)) {
        found[number] = AMBIGUOUS;
        this.matches--;
      }
    }
    return true;
  }

  /** Numbers of transactions: prefilled ones, those found among the candidates, and all of the block. */
  get counts(): { prefilled: number; found: number; total: number } {
    return { prefilled: this.prefilledCount, found: this.matches, total: this.txs.length };
  }

  /** Positions of the transactions that were not found, ascending. */
  missing(): number[] {
    const places: number[] = [];
    let number = 0;
    for (const [place, tx] of this.txs.entries()) {
      if (tx === null && this.foundAt(number++) === null) places.push(place);
    }
    return places;
  }

  private foundAt(number: number): Bytes | null {
    const candidate = this.found[number];
    return candidate === undefined || candidate === AMBIGUOUS ? null : candidate.bytes;
  }

  /**
   * Completes the block with the missing transactions, in order. May be called only once. Only the merkle root is checked,
   * no other rule for blocks. Source: `FillBlock`.
   */
  complete(missing: readonly Bytes[]): CompleteResult {
    assert(!this.isSpent, 'a partial block is completed once');
    this.isSpent = true;
    let [number, used] = [0, 0];
    const txs: Bytes[] = [];
    for (const tx of this.txs) {
      const whole = tx ?? this.foundAt(number++) ?? missing[used++];
      if (whole === undefined) return INVALID;
      txs.push(whole);
    }
    if (used !== missing.length) return INVALID;
    return assemble(this.header, txs);
  }
}

/** Marks a short id that several different candidates match. */
const AMBIGUOUS = Symbol('ambiguous');

function assemble(header: Buffer, txs: readonly Bytes[]): CompleteResult {
  let size = HEADER_SIZE_BYTES + compactSizeLength(txs.length);
  for (const tx of txs) size += tx.length;
  // A block above this size is invalid. Without the check a large mempool could give a block of hundreds of megabytes.
  if (size > MAX_BLOCK_SERIALIZED_SIZE) return FAILED;
  const writer = new Writer(size).raw(header).compactSize(txs.length);
  for (const tx of txs) writer.raw(tx);
  try {
    const block = loadBlock(writer.finish());
    const { merkleRoot, mutated } = block.parsed;
    // The reconstructed block is wrong. The most likely cause is that another transaction has the same short id.
    if (mutated || !equalBytes(merkleRoot, block.header.merkleRoot)) return FAILED;
    return { status: 'ok', block };
  } catch (error) {
    if (error instanceof ReadError) return INVALID;
    throw error;
  }
}
