/**
 * Blobs that are made on demand from published files (`originals.ts`). This module adds the blobs of a new stream, and writes
 * such blobs to disk so that the published files are not needed any more.
 */
import { rm } from 'node:fs/promises';
import type { OriginalRow } from '../../content/rows.js';
import type { BlobState } from './blobState.js';
import type { Restored } from '../blobStorePorts.js';
import type { BlobStoring } from '../blobStoring.js';

export class MadeBlobs {
  readonly #state: BlobState;
  readonly #storing: Pick<BlobStoring, 'store'>;
  #isClosed = false;

  constructor(state: BlobState, storing: Pick<BlobStoring, 'store'>) {
    this.#state = state;
    this.#storing = storing;
  }

  /** Ends a running `restore` before its next blob. */
  close(): void {
    this.#isClosed = true;
  }

  /** Adds the data blobs of a published stream without writing them. They are made on demand from the published file. */
  async addMade(
    original: OriginalRow,
    blobs: readonly { readonly hash: string; readonly position: number; readonly lengthBytes: number }[],
  ): Promise<void> {
    const addedOn = this.#state.deps.clock.nowSec();
    const rows = blobs.map(({ hash, lengthBytes }) => ({ hash, lengthBytes, addedOn, isMine: true }));
    await this.#state.deps.database.addBlobs(rows, true);
    this.#state.originals.add(
      original,
      blobs.filter(({ hash }) => !this.#state.finished.has(hash)),
    );
    for (const { hash } of blobs) this.#state.finished.add(hash);
  }

  /**
   * Writes blobs that were made on demand to disk, for all streams or for one descriptor, so that the published files are
   * not needed any more. Throws `EnvironmentError` if a blob cannot be written; blobs written before stay.
   */
  async restore(sdHash: string | null): Promise<Restored> {
    const changed: string[] = [];
    let [streams, blobs, bytes] = [0, 0, 0];
    for (const { streamHash, sdHash: descriptor } of this.#state.originals.streams(sdHash)) {
      for (const hash of this.#state.originals.madeOf(streamHash)) {
        const lengthBytes = await this.#restoreBlob(hash);
        if (lengthBytes !== null) [blobs, bytes] = [blobs + 1, bytes + lengthBytes];
      }
      if (this.#state.originals.stateOf(streamHash) === 'changed') changed.push(descriptor);
      else if (this.#state.originals.madeOf(streamHash).length === 0) {
        await this.#state.originals.release(streamHash);
        streams++;
      }
    }
    return { streams, blobs, bytes, changed };
  }

  /**
   * Writes one blob that was made on demand. Resolves to the number of written bytes, or null if the published file cannot
   * make the blob or the stream was deleted meanwhile.
   */
  #restoreBlob(hash: string): Promise<number | null> {
    if (this.#isClosed) throw new Error('the daemon is stopping');
    return this.#state.queue.run(hash, async () => {
      const bytes = await this.#state.originals.read(hash, null);
      if (bytes === null) return null;
      await this.#storing.store({ hash, bytes, table: null, isMine: true }, () => undefined);
      // The stream may have been deleted meanwhile.
      const isNeeded = this.#state.originals.has(hash);
      if (!isNeeded) await this.#removeRestored(hash);
      this.#state.originals.forget(hash);
      return isNeeded ? bytes.length : null;
    });
  }

  /** Removes a blob that was written while its stream was deleted. Must run in the queue of the blob. */
  async #removeRestored(hash: string): Promise<void> {
    this.#state.finished.delete(hash);
    await this.#state.deps.database.forgetBlobs([hash]);
    await rm(this.#state.pathOf(hash), { force: true });
    await this.#state.deps.database.endDeletion([hash]);
  }
}
