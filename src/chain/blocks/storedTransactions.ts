/**
 * Reads single transactions from the block files. Guarantees that the result equals the stored transaction: it is compared
 * with its txid, and where the witness matters with its wtxid too. On a mismatch the whole block is read and verified
 * against its header. Corruption on disk throws an error; it is never returned as a result.
 */
import { TX_START, TX_STRIDE } from '../../primitives/blockLayout.js';
import { scanTransaction, txBytes, TX_IDS_BYTES, txidAt, wtxidAt } from '../../primitives/blockView.js';
import { parseTransaction, type Transaction } from '../../primitives/transaction.js';
import { BlockFileError } from '../../store/files/blockFiles.js';
import { equalBytes, type Bytes } from '../../util/bytes.js';
import { Reader } from '../../util/reader.js';
import type { Chain } from '../chain.js';
import type { LoadedBlock } from './loadedBlock.js';

/** Number of bytes of the first read for a transaction; most transactions are smaller. */
const FIRST_READ_BYTES = 4096;
/**
 * Number of bytes of a second read from the page cache, for a transaction with many outputs. Reading them takes less time
 * than waking a thread.
 */
const SECOND_READ_BYTES = 65_536;
/** Sizes in bytes of the successive reads after the first one. No transaction is larger than the last size. */
const MORE_BYTES = [4096, 131_072, 8_000_000];
/** Number of the first bytes of a wtxid that are stored. */
export const WITNESS_CHECK_BYTES = 8;
/** Offset of BIP144's marker in a transaction with witness: it reads as an empty list of inputs. */
const MARKER_AT = 4;

/** A transaction as stored in its block. */
export class StoredTransaction {
  readonly bytes: Buffer;
  readonly txid: Buffer;
  readonly wtxid: Buffer;
  private parsed: Transaction | null = null;

  constructor(bytes: Buffer, txid: Buffer, wtxid: Buffer) {
    this.bytes = bytes;
    this.txid = txid;
    this.wtxid = wtxid;
  }

  get hasWitness(): boolean {
    return this.bytes[MARKER_AT] === 0;
  }

  /** The parsed transaction. Its scripts are views of `bytes`. */
  get tx(): Transaction {
    return (this.parsed ??= parseTransaction(new Reader(this.bytes)));
  }
}

/** The requested transaction, and how its bytes are verified. */
export interface WantedTransaction {
  readonly txid: Bytes;
  /** Offset of the transaction in its block. */
  readonly offset: number;
  /**
   * `ignored`: the caller does not use the witness. Else the witness is verified by the first `WITNESS_CHECK_BYTES` of the
   * wtxid or, if null, by the whole block.
   */
  readonly witness: 'ignored' | Bytes | null;
}

/** Returns transaction `n` of a verified block. */
export function storedTransactionAt({ raw, parsed }: LoadedBlock, n: number): StoredTransaction {
  return new StoredTransaction(txBytes(raw, parsed, n), txidAt(parsed, n), wtxidAt(parsed, n));
}

/** Number of the transaction in the block, -1 if the block does not contain it. */
export function positionInBlock({ parsed }: Pick<LoadedBlock, 'parsed'>, wanted: Bytes): number {
  const { txids, txCount } = parsed;
  for (let at = txids.indexOf(wanted); at >= 0; at = txids.indexOf(wanted, at + 1)) {
    if (at % wanted.length === 0 && at / wanted.length < txCount) return at / wanted.length;
  }
  return -1;
}

export class StoredTransactions {
  private readonly chain: Chain;
  private readonly scratch = Buffer.allocUnsafe(FIRST_READ_BYTES);
  private largeScratch: Buffer | null = null;

  constructor(chain: Chain) {
    this.chain = chain;
  }

  /**
   * The transaction of block `id`; synchronous if its bytes are in the page cache. Null if the block is intact and has no
   * such transaction. Throws `BlockFileError` when the block is corrupt or its file is missing.
   */
  read(id: number, wanted: WantedTransaction): StoredTransaction | Promise<StoredTransaction | null> {
    const found = this.cached(id, wanted.offset, this.scratch) ?? this.largeCached(id, wanted.offset);
    return found !== null && isIt(found, wanted) ? found : this.readSlowly(id, wanted);
  }

  /** The transaction at an offset of block `id`, if the page cache contains it and it fits into `scratch`; else null. */
  private cached(id: number, offset: number, scratch: Buffer): StoredTransaction | null {
    const got = this.chain.deps.files.readNow(this.chain.index.headers.dataPosition(id), offset, scratch);
    return got === 0 ? null : scan(scratch.subarray(0, got), true);
  }

  private largeCached(id: number, offset: number): StoredTransaction | null {
    return this.cached(id, offset, (this.largeScratch ??= Buffer.allocUnsafeSlow(SECOND_READ_BYTES)));
  }

  /**
   * Reads the transaction at an offset of block `id`. Its txid must begin with `txidStart`; otherwise the result is null.
   * Throws `BlockFileError` as `read` does.
   */
  async readAt(id: number, offset: number, txidStart: Bytes): Promise<StoredTransaction | null> {
    const fits = ({ txid }: StoredTransaction): boolean =>
      equalBytes(txid.subarray(0, txidStart.length), txidStart);
    const first = this.cached(id, offset, this.scratch) ?? this.largeCached(id, offset);
    if (first !== null && fits(first)) return first;
    const block = await this.chain.readBlock(id);
    for (let n = 0; n < block.parsed.txCount; n++) {
      if (block.parsed.txs[n * TX_STRIDE + TX_START] !== offset) continue;
      const found = storedTransactionAt(block, n);
      return fits(found) ? found : null;
    }
    return null;
  }

  private async readSlowly(id: number, wanted: WantedTransaction): Promise<StoredTransaction | null> {
    const { files } = this.chain.deps;
    const { headers } = this.chain.index;
    for (const length of MORE_BYTES) {
      let bytes: Buffer;
      try {
        bytes = await files.readPart(headers.dataPosition(id), wanted.offset, length);
      } catch (error) {
        // The next step reads the whole block, and its error is more precise than this one.
        if (error instanceof BlockFileError) break;
        throw error;
      }
      const found = scan(bytes, false);
      if (found !== null && isIt(found, wanted)) return found;
      if (found !== null || bytes.length < length) break;
    }
    // The bytes are another transaction (after a reorg), have a witness that cannot be verified, or are corrupt. Reading
    // the whole block decides.
    const block = await this.chain.readBlock(id);
    const n = positionInBlock(block, wanted.txid);
    return n < 0 ? null : storedTransactionAt(block, n);
  }
}

/**
 * Parses the transaction at the start of the bytes; null if there is none. With `copies`, the result has its own copy of the
 * bytes.
 */
function scan(bytes: Buffer, copies: boolean): StoredTransaction | null {
  const ids = Buffer.allocUnsafe(TX_IDS_BYTES);
  const length = scanTransaction(bytes, ids);
  if (length === 0) return null;
  const own = bytes.subarray(0, length);
  const half = TX_IDS_BYTES / 2;
  return new StoredTransaction(copies ? Buffer.from(own) : own, ids.subarray(0, half), ids.subarray(half));
}

function isIt(found: StoredTransaction, { txid, witness }: WantedTransaction): boolean {
  if (!equalBytes(found.txid, txid)) return false;
  if (witness === 'ignored' || (!found.hasWitness && witness === null)) return true;
  return witness !== null && equalBytes(found.wtxid.subarray(0, WITNESS_CHECK_BYTES), witness);
}
