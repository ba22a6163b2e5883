/** Verification of complete blobs by their hash before they are stored. Received blobs that wait are verified together. */
import type { Clock, Timer } from '../base/clock.js';
import { hashLanes } from '../content/blobHash.js';
import type { StoredChunkTable } from '../content/chunkTable.js';
import { bytesOf, type BlobBytes } from '../content/incomingBlob.js';
import type { BlobFiles } from './blobFiles.js';
import type { BlobThreads } from './blobThreads.js';

/** Minimum size of received blobs that a thread verifies. Arbitrary: a smaller blob takes less time than a message. */
const THREADED_BYTES = 64 * 1024;

/**
 * While blobs arrive fast, a group waits up to `GATHER_MS` until it is full. They arrive fast if the last group ended less
 * than `FAST_MS` ago. Arbitrary.
 */
const GATHER_MS = 8;
const FAST_MS = 20;

/** A group of this many blobs is verified at once. Arbitrary: each blob of a larger group takes less time, but waits longer. */
const FULL_GROUP = 6;

/** A blob that matches its hash. */
export interface RightBlob {
  /** The table of its chunks, if it was computed with the hash. */
  readonly table: StoredChunkTable | null;
}

interface Waiting {
  readonly hash: string;
  readonly bytes: Uint8Array;
  resolve(table: StoredChunkTable | null): void;
  reject(error: unknown): void;
}

export class BlobVerifying {
  readonly #files: Pick<BlobFiles, 'isBlob'>;
  readonly #threads: Pick<BlobThreads, 'verify' | 'verifiesAtOnce' | 'limit' | 'warmUp'>;
  readonly #clock: Pick<Clock, 'after' | 'nowMs'>;
  #waiting: Waiting[] = [];
  #groups = 0;
  #endedMs = -Infinity;
  #gathering: Timer | null = null;

  constructor(
    files: Pick<BlobFiles, 'isBlob'>,
    threads: Pick<BlobThreads, 'verify' | 'verifiesAtOnce' | 'limit' | 'warmUp'>,
    clock: Pick<Clock, 'after' | 'nowMs'>,
  ) {
    this.#clock = clock;
    this.#files = files;
    this.#threads = threads;
  }

  /** Verifies a blob. Null if the blob has another hash. */
  async verify(hash: string, blob: BlobBytes): Promise<RightBlob | null> {
    const bytes = bytesOf(blob);
    if (!(blob instanceof Uint8Array) && bytes.length >= THREADED_BYTES) {
      if (this.#threads.verifiesAtOnce) {
        const table = await this.#wait(hash, bytes);
        return table === null ? null : { table };
      }
      // To start a thread takes longer than to verify one blob. This blob is verified here, and the thread is started for the
      // next blobs.
      this.#threads.warmUp();
    }
    return (await this.#files.isBlob(hash, bytes)) ? { table: null } : null;
  }

  #wait(hash: string, bytes: Uint8Array): Promise<StoredChunkTable | null> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ hash, bytes, resolve, reject });
      this.#pump();
    });
  }

  /**
   * Starts groups. If the processor hashes several blobs at the same time, only one group runs, and the blobs that arrive
   * meanwhile form the next group.
   */
  #pump(): void {
    const lanes = hashLanes();
    const [groups, size] = lanes > 0 ? [1, lanes] : [this.#threads.limit, 1];
    while (this.#groups < groups && this.#waiting.length > 0) {
      if (lanes > 0 && this.#waitsForMore()) return;
      void this.#verify(this.#waiting.splice(0, size));
    }
  }

  /** Whether the next group waits for more blobs. `#pump` is then called later. */
  #waitsForMore(): boolean {
    const isFull = this.#waiting.length >= FULL_GROUP;
    if (isFull || this.#clock.nowMs() - this.#endedMs > FAST_MS) {
      this.#gathering?.cancel();
      this.#gathering = null;
      return false;
    }
    this.#gathering ??= this.#clock.after(GATHER_MS, () => {
      this.#gathering = null;
      this.#endedMs = -Infinity;
      this.#pump();
    });
    return true;
  }

  async #verify(group: readonly Waiting[]): Promise<void> {
    this.#groups++;
    try {
      const tables = await this.#threads.verify(group.map(({ hash, bytes }) => ({ hash, bytes })));
      for (const [at, { resolve }] of group.entries()) resolve(tables[at]!);
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      this.#groups--;
      this.#endedMs = this.#clock.nowMs();
      this.#pump();
    }
  }
}
