/**
 * Blobs in memory while they are sent: read once for all peers that want one at the same time, and bounded in number. A
 * transfer beyond the bound waits for its turn.
 */
import type { BlobReader } from './ports.js';

interface Held {
  readonly bytes: Promise<Uint8Array | null>;
  users: number;
}

export interface HeldBlob {
  readonly bytes: Uint8Array;
  /** Must be called once. */
  release(): void;
}

export class SharedReads {
  readonly #reader: Pick<BlobReader, 'read'>;
  readonly #limit: number;
  readonly #held = new Map<string, Held>();
  readonly #waiting: (() => void)[] = [];

  /** `limit`: blobs of 2 MiB at a time. */
  constructor(reader: Pick<BlobReader, 'read'>, limit: number) {
    this.#reader = reader;
    this.#limit = limit;
  }

  /** Null where the blob is not there, or the signal aborted during the wait. */
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
