/**
 * Making a stream of a file: the file is read once, piece by piece, while threads encrypt the pieces, write the blobs and hash
 * the whole file. Source: lbry-sdk lbry/stream/descriptor.py `create_stream`.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { environmentError } from '../../util/text/environmentError.js';
import { refuseSpecialFile } from '../../util/specialFile.js';
import type { Clock, DaemonRandom } from '../base/clock.js';
import { failure } from '../base/daemonError.js';
import { blobHashOf, PIECE_BYTES } from '../content/blobHash.js';
import type { ContentDatabase } from '../content/contentDatabase.js';
import {
  descriptorBytes,
  streamHashOf,
  type DescriptorBlob,
  type StreamDescriptor,
} from '../content/descriptor.js';
import { safeFileName } from '../content/fileNames.js';
import type { BlobStore } from './blobStore.js';
import type { BlobThreads } from './blobThreads.js';
import { originalStamp } from './blobWork.js';

const KEY_BYTES = 16;
/** Maximum number of blobs that are written but not yet on disk. Arbitrary: more than a disk writes at the same time. */
const MAX_UNKEPT = 32;

export interface MakeStreamOptions {
  readonly store: BlobStore;
  readonly threads: BlobThreads;
  readonly database: Pick<
    ContentDatabase,
    'addStream' | 'setStreamSize' | 'noteOriginal' | 'beginMaking' | 'endMaking'
  >;
  readonly clock: Clock;
  readonly random: DaemonRandom;
  /** Whether data blobs are written (`keep_blobs`); default true. Otherwise they are made from the file on demand. */
  readonly keepsBlobs?: () => boolean;
  /** Called with the number of bytes after each encrypted piece of the file. */
  readonly onEncrypted?: (bytes: number) => void;
  /**
   * Called when the rows of the stream are stored, to add the row of its file. If it rejects, the stream is removed. If the
   * process is killed before it resolves, the next start removes the stream.
   */
  readonly onStored?: (made: MadeStream) => Promise<void>;
}

export interface MadeStream {
  readonly descriptor: StreamDescriptor;
  readonly sdHash: string;
  /** SHA-384 of the file as hexadecimal digits. */
  readonly fileHash: string;
  readonly sizeBytes: number;
}

/** Pool of shared buffers for the pieces of a file. Pieces are read ahead while buffers are free. */
class PiecePool {
  readonly #free: SharedArrayBuffer[];
  readonly #waiting: ((buffer: SharedArrayBuffer) => void)[] = [];

  constructor(count: number) {
    this.#free = Array.from({ length: count }, () => new SharedArrayBuffer(PIECE_BYTES));
  }

  take(): Promise<SharedArrayBuffer> {
    const free = this.#free.pop();
    return free ? Promise.resolve(free) : new Promise((resolve) => this.#waiting.push(resolve));
  }

  giveBack(buffer: SharedArrayBuffer): void {
    const next = this.#waiting.shift();
    if (next) next(buffer);
    else this.#free.push(buffer);
  }
}

/** Reads until the piece is full or the file ends. Returns the number of bytes read. */
async function fill(file: FileHandle, piece: Uint8Array, offset: number): Promise<number> {
  let at = 0;
  while (at < piece.length) {
    const { bytesRead } = await file.read(piece, at, piece.length - at, offset + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return at;
}

interface Encrypted {
  readonly blobs: readonly DescriptorBlob[];
  readonly fileHash: string;
  readonly sizeBytes: number;
  /** See `originalStamp`. */
  readonly stamp: string;
}

/**
 * Encrypts a file into blobs. Throws if the file changes during the encryption. `written` receives the hash of each blob as
 * soon as the blob is stored.
 */
async function encryptFile(
  path: string,
  key: Uint8Array,
  { store, threads, random, onEncrypted }: MakeStreamOptions,
  keeps: boolean,
  written: string[],
): Promise<Encrypted> {
  refuseSpecialFile(path);
  const file = await open(path, 'r');
  const jobs: Promise<DescriptorBlob>[] = [];
  const fileHash = threads.hashFile();
  let hashed: string | null = null;
  try {
    const before = await file.stat({ bigint: true });
    const pieces = new PiecePool(threads.limit + 1);
    let failed: unknown = null;
    /** Encrypts a piece. Its buffer is reused when no thread needs it any more. */
    const encryptPiece = async (buffer: SharedArrayBuffer, length: number, iv: Buffer) => {
      const piece = new Uint8Array(buffer, 0, length);
      try {
        const encrypted = keeps
          ? store.encrypt(piece, { key, iv })
          : threads.measure(piece, { key, iv }).then((blob) => ({ ...blob, kept: Promise.resolve() }));
        return (await Promise.all([encrypted, fileHash.add(piece)]))[0];
      } finally {
        pieces.giveBack(buffer);
      }
    };
    const encrypt = async (buffer: SharedArrayBuffer, length: number, blobNum: number) => {
      const iv = random.bytes(KEY_BYTES);
      try {
        const blob = await encryptPiece(buffer, length, iv);
        await blob.kept;
        if (keeps) written.push(blob.hash);
        onEncrypted?.(length);
        return { blobHash: blob.hash, blobNum, iv: iv.toString('hex'), length: blob.length };
      } catch (error) {
        failed ??= error;
        throw error;
      }
    };
    let sizeBytes = 0;
    for (;;) {
      // The file is read further only when fewer blobs wait to be on disk.
      if (jobs.length >= MAX_UNKEPT) await jobs.at(-MAX_UNKEPT)!.catch(() => undefined);
      const buffer = await pieces.take();
      if (failed !== null) break;
      const length = await fill(file, new Uint8Array(buffer), sizeBytes);
      if (length === 0) break;
      const job = encrypt(buffer, length, jobs.length);
      job.catch(() => undefined);
      jobs.push(job);
      sizeBytes += length;
      if (length < PIECE_BYTES) break;
    }
    const blobs = await Promise.all(jobs);
    const after = await file.stat({ bigint: true });
    if (BigInt(sizeBytes) !== before.size || after.size !== before.size || after.mtimeNs !== before.mtimeNs)
      throw failure(
        `The file ${path} changed while it was being read. Publish it again when it is complete.`,
      );
    const iv = random.bytes(KEY_BYTES).toString('hex');
    hashed = await fileHash.end();
    return {
      blobs: [...blobs, { blobHash: null, blobNum: blobs.length, iv, length: 0 }],
      fileHash: hashed,
      sizeBytes,
      stamp: originalStamp(after),
    };
  } finally {
    // On failure the caller removes the blobs of the stream, so it needs the hashes of all of them.
    await Promise.allSettled(jobs);
    if (hashed === null) await fileHash.end().catch(() => undefined);
    await file.close();
  }
}

const dataOf = ({ blobs }: StreamDescriptor) =>
  blobs.slice(0, -1).map(({ blobHash, blobNum, length }) => ({
    hash: blobHash!,
    position: blobNum,
    lengthBytes: length,
  }));

/** Removes the blobs of a failed stream that were already written. Errors, such as those of a full disk, are ignored. */
async function discard(
  written: readonly string[],
  streamHash: string | null,
  store: BlobStore,
): Promise<void> {
  await store.discard(written).catch(() => undefined);
  if (streamHash !== null) await store.deleteStream(streamHash).catch(() => undefined);
}

/**
 * Makes a stream from the file at the path. Its blobs and rows are stored when the promise resolves. Without `keep_blobs`,
 * only the rows of data blobs are stored. Rejects with `EnvironmentError` if the system refuses access, and with `Exception`
 * if the file changes. After either error no blob of the stream remains.
 */
export async function makeStream(path: string, making: MakeStreamOptions): Promise<MadeStream> {
  const { store, database, clock, random, keepsBlobs } = making;
  const keeps = keepsBlobs?.() ?? true;
  const key = random.bytes(KEY_BYTES);
  const written: string[] = [];
  let added: string | null = null;
  // The database stores this before any row of the stream. After a kill the next start removes the blobs and the stream.
  const begun = database.beginMaking(clock.nowSec());
  begun.catch(() => undefined);
  try {
    const { blobs, fileHash, sizeBytes, stamp } = await encryptFile(path, key, making, keeps, written);
    const streamName = basename(path);
    const stream = {
      streamName,
      key: key.toString('hex'),
      suggestedFileName: safeFileName(streamName),
      blobs,
    };
    const descriptor = { ...stream, streamHash: streamHashOf(stream) };
    const bytes = descriptorBytes(descriptor);
    const sdHash = blobHashOf(bytes);
    if (!(await store.write(sdHash, bytes, true)))
      throw failure(`The file ${path} is too large for one stream: its descriptor does not fit into a blob.`);
    written.push(sdHash);
    const { streamHash } = descriptor;
    const original = {
      streamHash,
      sdHash,
      path,
      sizeBytes,
      goodStamp: stamp,
      seenStamp: stamp,
      isSame: true,
    };
    // The row of the published file is stored before the rows of the stream. A crash between the two leaves an unused row,
    // never a blob that cannot be made.
    if (!keeps) await database.noteOriginal(original);
    await begun;
    added = streamHash;
    await database.addStream({
      descriptor,
      sdHash,
      sdLengthBytes: bytes.length,
      addedOn: clock.nowSec(),
      isMine: true,
    });
    await database.setStreamSize(streamHash, sizeBytes);
    if (!keeps) await store.addMade(original, dataOf(descriptor));
    const made = { descriptor, sdHash, fileHash, sizeBytes };
    await making.onStored?.(made);
    return made;
  } catch (error) {
    await discard(written, added, store);
    throw environmentError(error, path);
  } finally {
    // The note may stay: the next start finds no blob without a stream then.
    begun.then(() => database.endMaking()).catch(() => undefined);
  }
}
