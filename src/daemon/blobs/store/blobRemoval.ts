/** Deletes the files and rows of blobs, in an order that stays consistent if it is interrupted. */
import { rm } from 'node:fs/promises';
import { environmentError, isDiskFull } from '../../../util/text/environmentError.js';
import type { ArrivingBlobs } from './arrivingBlobs.js';
import { QUARANTINE_SUFFIX, type BlobState } from './blobState.js';
import type { BlobsOnDisk } from './blobsOnDisk.js';

/** Called around the deletion of a stream; see `BlobStore`. */
export interface StreamDeletionHooks {
  readonly onStreamDeletion: (streamHash: string) => Promise<void>;
  readonly onStreamDeleted: (streamHash: string) => Promise<void>;
}

export interface BlobRemovalDeps {
  readonly state: BlobState;
  readonly onDisk: Pick<BlobsOnDisk, 'forget'>;
  readonly arriving: Pick<ArrivingBlobs, 'settle'>;
  readonly hooks: StreamDeletionHooks;
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

  /** Deletes blobs. The row of a blob that a stream needs stays, marked as pending. */
  async delete(hashes: readonly string[]): Promise<void> {
    await Promise.all(this.#keptUntil);
    await this.#arriving.settle(hashes);
    await this.#state.deps.database.forgetBlobs(hashes);
    await this.#removeFiles(hashes);
  }

  /**
   * Removes blobs that no stream needs and whose storing was not acknowledged. Files are removed before rows, because a full
   * disk may prevent a change of the database. The next start repeats the change of the rows.
   */
  async discard(hashes: readonly string[]): Promise<void> {
    await this.#removeFirst(hashes);
    await this.#state.deps.database.forgetBlobs(hashes);
    await this.#state.deps.database.endDeletion(hashes);
  }

  /** Removes the files of blobs whose rows are deleted afterwards. */
  async #removeFirst(hashes: readonly string[]): Promise<void> {
    for (const hash of hashes)
      await this.#state.queue.run(hash, () => {
        this.#state.finished.delete(hash);
        this.#onDisk.forget(hash);
        return rm(this.#state.pathOf(hash), { force: true });
      });
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
      return rm(this.#state.pathOf(hash), { force: true }).catch((error: unknown) => {
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
    await this.#removeFiles(removed);
  }

  async #removeFiles(hashes: readonly string[]): Promise<void> {
    for (const hash of hashes) {
      this.#state.finished.delete(hash);
      this.#onDisk.forget(hash);
      this.#state.held.delete(hash);
      this.#state.originals.forget(hash);
    }
    for (const hash of hashes)
      await this.#state.queue.run(hash, async () => {
        // The blob may have been stored again meanwhile.
        if (this.#state.finished.has(hash)) return;
        const path = this.#state.pathOf(hash);
        for (const file of [path, path + QUARANTINE_SUFFIX])
          await rm(file, { force: true }).catch((error: unknown) => {
            throw environmentError(error, file);
          });
      });
    await this.#state.deps.database.endDeletion(hashes);
  }

  /** Defers all deletions of blobs until the promise settles. */
  keepUntil(settled: Promise<void>): void {
    const kept = settled.catch(() => undefined).finally(() => this.#keptUntil.delete(kept));
    this.#keptUntil.add(kept);
  }
}
