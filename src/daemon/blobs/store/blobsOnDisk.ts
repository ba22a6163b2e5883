/**
 * Reads blobs on disk. Each file is checked against its blob's hash before its first use in a run, and quarantined when it
 * is corrupt.
 */
import { rename } from 'node:fs/promises';
import type { StoredChunkTable } from '../../content/chunkTable.js';
import type { BlobCheckRow } from '../../content/rows.js';
import type { BlobFiles } from '../blobFiles.js';
import { BlobParts } from '../blobParts.js';
import { QUARANTINE_SUFFIX, type BlobState } from './blobState.js';
import type { CipherKey, CopyTarget, FileStamp } from '../blobWork.js';
import { ChunkTables } from '../chunkTables.js';

export class BlobsOnDisk {
  readonly #state: BlobState;
  readonly #files: BlobFiles;
  /** Blobs that are being opened for the first time. */
  readonly #checking = new Map<string, Promise<unknown>>();
  /** Stamps (size and times) of the files that were verified in this run, by blob hash. */
  readonly #checked = new Map<string, FileStamp>();
  readonly #tables: ChunkTables;

  constructor(state: BlobState, files: BlobFiles) {
    this.#state = state;
    this.#files = files;
    this.#tables = new ChunkTables(state.deps.database);
  }

  /**
   * Records that the file with this stamp contains the blob. `table` is the table of its chunks, if it was computed when the
   * hash was verified.
   */
  noteChecked(hash: string, stamp: FileStamp, table: StoredChunkTable | null): void {
    this.#checked.set(hash, stamp);
    if (table !== null) this.#tables.note({ hash, stamp, table });
  }

  /** Returns the bytes of a blob on disk. Null if the file is missing or corrupt; the blob's status is then pending. */
  async read(hash: string): Promise<Uint8Array | null> {
    const path = this.#state.pathOf(hash);
    const found = await this.#files.read(path, hash, this.#checked.get(hash) ?? null, this.#tables.of(hash));
    if (found.kind !== 'whole') return this.#lose(hash);
    this.noteChecked(hash, found.verified.stamp, found.verified.newTable);
    return found.bytes;
  }

  /** Prepares for the opening of blobs that a reader needs soon: loads the tables that verify them, and reads no blob. */
  prepare(hashes: readonly string[]): void {
    void this.#tables.load(
      hashes.filter((hash) => !this.#checked.has(hash) && this.#state.finished.has(hash)),
    );
  }

  /**
   * Reads a whole blob into `into` in the thread pool and verifies it there. Returns its length; null if that is not possible,
   * for example because the blob must be verified by its hash. `openParts` then opens it or reports the reason.
   */
  async readInto(hash: string, into: Uint8Array): Promise<number | null> {
    if (!this.#state.finished.has(hash) || this.#state.originals.has(hash)) return null;
    const stamp = this.#checked.get(hash) ?? null;
    const lastCheck = stamp === null ? await this.#tables.of(hash)() : null;
    const path = this.#state.pathOf(hash);
    const length = await this.#state.deps.threads.readInto(path, stamp, lastCheck, into);
    if (length !== null && lastCheck !== null && this.#state.finished.has(hash))
      this.noteChecked(hash, lastCheck.stamp, null);
    return length;
  }

  /** Keeps the stored result of a verification in memory for the next opening of the blob. */
  rememberCheck(check: BlobCheckRow): void {
    this.#tables.remember(check);
  }

  /**
   * Opens a blob to be read in parts. All parts come from a file whose hash was verified. Null in the same cases as
   * `read`. The caller closes the result.
   */
  async openParts(hash: string): Promise<BlobParts | null> {
    await this.#checking.get(hash)?.catch(() => undefined);
    if (!this.#state.finished.has(hash) || this.#state.originals.has(hash)) return null;
    const stamp = this.#checked.get(hash) ?? null;
    const lastCheck = this.#tables.of(hash);
    // The database query runs while the file is opened.
    const early = stamp === null ? lastCheck() : null;
    const opening = this.#files.open(this.#state.pathOf(hash), hash, stamp, () => early ?? lastCheck());
    if (stamp === null) {
      this.#checking.set(hash, opening);
      opening.finally(() => this.#checking.delete(hash)).catch(() => undefined);
    }
    const found = await opening;
    if (found.kind !== 'whole') return this.#lose(hash);
    const { file, length, verified, chunks } = found;
    if (chunks === null) this.noteChecked(hash, verified.stamp, verified.newTable);
    return new BlobParts({
      file,
      stamp: verified.stamp,
      lengthBytes: length,
      chunks,
      onVerified: () => this.noteChecked(hash, verified.stamp, null),
      recheck: () => this.#recheck(hash),
    });
  }

  /**
   * Decrypts a blob into an open file. Returns the number of written bytes; null in the same cases as `read`, and if the
   * blob is not on disk.
   */
  async copyTo(hash: string, cipher: CipherKey, target: CopyTarget): Promise<number | null> {
    if (!this.#state.finished.has(hash) || this.#state.originals.has(hash)) return null;
    const stamp = this.#checked.get(hash) ?? null;
    const lastCheck = stamp === null ? await this.#tables.of(hash)() : null;
    const found = await this.#state.deps.threads.copyTo(
      this.#state.pathOf(hash),
      hash,
      stamp,
      lastCheck,
      cipher,
      target,
    );
    if (found.kind !== 'whole') return this.#lose(hash);
    this.noteChecked(hash, found.stamp, found.newTable);
    return found.length;
  }

  async #lose(hash: string): Promise<null> {
    await this.#recheck(hash);
    return null;
  }

  /**
   * Verifies a file by its hash, and quarantines the file if it is corrupt. In the meantime the file may have been replaced
   * by a correct one. Resolves to the stamp of a file that contains the blob, or to null.
   */
  #recheck(hash: string): Promise<FileStamp | null> {
    return this.#state.queue.run(hash, async () => {
      const path = this.#state.pathOf(hash);
      const found = await this.#files.read(path, hash, null, () => Promise.resolve(null));
      if (found.kind === 'whole') {
        this.noteChecked(hash, found.verified.stamp, found.verified.newTable);
        return found.verified.stamp;
      }
      this.#checked.delete(hash);
      if (found.kind === 'corrupt') {
        await rename(path, path + QUARANTINE_SUFFIX);
        this.#state.deps.log.warn(
          `${path}: ${found.reason}. It was quarantined as ${hash}${QUARANTINE_SUFFIX}; the blob is downloaded ` +
            'again when it is needed.',
        );
      } else if (this.#state.finished.has(hash)) this.#state.deps.log.warn(`${path} is missing.`);
      this.#state.finished.delete(hash);
      await this.#state.deps.database.setPending([hash]);
      return null;
    });
  }

  /** Forgets that the file of a blob was verified. Called when the file is removed. */
  forget(hash: string): void {
    this.#checked.delete(hash);
  }

  /** Stores the tables of verified blobs. */
  saveTables(): Promise<void> {
    return this.#tables.save();
  }
}
