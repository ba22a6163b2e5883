/**
 * Whole blobs for peers that download fast. The thread pool reads and verifies the blob that a peer requests next while the present
 * one is sent, and a blob is sent by one call. Slow peers get blobs in pieces, because one whole blob for each of
 * many slow peers would take too much memory.
 */
import type { Clock, Timer } from '../base/clock.js';
import { newBlobBuffer } from '../content/blobBuffers.js';
import type { BlobReader } from './ports.js';

/** Maximum number of blobs in memory, for all peers together. Arbitrary: bounds the memory to 16 MiB. */
const MAX_BUFFERS = 8;
/** Time in ms without use after which unused buffers are released. Arbitrary. */
const UNUSED_MS = 5_000;
/** A peer is fast if it requests its next blob within this time in ms. Arbitrary: 8 MiB/s. */
const FAST_MS = 250;

export interface WholeBlob {
  readonly bytes: Uint8Array;
  /** Must be called once. `isReusable`: whether the system no longer uses the memory. */
  release(isReusable: boolean): void;
}

/** Reads whole blobs into a limited number of buffers, which are reused. */
export class WholeBlobs {
  readonly #reader: Pick<BlobReader, 'readInto'>;
  readonly #clock: Pick<Clock, 'after' | 'nowMs'>;
  #free: Uint8Array[] = [];
  #used = 0;
  #lastUseMs = 0;
  #sweep: Timer | null = null;

  constructor(reader: Pick<BlobReader, 'readInto'>, clock: Pick<Clock, 'after' | 'nowMs'>) {
    this.#reader = reader;
    this.#clock = clock;
  }

  /** Number of buffers in memory. */
  get bufferCount(): number {
    return this.#used + this.#free.length;
  }

  /** Reads a blob. Resolves to null if all buffers are in use or `readInto` does not read the blob. Never rejects. */
  async read(hash: string): Promise<WholeBlob | null> {
    if (this.#reader.readInto === undefined || this.#used >= MAX_BUFFERS) return null;
    const buffer = this.#free.pop() ?? newBlobBuffer();
    this.#used++;
    const release = (isReusable: boolean): void => {
      this.#used--;
      if (isReusable) this.#keep(buffer);
    };
    // The caller opens the blob in another way, which reports the error.
    const length = await this.#reader.readInto(hash, buffer).catch(() => null);
    if (length !== null) return { bytes: buffer.subarray(0, length), release };
    release(true);
    return null;
  }

  #keep(buffer: Uint8Array): void {
    this.#free.push(buffer);
    this.#lastUseMs = this.#clock.nowMs();
    this.#sweepLater();
  }

  #sweepLater(): void {
    this.#sweep ??= this.#clock.after(UNUSED_MS, () => {
      this.#sweep = null;
      if (this.#clock.nowMs() - this.#lastUseMs >= UNUSED_MS) this.#free = [];
      else this.#sweepLater();
    });
  }

  /** Releases unused buffers. */
  close(): void {
    this.#sweep?.cancel();
    this.#sweep = null;
    this.#free = [];
  }
}

/** The whole blobs of one connection. */
export class PeerBlobs {
  readonly #blobs: WholeBlobs;
  readonly #clock: Pick<Clock, 'nowMs'>;
  #requestMs = -Infinity;
  #isFast = false;
  /** The blob that was read before its request. */
  #ahead: { readonly hash: string; readonly reading: Promise<WholeBlob | null> } | null = null;

  constructor(blobs: WholeBlobs, clock: Pick<Clock, 'nowMs'>) {
    this.#blobs = blobs;
    this.#clock = clock;
  }

  /** Returns a requested blob, which the caller releases. Null if the blob must be sent in pieces. Called once for each request. */
  async take(hash: string): Promise<WholeBlob | null> {
    const now = this.#clock.nowMs();
    this.#isFast = now - this.#requestMs <= FAST_MS;
    this.#requestMs = now;
    const ahead = this.#ahead;
    if (ahead?.hash !== hash) this.close();
    this.#ahead = null;
    if (ahead?.hash === hash) return ahead.reading;
    return this.#isFast ? this.#blobs.read(hash) : null;
  }

  /** Starts to read the blob that the peer probably requests next, if the peer is fast. */
  readAhead(hash: string): void {
    if (this.#isFast) this.#ahead ??= { hash, reading: this.#blobs.read(hash) };
  }

  /** Releases the blob that was read ahead. */
  close(): void {
    void this.#ahead?.reading.then((blob) => blob?.release(true));
    this.#ahead = null;
  }
}
