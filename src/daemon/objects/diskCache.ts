/**
 * Disk cache for the blobs of an object store. Above its limit the least recently used blobs are removed. Blobs that the
 * store does not have yet are never removed. Before a file is removed, the store must confirm that it has the blob.
 */
import { failureReason } from '../../util/text/environmentError.js';
import type { Logger } from '../../util/logging.js';
import type { Clock, Timer } from '../base/clock.js';
import type { BlobStore } from '../blobs/blobStore.js';
import type { ContentDatabase } from '../content/contentDatabase.js';
import type { OffsiteBlob } from '../content/offsiteRows.js';

/** Interval in ms at which the times of the last use of blobs are stored, so that they survive a restart. Arbitrary. */
const NOTE_MS = 60_000;

export interface DiskCacheDeps {
  readonly local: Pick<BlobStore, 'evict'>;
  readonly database: Pick<ContentDatabase, 'noteUsed'>;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  readonly cacheBytes: () => number;
  /** Whether the object store has the blob; null if it is unreachable. */
  readonly isInStore: (hash: string, lengthBytes: number) => Promise<boolean | null>;
  /** Called when the store has lost the blob, which is then queued for upload again. */
  readonly onMissing: (hash: string) => Promise<void>;
}

/** Sizes of blobs by hash, sorted from the least recently used, and the sum of the sizes. */
class Sizes {
  readonly #sizes = new Map<string, number>();
  bytes = 0;

  get count(): number {
    return this.#sizes.size;
  }

  get oldest(): readonly [hash: string, lengthBytes: number] | undefined {
    return this.#sizes.entries().next().value;
  }

  /** Adds an entry at the end of the list, or moves an existing entry to the end. */
  set(hash: string, lengthBytes: number): void {
    this.delete(hash);
    this.#sizes.set(hash, lengthBytes);
    this.bytes += lengthBytes;
  }

  /** Removes an entry. Returns the size of the blob in bytes; null if the entry does not exist. */
  delete(hash: string): number | null {
    const lengthBytes = this.#sizes.get(hash);
    if (lengthBytes === undefined) return null;
    this.#sizes.delete(hash);
    this.bytes -= lengthBytes;
    return lengthBytes;
  }

  has(hash: string): boolean {
    return this.#sizes.has(hash);
  }
}

export class DiskCache {
  /** Blobs on the local disk that are not in the object store yet. */
  readonly waiting: Pick<Sizes, 'count' | 'bytes'>;
  /** Blobs on the local disk that are also in the object store. */
  readonly stored: Pick<Sizes, 'count' | 'bytes'>;
  readonly #deps: DiskCacheDeps;
  readonly #waiting = new Sizes();
  readonly #stored = new Sizes();
  readonly #used = new Set<string>();
  #timer: Timer | null = null;
  #shrinking: Promise<void> | null = null;
  #isClosed = false;

  constructor(deps: DiskCacheDeps) {
    this.#deps = deps;
    this.waiting = this.#waiting;
    this.stored = this.#stored;
  }

  /** Number of bytes of all blobs on the local disk. */
  get bytes(): number {
    return this.#waiting.bytes + this.#stored.bytes;
  }

  load(waiting: readonly OffsiteBlob[], stored: readonly OffsiteBlob[]): void {
    for (const { hash, lengthBytes } of waiting) this.#waiting.set(hash, lengthBytes);
    for (const { hash, lengthBytes } of stored) this.#stored.set(hash, lengthBytes);
  }

  addWaiting(hash: string, lengthBytes: number): void {
    this.#waiting.set(hash, lengthBytes);
  }

  addStored(hash: string, lengthBytes: number): void {
    this.#waiting.delete(hash);
    this.#stored.set(hash, lengthBytes);
  }

  /** Moves a blob that waited for its upload to the list of stored blobs, because the store already has it. */
  nowStored(hash: string): void {
    const lengthBytes = this.#waiting.delete(hash);
    if (lengthBytes !== null) this.#stored.set(hash, lengthBytes);
  }

  remove(hash: string): void {
    this.#waiting.delete(hash);
    this.#stored.delete(hash);
  }

  /** Records a use of a blob. */
  touch(hash: string): void {
    const lengthBytes = this.#stored.delete(hash);
    if (lengthBytes === null) return;
    this.#stored.set(hash, lengthBytes);
    this.#used.add(hash);
    if (!this.#isClosed) this.#timer ??= this.#deps.clock.after(NOTE_MS, () => void this.#noteUsed());
  }

  async #noteUsed(): Promise<void> {
    this.#timer = null;
    const { database, clock, log } = this.#deps;
    const used = [...this.#used];
    this.#used.clear();
    try {
      if (used.length > 0) await database.noteUsed(used, clock.nowSec());
    } catch (error) {
      log.warn(`The access times of blobs could not be saved: ${failureReason(error)}.`);
    }
  }

  /** Removes files until the remaining files are within the limit. Ends early if the store is unreachable. */
  shrink(): Promise<void> {
    this.#shrinking ??= this.#shrink()
      .catch((error: unknown) =>
        this.#deps.log.warn(`Blobs could not be removed from this disk: ${failureReason(error)}.`),
      )
      .finally(() => (this.#shrinking = null));
    return this.#shrinking;
  }

  async #shrink(): Promise<void> {
    const { local, isInStore, onMissing, cacheBytes, log } = this.#deps;
    for (
      let oldest = this.#stored.oldest;
      oldest !== undefined && this.bytes > cacheBytes() && !this.#isClosed;
      oldest = this.#stored.oldest
    ) {
      const [hash, lengthBytes] = oldest;
      const isThere = await isInStore(hash, lengthBytes);
      if (isThere === null) return;
      // The blob may have been removed while the object store was queried.
      if (!this.#stored.has(hash)) continue;
      this.#stored.delete(hash);
      if (isThere) await local.evict(hash);
      else {
        log.warn(`The blob store has lost the blob ${hash}, which is on this disk: it is uploaded again.`);
        this.#waiting.set(hash, lengthBytes);
        await onMissing(hash);
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#shrinking;
    await this.#noteUsed();
  }
}
