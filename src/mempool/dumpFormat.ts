/**
 * The format of `mempool.dat`: version; transactions, each with time and fee delta; the fee deltas of transactions not in
 * the mempool; and the txids that must still be announced to peers. The last part was added in Core 0.21; the reference
 * stops reading before it, and a file without it is complete. A checksum follows (`checksumTail.ts`). The file is written
 * under a new name, which replaces the old file. It is read in pieces, after the checksum was verified. Source: Core
 * validation.cpp `DumpMempool`, `LoadMempool`.
 */
import { createHash } from 'node:crypto';
import { open, rename, type FileHandle } from 'node:fs/promises';
import { parseTransaction, type Transaction } from '../primitives/transaction.js';
import { toLatin1, type Bytes } from '../util/bytes.js';
import { environmentError } from '../util/text/environmentError.js';
import { Reader, ReadError } from '../util/reader.js';
import { Writer } from '../util/writer.js';
import { refuseSpecialFile } from '../util/files/specialFile.js';
import { checksumTail, verifiedLength } from './checksumTail.js';

/** Source: `MEMPOOL_DUMP_VERSION`. */
const DUMP_VERSION = 1n;
/** Number of bytes that are written or read in one step. Arbitrary. */
const PIECE_BYTES = 1 << 20;
/** Maximum size of a record in bytes, above the size of a transaction as large as a block. */
const LARGEST_RECORD_BYTES = 9 << 20;

export interface DumpedTransaction {
  /** Transaction serialized with witness. */
  readonly bytes: Bytes;
  readonly timeSec: number;
  readonly feeDeltaSat: bigint;
}

/** Fee delta of a transaction. `key` is the txid in wire order, one character per byte. */
export type DumpedDelta = readonly [key: string, feeDeltaSat: bigint];

/**
 * Writes a dump and flushes it to disk before it replaces the previous one. Rejects with an `EnvironmentError` when the disk
 * fails.
 */
export async function writeDump(
  path: string,
  transactions: readonly DumpedTransaction[],
  deltas: readonly DumpedDelta[],
  unbroadcast: readonly string[],
): Promise<void> {
  try {
    await writeFresh(path, transactions, deltas, unbroadcast);
  } catch (error) {
    throw environmentError(error, path);
  }
}

async function writeFresh(
  path: string,
  transactions: readonly DumpedTransaction[],
  deltas: readonly DumpedDelta[],
  unbroadcast: readonly string[],
): Promise<void> {
  const fresh = `${path}.new`;
  refuseSpecialFile(fresh);
  const file = await open(fresh, 'w');
  const hash = createHash('sha256');
  const write = async (piece: Buffer): Promise<void> => {
    hash.update(piece);
    await file.writeFile(piece);
  };
  try {
    let writer = new Writer(PIECE_BYTES + 4096).u64(DUMP_VERSION).u64(BigInt(transactions.length));
    for (const { bytes, timeSec, feeDeltaSat } of transactions) {
      writer.raw(bytes).i64(BigInt(timeSec)).i64(feeDeltaSat);
      if (writer.size < PIECE_BYTES) continue;
      await write(writer.finish());
      writer = new Writer(PIECE_BYTES + 4096);
    }
    writer.compactSize(deltas.length);
    for (const [key, feeDeltaSat] of deltas) writer.raw(Buffer.from(key, 'latin1')).i64(feeDeltaSat);
    writer.compactSize(unbroadcast.length);
    for (const key of unbroadcast) writer.raw(Buffer.from(key, 'latin1'));
    await write(writer.finish());
    await file.writeFile(checksumTail(hash));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
}

export interface DumpReader {
  transaction(tx: Transaction, timeSec: number, feeDeltaSat: bigint): Promise<void>;
  delta(key: string, feeDeltaSat: bigint): void;
  /** Called with the key of each transaction that no peer has requested yet. */
  unbroadcast(key: string): void;
}

/** Reads records of unknown length from a file, with at most one record and one piece in memory. */
class RecordFile {
  private readonly file: FileHandle;
  /** Number of bytes of the file that have not been read. */
  private left: number;
  private piece = Buffer.alloc(0);
  private offset = 0;
  private ended = false;

  /** Prepares to read the first `length` bytes of the file. */
  constructor(file: FileHandle, length: number) {
    this.file = file;
    this.left = length;
  }

  /** Reads the next record with `parse`. Throws `ReadError` if the file ends within the record. */
  async next<T>(parse: (reader: Reader) => T): Promise<T> {
    for (;;) {
      const reader = new Reader(this.piece, this.offset);
      try {
        const record = parse(reader);
        this.offset = reader.offset;
        return record;
      } catch (error) {
        const left = this.piece.length - this.offset;
        if (!(error instanceof ReadError) || this.ended || left > LARGEST_RECORD_BYTES) throw error;
      }
      await this.readMore();
    }
  }

  async isAtEnd(): Promise<boolean> {
    if (this.offset === this.piece.length && !this.ended) await this.readMore();
    return this.offset === this.piece.length;
  }

  private async readMore(): Promise<void> {
    const rest = this.piece.subarray(this.offset);
    const wanted = Math.max(PIECE_BYTES, rest.length);
    const grown = Buffer.alloc(rest.length + wanted);
    rest.copy(grown);
    const { bytesRead } = await this.file.read(grown, rest.length, Math.min(wanted, this.left));
    this.left -= bytesRead;
    this.ended = bytesRead === 0;
    this.piece = grown.subarray(0, rest.length + bytesRead);
    this.offset = 0;
  }
}

/**
 * Reads a dump to its end or until the signal aborts. Resolves to false if the file does not exist. Throws `ReadError` if the file
 * is corrupt or has another version; in a file without checksum, the records before the corruption are read first. Throws system
 * errors if the disk fails.
 */
export async function readDump(path: string, into: DumpReader, signal: AbortSignal): Promise<boolean> {
  refuseSpecialFile(path);
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (!file) return false;
  try {
    // The verification reads at explicit offsets, so the file position, from which `read` continues, is still 0.
    const records = new RecordFile(file, await verifiedLength(file));
    const version = await records.next((reader) => reader.u64());
    if (version !== DUMP_VERSION) throw new ReadError(`its version is ${version}, not ${DUMP_VERSION}`);
    const count = await records.next((reader) => reader.u64());
    for (let n = 0n; n < count && !signal.aborted; n++) {
      const record = await records.next((reader) => ({
        tx: parseTransaction(reader),
        timeSec: Number(reader.i64()),
        feeDeltaSat: reader.i64(),
      }));
      await into.transaction(record.tx, record.timeSec, record.feeDeltaSat);
    }
    if (signal.aborted) return true;
    const deltas = await records.next((reader) => reader.compactSize());
    for (let n = 0; n < deltas; n++) {
      const [key, feeDeltaSat] = await records.next(
        (reader) => [toLatin1(reader.hash()), reader.i64()] as const,
      );
      into.delta(key, feeDeltaSat);
    }
    if (await records.isAtEnd()) return true;
    const unbroadcast = await records.next((reader) => reader.compactSize());
    for (let n = 0; n < unbroadcast; n++) {
      into.unbroadcast(await records.next((reader) => toLatin1(reader.hash())));
    }
    if (!(await records.isAtEnd())) throw new ReadError('there is data after its end');
    return true;
  } finally {
    await file.close();
  }
}
