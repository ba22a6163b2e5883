/**
 * Received blobs: they are verified by their hash, and stored or held in memory for their readers. They can be read before they
 * are on disk.
 */
import type { StoredChunkTable } from '../../content/chunkTable.js';
import { bytesOf, type BlobBytes } from '../../content/incomingBlob.js';
import type { BlobState } from './blobState.js';
import type { BlobStoring } from '../blobStoring.js';
import type { BlobVerifying } from '../blobVerifying.js';
import type { CipherKey, CopyTarget } from '../blobWork.js';
import type { BlobsOnDisk } from './blobsOnDisk.js';

export interface ArrivingBlobsDeps {
  readonly state: BlobState;
  readonly onDisk: Pick<BlobsOnDisk, 'read'>;
  readonly storing: Pick<BlobStoring, 'store'>;
  readonly verifying: Pick<BlobVerifying, 'verify'>;
}

/** A blob that is being stored. */
interface Coming {
  /** Null if storing failed. */
  readonly blob: BlobBytes | null;
  /** Settles like `ArrivingBlobs.kept`. */
  readonly kept: Promise<void>;
}

/** Adds a user of the blob, if its memory has users. */
function use(blob: BlobBytes | null): void {
  if (blob !== null && !(blob instanceof Uint8Array)) blob.use();
}

/** Removes a user of the blob. */
function release(blob: BlobBytes | null): void {
  if (blob !== null && !(blob instanceof Uint8Array)) blob.release();
}

export class ArrivingBlobs {
  readonly #state: BlobState;
  readonly #onDisk: Pick<BlobsOnDisk, 'read'>;
  readonly #storing: Pick<BlobStoring, 'store'>;
  readonly #verifying: Pick<BlobVerifying, 'verify'>;
  /** Blobs that are being stored. A blob whose storing failed stays in the map until a caller has received the error. */
  readonly #coming = new Map<string, Coming>();
  /** Running calls of `receive`. Each verifies a downloaded blob and adds it to `#coming` if it is saved. */
  readonly #arrivals = new Set<Promise<boolean>>();

  constructor({ state, onDisk, storing, verifying }: ArrivingBlobsDeps) {
    this.#state = state;
    this.#onDisk = onDisk;
    this.#storing = storing;
    this.#verifying = verifying;
  }

  get savesBlobs(): boolean {
    return this.#state.deps.savesBlobs?.() ?? true;
  }

  /** Number of blobs that are being stored. */
  get storingCount(): number {
    return this.#coming.size;
  }

  /** Returns a blob that is held in memory or being stored; null if there is none. */
  async readHeld(hash: string): Promise<Uint8Array | null> {
    const held = this.#state.held.get(hash);
    const coming = this.#coming.get(hash);
    if (held !== null && coming === undefined && this.savesBlobs) {
      await this.#store(hash, held, null, false);
      this.#state.held.delete(hash);
    }
    if (held !== null || coming === undefined) return held;
    await coming.kept.catch(() => undefined);
    return this.#state.finished.has(hash) ? this.#onDisk.read(hash) : null;
  }

  /**
   * Stores a blob. Resolves to false, without storing anything, if the bytes have another hash. Resolves to true when the
   * blob is on disk. Rejects with `EnvironmentError` if the blob cannot be written.
   */
  async write(hash: string, blob: BlobBytes, isMine = false): Promise<boolean> {
    const right = await this.#verifying.verify(hash, blob);
    if (right === null) return false;
    this.#store(hash, blob, right.table, isMine).catch(() => undefined);
    await this.kept(hash);
    return true;
  }

  /**
   * Accepts a downloaded blob. Resolves to false if the bytes have another hash. After true the blob can be read, and `kept`
   * resolves when it is on disk. If downloaded blobs are not saved, the blob stays in memory for its reader. Rejects like
   * `write`.
   */
  async receive(hash: string, blob: BlobBytes): Promise<boolean> {
    const arrival = this.#accept(hash, blob);
    this.#arrivals.add(arrival);
    try {
      return await arrival;
    } finally {
      this.#arrivals.delete(arrival);
    }
  }

  async #accept(hash: string, blob: BlobBytes): Promise<boolean> {
    if (this.#state.finished.has(hash)) return true;
    const right = await this.#verifying.verify(hash, blob);
    if (right === null) return false;
    this.#state.held.put(hash, blob);
    if (this.savesBlobs) await this.#store(hash, blob, right.table, false);
    return true;
  }

  /** Resolves when a received blob is on disk; immediately if the blob is not being stored. Rejects like `write`. */
  async kept(hash: string): Promise<void> {
    try {
      await this.#coming.get(hash)?.kept;
    } catch (error) {
      this.#coming.delete(hash);
      throw error;
    }
  }

  /**
   * Waits until a blob that is being stored is on disk, then decrypts it into an open file. Reads the bytes from memory, not from
   * the file of the blob. Returns the number of written bytes; null if the blob is not being stored or must be copied from its file.
   * Rejects like `write`.
   */
  async copyTo(hash: string, cipher: CipherKey, target: CopyTarget): Promise<number | null> {
    const blob = this.#coming.get(hash)?.blob ?? null;
    use(blob);
    try {
      await this.kept(hash);
      return blob && (await this.#state.deps.threads.decryptTo(bytesOf(blob), cipher, target));
    } finally {
      release(blob);
    }
  }

  /**
   * Stores a blob whose hash is known to be correct. Resolves when the bytes are in a file. The promise that
   * `kept` returns resolves when the blob is on disk.
   */
  async #store(
    hash: string,
    blob: BlobBytes,
    table: StoredChunkTable | null,
    isMine: boolean,
  ): Promise<void> {
    let onWritten: () => void = () => undefined;
    const written = new Promise<void>((resolve) => (onWritten = resolve));
    use(blob);
    const kept = this.#state.queue.run(hash, async () => {
      if (this.#state.finished.has(hash)) return;
      await this.#storing.store({ hash, bytes: bytesOf(blob), table, isMine }, onWritten);
    });
    this.#coming.set(hash, { blob, kept });
    const isLatest = (): boolean => this.#coming.get(hash)?.kept === kept;
    // The blob is released after it was removed from the map. Otherwise `copyTo` could use it after its buffer was given back.
    kept.then(
      () => {
        if (isLatest()) this.#coming.delete(hash);
        if (this.savesBlobs) this.#state.held.delete(hash);
        release(blob);
      },
      () => {
        if (isLatest()) this.#coming.set(hash, { blob: null, kept });
        this.#state.held.delete(hash);
        release(blob);
      },
    );
    try {
      await Promise.race([written, kept]);
    } catch (error) {
      this.#coming.delete(hash);
      throw error;
    }
  }

  /** Waits until none of the given blobs (null: of all blobs) is being stored, whether storing succeeded or failed. */
  async settle(hashes: readonly string[] | null): Promise<void> {
    // A blob that is being verified would otherwise be stored later.
    await Promise.allSettled(this.#arrivals);
    await Promise.allSettled(
      [...(hashes ?? this.#coming.keys())].map((hash) => this.#coming.get(hash)?.kept),
    );
  }

  /** Waits until no blob is being stored. Never rejects. */
  async allStored(): Promise<void> {
    await Promise.allSettled([...this.#coming.values()].map(({ kept }) => kept));
  }
}
