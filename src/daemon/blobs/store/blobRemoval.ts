/** Deletes the files and rows of blobs, in an order that stays consistent if it is interrupted. */
import { removeFile } from '../../../util/files/removeFile.js';
import { environmentError, isDiskFull } from '../../../util/text/environmentError.js';
import type { ArrivingBlobs } from './arrivingBlobs.js';
import { QUARANTINE_SUFFIX, type BlobState } from './blobState.js';
import type { BlobsOnDisk } from './blobsOnDisk.js';

/** Called around the deletion of a stream; see `BlobStore`. */
export interface StreamDeletionHooks {
  readonly onStreamDeletion: (streamHash: string) => Promise<void>;
  readonly onStreamDeleted: (streamHash: string) => Promise<void>;
}

/** Errors of the system by the hash of the blob whose file it refused to remove. */
type Refused = ReadonlyMap<string, unknown>;

/** Result of a deletion of blobs. */
export interface Deletion {
  /** Number of blobs whose files are removed. */
  readonly removed: number;
  /** Error of the first file that the system refused to remove, or null. */
  readonly refusal: unknown;
}

export interface BlobRemovalDeps {
  readonly state: BlobState;
  readonly onDisk: Pick<BlobsOnDisk, 'forget'>;
  readonly arriving: Pick<ArrivingBlobs, 'settle'>;
  readonly hooks: StreamDeletionHooks;
}

function throwRefusal({ refusal }: Deletion): void {
  if (refusal !== null) throw refusal;
}

export class BlobRemoval {
  readonly #state: BlobState;
  readonly #onDisk: Pick<BlobsOnDisk, 'forget'>;
  readonly #arriving: Pick<ArrivingBlobs, 'settle'>;
  readonly #hooks: StreamDeletionHooks;
  readonly #keptUntil = new Set<Promise<void>>();

  constructor({ state, onDisk, arriving, hooks }: BlobRemovalDeps) {
    this.#state = state;
    this.#onDisk = onDisk;
    this.#arriving = arriving;
    this.#hooks = hooks;
  }

  /** Deletes blobs like `tryDelete`. Rejects if the system refuses to remove a file, after the other files are removed. */
  async delete(hashes: readonly string[]): Promise<void> {
    throwRefusal(await this.tryDelete(hashes));
  }

  /**
   * Deletes blobs. The row of a blob that a stream needs stays, marked as pending. Files that the system refuses to remove are
   * in the result, and their removal is repeated later. Rejects if the database cannot be changed.
   */
  async tryDelete(hashes: readonly string[]): Promise<Deletion> {
    await Promise.all(this.#keptUntil);
    await this.#arriving.settle(hashes);
    await this.#state.deps.database.forgetBlobs(hashes);
    return this.#removeFiles(hashes);
  }

  /**
   * Removes blobs that no stream needs and whose storing was not acknowledged. Files are removed before rows, because a full
   * disk may prevent a change of the database. The next start repeats the change of the rows.
   */
  async discard(hashes: readonly string[]): Promise<void> {
    const refused = await this.#removeFirst(hashes);
    await this.#state.deps.database.forgetBlobs(hashes);
    throwRefusal(await this.#endDeletion(hashes, refused));
  }

  /** Removes the files of blobs whose rows are deleted afterwards. */
  #removeFirst(hashes: readonly string[]): Promise<Refused> {
    return this.#each(hashes, async (hash) => {
      this.#state.finished.delete(hash);
      this.#onDisk.forget(hash);
      await removeFile(this.#state.pathOf(hash));
    });
  }

  /** Removes each file in its turn. Continues after a file that the system refuses to remove. */
  async #each(hashes: readonly string[], remove: (hash: string) => Promise<void>): Promise<Refused> {
    const refused = new Map<string, unknown>();
    for (const hash of hashes)
      await this.#state.queue
        .run(hash, () => remove(hash))
        .catch((error: unknown) => refused.set(hash, error));
    return refused;
  }

  /** Records that the files are removed, except those in `refused`, whose removal is repeated later. */
  async #endDeletion(hashes: readonly string[], refused: Refused): Promise<Deletion> {
    const removed = hashes.filter((hash) => !refused.has(hash));
    await this.#state.deps.database.endDeletion(removed);
    const [first] = refused.entries();
    const refusal = first === undefined ? null : environmentError(first[1], this.#state.pathOf(first[0]));
    return { removed: removed.length, refusal };
  }

  /** On a full disk the database cannot be changed, so files are deleted first. */
  async #removeStreamRows(streamHash: string): Promise<string[]> {
    const { database } = this.#state.deps;
    try {
      return await database.removeStream(streamHash);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      await this.#removeFirst(await database.blobsOnlyOf(streamHash));
      return database.removeStream(streamHash);
    }
  }

  /**
   * Removes the file of a blob that an object store also contains. The database does not change: the blob counts as finished
   * until the next start compares folder and rows.
   */
  evict(hash: string): Promise<void> {
    return this.#state.queue.run(hash, () => {
      this.#state.finished.delete(hash);
      this.#onDisk.forget(hash);
      return removeFile(this.#state.pathOf(hash)).catch((error: unknown) => {
        throw environmentError(error, this.#state.pathOf(hash));
      });
    });
  }

  /** Deletes a stream and the blobs that no other stream needs. */
  async deleteStream(streamHash: string): Promise<void> {
    await this.#hooks.onStreamDeletion(streamHash);
    await Promise.all(this.#keptUntil);
    await this.#arriving.settle(null);
    const removed = await this.#removeStreamRows(streamHash);
    this.#state.originals.removeStream(streamHash);
    await this.#hooks.onStreamDeleted(streamHash);
    throwRefusal(await this.#removeFiles(removed));
  }

  #removeFiles(hashes: readonly string[]): Promise<Deletion> {
    for (const hash of hashes) {
      this.#state.finished.delete(hash);
      this.#onDisk.forget(hash);
      this.#state.held.delete(hash);
      this.#state.originals.forget(hash);
    }
    return this.#removeUnused(hashes);
  }

  /** Removes the files of blobs whose rows are deleted. */
  async #removeUnused(hashes: readonly string[]): Promise<Deletion> {
    const refused = await this.#each(hashes, async (hash) => {
      // The blob may have been stored again meanwhile.
      if (this.#state.finished.has(hash)) return;
      const path = this.#state.pathOf(hash);
      for (const file of [path, path + QUARANTINE_SUFFIX]) await removeFile(file);
    });
    return this.#endDeletion(hashes, refused);
  }

  /** Removes the files that earlier deletions could not remove. Rejects like `delete`. */
  async repeat(): Promise<void> {
    const hashes = await this.#state.deps.database.doomedBlobs();
    if (hashes.length > 0) throwRefusal(await this.#removeUnused(hashes));
  }

  /** Defers all deletions of blobs until the promise settles. */
  keepUntil(settled: Promise<void>): void {
    const kept = settled.catch(() => undefined).finally(() => this.#keptUntil.delete(kept));
    this.#keptUntil.add(kept);
  }
}
