/**
 * Makes a stream from a file: the file is read once, piece by piece, while threads encrypt the pieces, write the blobs and hash
 * the whole file (`pieceMakers.ts`). Source: lbry-sdk lbry/stream/descriptor.py `create_stream`.
 */
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { environmentError } from '../../util/text/environmentError.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';
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
import { pieceMaker, type FilePiece } from './pieceMakers.js';

const KEY_BYTES = 16;

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
  /** Ends the reading of the file. No blob of the stream remains then. */
  readonly signal?: AbortSignal;
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
  { store, threads, random, signal, onEncrypted }: MakeStreamOptions,
  keeps: boolean,
  written: string[],
): Promise<Encrypted> {
  refuseSpecialFile(path);
  const file = await open(path, 'r');
  const jobs: Promise<DescriptorBlob[]>[] = [];
  const maker = pieceMaker({ file, store, threads, keeps });
  let isHashing = true;
  try {
    const before = await file.stat({ bigint: true });
    let failed: unknown = null;
    let [sizeBytes, count] = [0, 0];
    const encrypt = async (pieces: readonly FilePiece[], first: number): Promise<DescriptorBlob[]> => {
      const ivs = pieces.map(() => random.bytes(KEY_BYTES));
      try {
        const made = await maker.encrypt(pieces, key, ivs);
        // Waits for all blobs, so that `written` contains every stored blob after a failure.
        const kept = await Promise.allSettled(
          made.map(async (blob, at) => {
            await blob.kept;
            if (keeps) written.push(blob.hash);
            onEncrypted?.(pieces[at]!.size);
          }),
        );
        for (const one of kept) if (one.status === 'rejected') throw one.reason;
        return made.map(({ hash, length }, at) => {
          const iv = ivs[at]!.toString('hex');
          return { blobHash: hash, blobNum: first + at, iv, length };
        });
      } catch (error) {
        failed ??= error;
        throw error;
      }
    };
    for (;;) {
      signal?.throwIfAborted();
      const pieces = await maker.read(sizeBytes, Number(before.size) - sizeBytes);
      if (pieces.length === 0) break;
      if (failed !== null) {
        maker.drop(pieces);
        break;
      }
      const job = encrypt(pieces, count);
      job.catch(() => undefined);
      jobs.push(job);
      for (const { size } of pieces) sizeBytes += size;
      count += pieces.length;
      // A file that grows is refused below. Its further bytes are not read, because it may grow as fast as it is read.
      if (pieces.at(-1)!.size < PIECE_BYTES || sizeBytes > Number(before.size)) break;
    }
    const blobs = (await Promise.all(jobs)).flat();
    const after = await file.stat({ bigint: true });
    if (BigInt(sizeBytes) !== before.size || after.size !== before.size || after.mtimeNs !== before.mtimeNs)
      throw failure(
        `The file ${path} changed while it was being read. Publish it again when it is complete.`,
      );
    const iv = random.bytes(KEY_BYTES).toString('hex');
    isHashing = false;
    const fileHash = await maker.end();
    return {
      blobs: [...blobs, { blobHash: null, blobNum: blobs.length, iv, length: 0 }],
      fileHash,
      sizeBytes,
      stamp: originalStamp(after),
    };
  } finally {
    // On failure the caller removes the blobs of the stream, so it needs the hashes of all of them.
    await Promise.allSettled(jobs);
    if (isHashing) await maker.end().catch(() => undefined);
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
