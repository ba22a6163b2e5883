/**
 * Cache of the blobs that are being sent. A blob that several peers request at the same time is read only once. The number
 * of cached blobs is limited; when the limit is reached, new transfers wait.
 */
import type { BlobReader, OpenBlob } from './ports.js';

interface Held {
  readonly bytes: Promise<Uint8Array | null>;
  users: number;
}

export interface HeldBlob {
  readonly bytes: Uint8Array;
  /** Releases the memory of the blob. Must be called once. */
  release(): void;
}

export class SharedReads {
  readonly #reader: Pick<BlobReader, 'read' | 'openParts' | 'readsWhole'>;
  readonly #limit: number;
  readonly #held = new Map<string, Held>();
  readonly #waiting: (() => void)[] = [];

  /** Creates the shared reads. `limit` is the maximum number of blobs (2 MiB each) in memory. */
  constructor(reader: Pick<BlobReader, 'read' | 'openParts' | 'readsWhole'>, limit: number) {
    this.#reader = reader;
    this.#limit = limit;
  }

  /** Opens a blob for reading in parts, or keeps the whole blob in memory. Resolves to null in the same cases as `hold`. */
  async open(hash: string, signal: AbortSignal): Promise<OpenBlob | null> {
    const { openParts, readsWhole } = this.#reader;
    if (openParts && !readsWhole?.call(this.#reader, hash)) return openParts.call(this.#reader, hash);
    const held = await this.hold(hash, signal);
    if (held === null) return null;
    return {
      lengthBytes: held.bytes.length,
      read: (at, count) => Promise.resolve(held.bytes.subarray(at, at + count)),
      close: () => {
        held.release();
        return Promise.resolve();
      },
    };
  }

  /** Holds a blob in memory for a reader. Returns null if the blob is missing, or if the signal aborted during the wait. */
  async hold(hash: string, signal: AbortSignal): Promise<HeldBlob | null> {
    while (!this.#held.has(hash) && this.#held.size >= this.#limit) {
      await this.#turn(signal);
      if (signal.aborted) {
        this.#wakeNext();
        return null;
      }
    }
    const held = this.#held.get(hash) ?? { bytes: this.#reader.read(hash), users: 0 };
    this.#held.set(hash, held);
    held.users++;
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      if (--held.users > 0) return;
      this.#held.delete(hash);
      this.#wakeNext();
    };
    try {
      const bytes = await held.bytes;
      if (bytes !== null) return { bytes, release };
    } catch (error) {
      release();
      throw error;
    }
    release();
    return null;
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        const at = this.#waiting.indexOf(done);
        if (at >= 0) this.#waiting.splice(at, 1);
        resolve();
      };
      this.#waiting.push(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  #wakeNext(): void {
    this.#waiting[0]?.();
  }
}
