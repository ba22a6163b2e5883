/** Reads a blob in parts, so that only one part is in memory and only the chunks of that part need to be verified. */
import { fstatSync } from 'node:fs';
import { loadNative } from '../../native/binding.js';
import { TaskSlots } from '../../scheduler/taskSlots.js';
import { CHUNK_BYTES, type ChunkTable } from '../content/chunkTable.js';
import type { BlobFile } from './blobFile.js';
import { stampText, type FileStamp } from './blobWork.js';

const native = loadNative();
/** Memory for the verification of one chunk. Only code without pauses uses it, so all readers share it. */
const shared = new Uint8Array(CHUNK_BYTES);

/** Maximum number of whole chunks that are read at the same time when only parts are needed. The thread pool has four threads. */
const CHUNKS_AT_ONCE = 4;
const reading = new TaskSlots(CHUNKS_AT_ONCE);
/** Unused buffers for these chunks, at most `CHUNKS_AT_ONCE`. */
const chunkBuffers: Uint8Array[] = [];

/** A piece of a blob, and the whole chunks that contain it. All values are positions in the blob or bytes. */
interface PieceOfChunks {
  readonly at: number;
  readonly length: number;
  readonly start: number;
  readonly end: number;
}

/** Thrown if the file was changed after it was opened, or does not contain the blob. */
export class BlobChangedError extends Error {
  override readonly name: string = 'BlobChangedError';
}

export interface BlobPartsOptions {
  readonly file: BlobFile;
  /** Stamp of the file when it was verified; with `chunks`, when it was opened. */
  readonly stamp: FileStamp;
  readonly lengthBytes: number;
  /** Table by which each chunk is verified before its first use; null if the whole file is already verified. */
  readonly chunks: ChunkTable | null;
  /** Called when all chunks were verified. */
  readonly onVerified: () => void;
  /** Verifies the whole blob after a chunk did not match. Resolves to the stamp of the file that has the blob's hash, or to null. */
  readonly recheck: () => Promise<FileStamp | null>;
}

export class BlobParts {
  readonly lengthBytes: number;
  readonly #options: BlobPartsOptions;
  #chunks: ChunkTable | null;
  /** Numbers of the chunks that were verified so far. */
  readonly #verified = new Set<number>();

  constructor(options: BlobPartsOptions) {
    this.#options = options;
    this.#chunks = options.chunks;
    this.lengthBytes = options.lengthBytes;
  }

  /**
   * Reads `count` bytes from a position, or fewer at the end of the blob. The result is in the buffer `into` if it is given,
   * unless its verification needs other bytes of several chunks. Throws `BlobChangedError` if the file was changed or is corrupt.
   */
  async read(at: number, count: number, into?: Uint8Array): Promise<Uint8Array> {
    const length = Math.min(count, this.lengthBytes - at);
    const start = at - (at % CHUNK_BYTES);
    const end = Math.min(this.lengthBytes, Math.ceil((at + length) / CHUNK_BYTES) * CHUNK_BYTES);
    const isOfOneChunk = end - start <= CHUNK_BYTES;
    if (this.#chunks === null || (isOfOneChunk && this.#verified.has(start / CHUNK_BYTES)))
      return this.#readUnchanged(at, into?.subarray(0, length) ?? new Uint8Array(length));
    const fits = into !== undefined && start === at && end === at + length;
    if (!fits && isOfOneChunk && this.#isChunkCached(start, end)) {
      const piece = into?.subarray(0, length) ?? new Uint8Array(length);
      piece.set(shared.subarray(at - start, at - start + length));
      return piece;
    }
    const piece = await this.#readVerified({ at, length, start, end }, into ?? null, fits);
    if (piece !== null) return piece;
    if ((await this.#options.recheck()) !== this.#options.stamp)
      throw new BlobChangedError('the file of the blob is corrupt');
    // The hashes of the chunks were wrong. The whole file was verified during the read.
    this.#chunks = null;
    return this.read(at, count, into);
  }

  /**
   * Reads whole chunks from disk and returns the piece at `at`. Null if the chunks do not match the table. `fits`: whether the piece
   * consists of whole chunks, which are read into `into`. Otherwise a single chunk is read into a reused buffer and the piece is
   * copied to `into`.
   */
  async #readVerified(
    { at, length, start, end }: PieceOfChunks,
    into: Uint8Array | null,
    fits: boolean,
  ): Promise<Uint8Array | null> {
    const readInto = async (target: Uint8Array): Promise<Uint8Array | null> => {
      const bytes = await this.#readUnchanged(start, target);
      return this.#areRight(start / CHUNK_BYTES, bytes)
        ? bytes.subarray(at - start, at - start + length)
        : null;
    };
    if (into === null || fits || end - start > CHUNK_BYTES)
      return readInto(fits ? into!.subarray(0, length) : new Uint8Array(end - start));
    return reading.run(async () => {
      const buffer = chunkBuffers.pop() ?? new Uint8Array(CHUNK_BYTES);
      try {
        const piece = await readInto(buffer.subarray(0, end - start));
        if (piece === null) return null;
        into.set(piece);
        return into.subarray(0, length);
      } finally {
        chunkBuffers.push(buffer);
      }
    });
  }

  /** Reads a chunk from the page cache into the shared memory. Returns whether it was there and is right. */
  #isChunkCached(start: number, end: number): boolean {
    const bytes = shared.subarray(0, end - start);
    return this.#readCached(start, bytes) && this.#areRight(start / CHUNK_BYTES, bytes);
  }

  /** Reading from the page cache takes less time than a job of the thread pool. */
  #readCached(at: number, into: Uint8Array): boolean {
    const { file, stamp } = this.#options;
    if (native?.readCached(file.fd, into, at) !== into.length) return false;
    if (stampText(fstatSync(file.fd, { bigint: true })) !== stamp)
      throw new BlobChangedError('the file of the blob was changed');
    return true;
  }

  async #readUnchanged(at: number, into: Uint8Array): Promise<Uint8Array> {
    if (this.#readCached(at, into)) return into;
    const { file, stamp } = this.#options;
    const count = await file.read(into, into.length, at);
    if (count < into.length || stampText(fstatSync(file.fd, { bigint: true })) !== stamp)
      throw new BlobChangedError('the file of the blob was changed');
    return into;
  }

  /** Verifies whole chunks, skipping chunks that are verified already. Returns whether all match. */
  #areRight(firstChunk: number, bytes: Uint8Array): boolean {
    const last = firstChunk + Math.ceil(bytes.length / CHUNK_BYTES);
    for (let from = firstChunk; from < last;) {
      if (this.#verified.has(from)) {
        from++;
        continue;
      }
      // One call for several chunks takes less time than one call for each.
      let to = from + 1;
      while (to < last && !this.#verified.has(to)) to++;
      const part = bytes.subarray((from - firstChunk) * CHUNK_BYTES, (to - firstChunk) * CHUNK_BYTES);
      if (!this.#chunks!.matches(from, part)) return false;
      for (; from < to; from++) this.#verified.add(from);
    }
    if (this.#verified.size * CHUNK_BYTES >= this.lengthBytes) {
      this.#chunks = null;
      this.#options.onVerified();
    }
    return true;
  }

  close(): Promise<void> {
    return this.#options.file.close();
  }
}
