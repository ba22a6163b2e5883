/**
 * Decrypted blobs of streams, from disk or from a download. Readers of one blob share the work. The most recent blobs that
 * are not on disk are cached in memory. Source: lbry-sdk lbry/stream/managed_stream.py `_aiter_read_stream`,
 * lbry/stream/downloader.py.
 */
import type { FileHandle } from 'node:fs/promises';
import { EnvironmentError } from '../../util/text/environmentError.js';
import { BlobChangedError } from '../blobs/blobParts.js';
import type { CipherKey } from '../blobs/blobWork.js';
import { bytesInMemory, decrypted, wholePlain, type PlainBlob } from '../blobs/plainBlob.js';
import { failure } from '../base/daemonError.js';
import {
  invalidDescriptor,
  readDescriptor,
  rebuiltDescriptor,
  type StreamDescriptor,
} from '../content/descriptor.js';
import type { Urgency } from '../exchange/ports.js';
import type { FilesDeps } from './ports.js';

export interface OpenStream {
  readonly sdHash: string;
  readonly descriptor: StreamDescriptor;
  /** Size in bytes of the blob that contains the descriptor. */
  readonly sdLengthBytes: number;
}

/** Number of blobs that are downloaded ahead of a reader. */
const AHEAD_BLOBS = 4;
/** Timeout of a whole blob, as a multiple of the timeout of a response. Source: lbry-sdk `read_blob`. */
const BLOB_TIMEOUTS = 10;

type ReaderDeps = Pick<FilesDeps, 'database' | 'blobs' | 'fetcher' | 'settings' | 'clock'>;

/** Maximum number of bytes that decryption removes from a blob. */
const MAX_PADDING_BYTES = 16;

/** Key of a data blob in the cache. */
const keyOf = (sdHash: string, at: number): string => `${sdHash}:${at}`;

/** Data blobs of a stream: all entries of the descriptor except the terminator. */
export const dataBlobs = ({ blobs }: StreamDescriptor) => blobs.filter(({ blobHash }) => blobHash !== null);

const undecryptable = (hash: string, error: unknown): Error =>
  error instanceof EnvironmentError
    ? error
    : invalidDescriptor(`The blob ${hash} cannot be decrypted: ${(error as Error).message}`);

/** Throws if the length of the decrypted blob differs from the descriptor. */
function assertPadded({ descriptor }: OpenStream, at: number, bytes: number): void {
  const { blobHash, length } = dataBlobs(descriptor)[at]!;
  const padding = length - bytes;
  if (padding < 1 || padding > MAX_PADDING_BYTES)
    throw invalidDescriptor(
      `The blob ${blobHash} does not have the length of ${length} bytes that its descriptor gives`,
    );
}

/** Checks the length of a blob against the descriptor, and closes the blob if it differs. */
async function checked(stream: OpenStream, at: number, blob: PlainBlob): Promise<PlainBlob> {
  try {
    assertPadded(stream, at, blob.lengthBytes);
    return blob;
  } catch (error) {
    await blob.close();
    throw error;
  }
}

/** Returns the entry of a data blob in the descriptor. */
function placeOf({ descriptor }: OpenStream, at: number) {
  const { blobHash, iv, length } = dataBlobs(descriptor)[at]!;
  const cipher: CipherKey = { key: Buffer.from(descriptor.key, 'hex'), iv: Buffer.from(iv, 'hex') };
  return { hash: blobHash!, length, cipher };
}

/** A blob that is being loaded. The load is aborted when the reader that started it stops reading. */
interface Loading {
  readonly blob: Promise<PlainBlob>;
  readonly signal: AbortSignal;
}

export class StreamReader {
  readonly #deps: ReaderDeps;
  /** Cached blobs. The most recently used is the last. */
  readonly #kept = new Map<string, PlainBlob>();
  readonly #loading = new Map<string, Loading>();

  constructor(deps: ReaderDeps) {
    this.#deps = deps;
  }

  /**
   * Reads the descriptor of a stream from its blob on disk, rebuilds it from database rows, or downloads it. Throws
   * `InvalidStreamDescriptorError` and the signal's reason.
   */
  async open(sdHash: string, signal: AbortSignal): Promise<OpenStream> {
    const bytes =
      (await this.#deps.blobs.read(sdHash)) ??
      (await this.#rebuilt(sdHash)) ??
      (await this.#fetch(sdHash, null, sdHash, signal));
    // Rows of the stream may be stored only after the blob is on disk.
    await this.#deps.blobs.kept(sdHash);
    return { sdHash, descriptor: readDescriptor(bytes), sdLengthBytes: bytes.length };
  }

  /** Rebuilds a missing descriptor from the rows of the stream. Source: lbry-sdk `recover_streams`. */
  async #rebuilt(sdHash: string): Promise<Uint8Array | null> {
    const { database, blobs } = this.#deps;
    const streamHash = await database.streamHashOf(sdHash);
    const row = streamHash === null ? null : await database.file(streamHash);
    if (row === null) return null;
    const entries = await database.blobsOfStream(row.streamHash);
    const bytes = rebuiltDescriptor(
      {
        streamName: row.streamName,
        key: row.key,
        suggestedFileName: row.suggestedFileName,
        streamHash: row.streamHash,
        blobs: entries.map(({ hash, position, iv, lengthBytes }) => ({
          blobHash: hash,
          blobNum: position,
          iv,
          length: lengthBytes,
        })),
      },
      sdHash,
    );
    if (bytes === null || !(await blobs.receive(sdHash, bytes))) return null;
    return bytes;
  }

  async #fetch(
    hash: string,
    lengthBytes: number | null,
    sdHash: string,
    signal: AbortSignal,
    how: { readonly urgency?: Urgency; readonly into?: null | undefined } = {},
  ): Promise<Uint8Array> {
    const fetcher = this.#deps.fetcher();
    if (fetcher === null)
      throw failure(
        `The blob ${hash} is not stored here, and the component that downloads blobs is skipped.`,
      );
    return fetcher.fetchBlob(hash, lengthBytes, { sdHash, signal, ...how });
  }

  /**
   * Opens a data blob, which the caller must close. With `isFull` the blob must have exactly one byte of padding; its last
   * read throws if the padding is longer. Throws the signal's reason. Throws `InvalidStreamDescriptorError` if the blob
   * cannot be decrypted or its length differs from the descriptor.
   */
  async blob(stream: OpenStream, at: number, signal: AbortSignal, isFull = false): Promise<PlainBlob> {
    signal.throwIfAborted();
    const { hash, cipher } = placeOf(stream, at);
    const onDisk = await this.#deps.blobs.openOnDisk(hash, cipher, isFull).catch((error: unknown) => {
      throw undecryptable(hash, error);
    });
    return onDisk === null ? this.#inMemory(stream, at, signal) : checked(stream, at, onDisk);
  }

  /** Returns all bytes of a data blob. Rejects like `blob`. */
  async wholeBlob(stream: OpenStream, at: number, signal: AbortSignal): Promise<Uint8Array> {
    try {
      return await wholePlain(await this.blob(stream, at, signal));
    } catch (error) {
      if (!(error instanceof BlobChangedError)) throw error;
      // The file of the blob changed during the read. The second attempt verifies the blob again, and downloads it if it
      // is corrupt.
      return wholePlain(await this.blob(stream, at, signal));
    }
  }

  async #inMemory(stream: OpenStream, at: number, signal: AbortSignal): Promise<PlainBlob> {
    const key = keyOf(stream.sdHash, at);
    const kept = this.#kept.get(key);
    if (kept) {
      this.#keep(key, kept);
      return kept;
    }
    const loading = this.#loading.get(key);
    if (loading) {
      try {
        return await unlessAborted(loading.blob, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!loading.signal.aborted) throw error;
        // The reader that started the load has stopped, which aborted the load. This reader starts a new load.
        return this.blob(stream, at, signal);
      }
    }
    const blob = this.#load(stream, at, signal).finally(() => this.#loading.delete(key));
    this.#loading.set(key, { blob, signal });
    const loaded = await blob;
    this.#keep(key, loaded);
    return loaded;
  }

  /**
   * Writes the decrypted bytes of a data blob at a position of a file, and returns their number. A blob on disk, and a blob that
   * is downloaded and stored, are not copied through this thread. Throws the errors of `blob` and system errors.
   */
  async writeBlob(
    stream: OpenStream,
    at: number,
    { file, position }: { readonly file: FileHandle; readonly position: number },
    signal: AbortSignal,
  ): Promise<number> {
    signal.throwIfAborted();
    const { hash, length, cipher } = placeOf(stream, at);
    const { blobs, fetcher } = this.#deps;
    const copy = (): Promise<number | null> =>
      blobs.copyTo(hash, cipher, { fd: file.fd, position }).catch((error: unknown) => {
        throw undecryptable(hash, error);
      });
    let written = await copy();
    if (written === null && blobs.savesBlobs && !blobs.readsWhole(hash) && fetcher() !== null) {
      // The downloaded bytes go from the blob store to the file.
      await this.#fetchInTime(hash, length, stream.sdHash, signal, null);
      written = await copy();
    }
    if (written !== null) {
      assertPadded(stream, at, written);
      return written;
    }
    const bytes = await this.wholeBlob(stream, at, signal);
    // The blob must be on disk before its bytes are in the file, because `holdsStream` relies on this order.
    await blobs.kept(hash);
    await file.write(bytes, 0, bytes.length, position);
    return bytes.length;
  }

  async #load(stream: OpenStream, at: number, signal: AbortSignal): Promise<PlainBlob> {
    const { blobs } = this.#deps;
    const { hash, length, cipher } = placeOf(stream, at);
    signal.throwIfAborted();
    let blob = await blobs.openInMemory(hash, cipher).catch((error: unknown) => {
      throw undecryptable(hash, error);
    });
    if (blob === null) {
      const fetched = await this.#fetchInTime(hash, length, stream.sdHash, signal);
      blobs.forgetHeld(hash);
      blob = await decrypted(bytesInMemory(fetched), cipher).catch((error: unknown) => {
        throw undecryptable(hash, error);
      });
    }
    return checked(stream, at, blob);
  }

  /**
   * Fetches a blob. `into` is that of `FetchOptions`. Throws `TimeoutError` (a `DOMException`) if the blob is not complete in
   * time.
   */
  async #fetchInTime(
    hash: string,
    length: number,
    sdHash: string,
    signal: AbortSignal,
    into?: null,
  ): Promise<Uint8Array> {
    const { clock, settings } = this.#deps;
    const late = new AbortController();
    const timer = clock.after(settings().blobTimeoutMs * BLOB_TIMEOUTS, () =>
      late.abort(new DOMException(`The blob ${hash} did not arrive in time.`, 'TimeoutError')),
    );
    try {
      return await this.#fetch(hash, length, sdHash, AbortSignal.any([signal, late.signal]), { into });
    } finally {
      timer.cancel();
    }
  }

  /**
   * Removes the blobs of a deleted stream from the cache. Otherwise a file could be saved from the cache although the stream
   * was deleted.
   */
  forget(sdHash: string): void {
    for (const key of this.#kept.keys()) if (key.startsWith(`${sdHash}:`)) this.#kept.delete(key);
  }

  #keep(key: string, blob: PlainBlob): void {
    const { cachedBlobs } = this.#deps.settings();
    this.#kept.delete(key);
    if (cachedBlobs > 0) this.#kept.set(key, blob);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= cachedBlobs) break;
      this.#kept.delete(oldest);
    }
  }

  /** Prepares for the opening of at most `count` data blobs: those from position `at` on, then those before it. */
  prepare({ descriptor }: OpenStream, at: number, count: number): void {
    const data = dataBlobs(descriptor);
    const next = [...data.slice(at), ...data.slice(0, at)].slice(0, count);
    this.#deps.blobs.prepare(next.map(({ blobHash }) => blobHash!));
  }

  /**
   * Downloads the blobs after position `at`, which a reader will need soon, unless they are on disk or in the cache. If a
   * download fails, the blob is downloaded when the reader needs it.
   */
  ahead({ sdHash, descriptor }: OpenStream, at: number, signal: AbortSignal): void {
    const { finished } = this.#deps.blobs;
    if (this.#deps.fetcher() === null) return;
    const first = at + 1;
    const next = dataBlobs(descriptor).slice(first, first + AHEAD_BLOBS);
    for (const [index, { blobHash, length }] of next.entries()) {
      if (finished.has(blobHash!) || this.#kept.has(keyOf(sdHash, first + index))) continue;
      this.#fetch(blobHash!, length, sdHash, signal, { urgency: 'ahead', into: null }).catch(() => undefined);
    }
  }
}

/** Resolves to the result of the promise. Rejects if the signal aborts first. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
