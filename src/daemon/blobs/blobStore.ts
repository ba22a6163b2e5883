/**
 * The blobs on disk, `blobfiles/<hash>`: written whole or not at all, checked against their hash before their first use in a
 * run, quarantined when they are corrupt. Other blobs are made from published files on demand (`originals.ts`) or held in
 * memory without being written (`heldBlobs.ts`). Source: lbry-sdk lbry/blob/blob_manager.py `BlobManager`.
 */
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { environmentError, failureReason, isDiskFull } from '../../util/text/environmentError.js';
import { KeyedQueue } from '../../scheduler/keyedQueue.js';
import { BlobHashes } from '../content/blobHashes.js';
import { bytesOf, type BlobBytes } from '../content/incomingBlob.js';
import type { StoredChunkTable } from '../content/chunkTable.js';
import type { BlobCheckRow, BlobRow, OriginalRow } from '../content/rows.js';
import { BlobFiles, stampOf } from './blobFiles.js';
import { BlobStoring, type RecordedBlob } from './blobStoring.js';
import type { BlobSet, BlobStoreDeps, EncryptedBlob, Restored } from './blobStorePorts.js';
import {
  PARTIAL_SUFFIX,
  type CipherKey,
  type CopyTarget,
  type FileStamp,
  type KnownBlob,
} from './blobWork.js';
import { BlobChangedError, BlobParts } from './blobParts.js';
import { decryptBlob } from './cipher.js';
import { ChunkTables } from './chunkTables.js';
import { beginsAsDescriptor } from './descriptorStart.js';
import { HeldBlobs } from './heldBlobs.js';
import { Originals } from './originals.js';
import { bytesInMemory, decrypted, type PlainBlob } from './plainBlob.js';
import { BlobVerifying } from './blobVerifying.js';

/** Suffix appended to the name of a corrupt blob file, so that the file is not used as a blob. */
const QUARANTINE_SUFFIX = '.damaged';
/** Maximum number of blobs of a peer that are verified before they are requested. Arbitrary. */
const VERIFIED_AHEAD = 2;

export class BlobStore {
  /** Hashes of all blobs on disk and of the blobs that are made on demand. A live view for other modules. */
  readonly finished: BlobSet;
  readonly #finished = new BlobHashes();
  /** Unchecked files in the folder without a row in the database. */
  readonly #unknown = new Set<string>();
  readonly originals: Originals;
  readonly #held = new HeldBlobs();
  readonly #deps: BlobStoreDeps;
  readonly #files: BlobFiles;
  /** Blobs that are being checked for the first time. */
  readonly #checking = new Map<string, Promise<unknown>>();
  /** Stamps (size and times) of the files that were verified in this run, by blob hash. */
  readonly #checked = new Map<string, FileStamp>();
  readonly #queue = new KeyedQueue();
  readonly #keptUntil = new Set<Promise<void>>();
  readonly #storing: BlobStoring;
  readonly #verifying: BlobVerifying;
  /** Blobs that are being stored. A blob whose storing failed stays in the map until a caller has received the error. */
  readonly #coming = new Map<string, Promise<void>>();
  /** Running calls of `receive`. Each verifies a downloaded blob and adds it to `#coming` if it is saved. */
  readonly #arrivals = new Set<Promise<boolean>>();
  readonly #tables: ChunkTables;
  #isClosed = false;
  /** Resolves when all files without a row were checked. */
  settled: Promise<void> = Promise.resolve();
  /** Called before a stream is deleted. It must end all downloads and saves of the stream, because they store blobs. */
  onStreamDeletion: (streamHash: string) => Promise<void> = () => Promise.resolve();
  /** Called when a stream was deleted with its file. */
  onStreamDeleted: (streamHash: string) => Promise<void> = () => Promise.resolve();

  constructor(deps: BlobStoreDeps) {
    this.#deps = deps;
    this.#files = deps.files ?? new BlobFiles();
    this.finished = this.#finished;
    const { database, threads, log } = deps;
    this.#tables = new ChunkTables(database);
    this.#verifying = new BlobVerifying(this.#files, threads, deps.clock);
    this.originals = new Originals({
      database,
      threads,
      log,
      isOnDisk: (hash) => this.#finished.has(hash),
      lost: async (hashes) => {
        for (const hash of hashes) this.#finished.delete(hash);
        await database.setPending(hashes);
      },
      found: async (blobs) => {
        await database.addBlobs(
          blobs.map(({ hash, lengthBytes }) => ({
            hash: hash!,
            lengthBytes,
            addedOn: deps.clock.nowSec(),
            isMine: true,
          })),
          true,
        );
        for (const { hash } of blobs) this.#finished.add(hash!);
      },
    });
    this.#storing = new BlobStoring({ folder: deps.folder, record: (blobs) => this.#record(blobs) });
  }

  get #folder(): string {
    return this.#deps.folder;
  }

  #pathOf(hash: string): string {
    return join(this.#folder, hash);
  }

  /** Compares folder and database. Files that the database does not know are checked in the background. */
  async open(): Promise<void> {
    const { finished, unknown, made, isLost } = await this.#deps.database.reconcile(PARTIAL_SUFFIX);
    this.#finished.take(finished);
    await this.originals.load(made);
    for (const [hash] of unknown) this.#unknown.add(hash);
    this.settled = this.#checkUnknown(unknown, isLost);
    this.settled.catch((error: unknown) =>
      this.#deps.log.warn(`Not all files in ${this.#folder} could be checked: ${failureReason(error)}`),
    );
  }

  /** Adds files that a user put into the folder to the store, if their content has the hash in their name. */
  async #checkUnknown(
    unknown: readonly (readonly [hash: string, stamp: FileStamp | null])[],
    isMine: boolean,
  ): Promise<void> {
    for (const [hash, stamp] of unknown) {
      if (this.#isClosed) return;
      if (!this.#unknown.has(hash)) continue;
      const lengthBytes = await this.#lengthIfChecked(hash, stamp);
      if (lengthBytes === null) await this.#takeOver(hash, isMine);
      else await this.#finish([{ hash, lengthBytes, addedOn: this.#deps.clock.nowSec(), isMine }]);
      this.#unknown.delete(hash);
    }
  }

  /** Reads a blob file without a row in the database. If the bytes have the hash, adds a row for the blob. */
  async #takeOver(hash: string, isMine: boolean): Promise<Uint8Array | null> {
    const bytes = await this.#read(hash);
    this.#unknown.delete(hash);
    if (bytes !== null && !this.#finished.has(hash))
      await this.#finish([{ hash, lengthBytes: bytes.length, addedOn: this.#deps.clock.nowSec(), isMine }]);
    return bytes;
  }

  /** All blobs in the folder, known and unchecked. */
  get inFolder(): readonly string[] {
    const known = [...this.#finished].filter((hash) => !this.originals.has(hash));
    return [...known, ...this.#unknown];
  }

  /** Returns the blobs of the folder that begin like descriptors. Only their first bytes are read. */
  async descriptorsAmong(hashes: readonly string[]): Promise<string[]> {
    const found = await Promise.all(
      hashes.map(async (hash) => ((await beginsAsDescriptor(this.#pathOf(hash))) ? [hash] : [])),
    );
    return found.flat();
  }

  /**
   * Like `read`, but also for files that were not checked yet. If the rows of the files were lost, the blobs count as own
   * blobs, which cleaning does not delete.
   */
  readInFolder(hash: string): Promise<Uint8Array | null> {
    return this.#unknown.has(hash) ? this.#takeOver(hash, true) : this.read(hash);
  }

  /** Returns the size of the file if its stamp is that of an earlier check, else null. */
  async #lengthIfChecked(hash: string, stamp: FileStamp | null): Promise<number | null> {
    if (stamp === null) return null;
    const found = await stampOf(this.#pathOf(hash));
    return found.stamp === stamp ? found.size : null;
  }

  async #finish(rows: readonly BlobRow[]): Promise<void> {
    await this.#deps.database.addBlobs(rows, true);
    for (const { hash } of rows) this.#finished.add(hash);
  }

  async #record(blobs: readonly RecordedBlob[]): Promise<void> {
    const addedOn = this.#deps.clock.nowSec();
    await this.#finish(
      blobs.map(({ hash, length, isMine }) => ({ hash, lengthBytes: length, addedOn, isMine })),
    );
    for (const { hash, stamp, table } of blobs) this.#noteChecked(hash, stamp, table);
    if (this.#coming.size <= blobs.length) void this.#tables.save();
  }

  /**
   * Records that the file with this stamp contains the blob. `table` is the table of its chunks, if it was computed when the
   * hash was verified.
   */
  #noteChecked(hash: string, stamp: FileStamp, table: StoredChunkTable | null): void {
    this.#checked.set(hash, stamp);
    if (table !== null) this.#tables.note({ hash, stamp, table });
  }

  /**
   * Returns the bytes of a blob, decrypted if `cipher` is given. Null if the blob is missing or corrupt; its status is then
   * pending, so that it is downloaded again.
   */
  async read(hash: string, cipher: CipherKey | null = null): Promise<Uint8Array | null> {
    if (this.originals.has(hash)) return this.originals.read(hash, cipher);
    const bytes = this.#finished.has(hash) ? await this.#read(hash) : await this.#readHeld(hash);
    return bytes === null || cipher === null ? bytes : decryptBlob(bytes, cipher.key, cipher.iv);
  }

  async #readHeld(hash: string): Promise<Uint8Array | null> {
    const held = this.#held.get(hash);
    const coming = this.#coming.get(hash);
    if (held !== null && coming === undefined && this.#savesBlobs) {
      await this.#store(hash, held, null, false);
      this.#held.delete(hash);
    }
    if (held !== null || coming === undefined) return held;
    await coming.catch(() => undefined);
    return this.#finished.has(hash) ? this.#read(hash) : null;
  }

  /**
   * Opens a blob on disk and decrypts only the parts that are read. Null in the same cases as `read`. `decrypted` describes
   * `isFull` and the errors.
   */
  async openOnDisk(hash: string, cipher: CipherKey, isFull: boolean): Promise<PlainBlob | null> {
    const parts = await this.openParts(hash);
    if (parts === null) return null;
    try {
      return await decrypted(parts, cipher, isFull);
    } catch (error) {
      // A corrupt file was already quarantined. A file that was changed is verified again at its next use.
      if (error instanceof BlobChangedError) return null;
      throw error;
    }
  }

  /**
   * Like `openOnDisk`, for a blob that is made on demand or held in memory. A blob held in memory belongs to the reader
   * after the call.
   */
  async openInMemory(hash: string, cipher: CipherKey): Promise<PlainBlob | null> {
    if (this.originals.has(hash)) {
      const piece = await this.originals.read(hash, cipher);
      return piece === null ? null : bytesInMemory(piece);
    }
    const held = await this.#readHeld(hash);
    if (held === null) return null;
    this.#held.delete(hash);
    return decrypted(bytesInMemory(held), cipher);
  }

  /** Releases a blob that `receive` keeps in memory, because a reader has received its bytes. */
  forgetHeld(hash: string): void {
    this.#held.delete(hash);
  }

  get #savesBlobs(): boolean {
    return this.#deps.savesBlobs?.() ?? true;
  }

  /** Number of blobs that are kept in memory without being written. */
  get heldCount(): number {
    return this.#held.size;
  }

  /** Whether the blob can only be read as a whole, because it is made on demand from a published file. */
  readsWhole(hash: string): boolean {
    return this.originals.has(hash);
  }

  async #read(hash: string): Promise<Uint8Array | null> {
    const path = this.#pathOf(hash);
    const found = await this.#files.read(path, hash, this.#checked.get(hash) ?? null, this.#tables.of(hash));
    if (found.kind !== 'whole') return this.#lose(hash);
    this.#noteChecked(hash, found.verified.stamp, found.verified.newTable);
    return found.bytes;
  }

  /** Prepares for the opening of blobs that a reader needs soon: loads the tables that verify them, and reads no blob. */
  prepare(hashes: readonly string[]): void {
    void this.#tables.load(hashes.filter((hash) => !this.#checked.has(hash) && this.#finished.has(hash)));
  }

  /**
   * Verifies the next blobs that a peer will request, in the thread pool and at most `VERIFIED_AHEAD` of them. A blob for which
   * this is not possible is verified when it is opened.
   */
  verifyAhead(hashes: readonly string[]): void {
    const unverified = hashes.filter((hash) => !this.#checked.has(hash) && this.#finished.has(hash));
    for (const hash of unverified.slice(0, VERIFIED_AHEAD)) {
      if (this.#checking.has(hash) || this.originals.has(hash)) continue;
      const verifying = this.#verifyByTable(hash).finally(() => this.#checking.delete(hash));
      this.#checking.set(hash, verifying);
    }
  }

  async #verifyByTable(hash: string): Promise<void> {
    const check = await this.#tables.of(hash)();
    if (check === null || !(await this.#deps.threads.matches(this.#pathOf(hash), check))) return;
    if (this.#finished.has(hash)) this.#noteChecked(hash, check.stamp, null);
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
    if (!this.#finished.has(hash) || this.originals.has(hash)) return null;
    const stamp = this.#checked.get(hash) ?? null;
    const lastCheck = this.#tables.of(hash);
    // The database query runs while the file is opened.
    const early = stamp === null ? lastCheck() : null;
    const opening = this.#files.open(this.#pathOf(hash), hash, stamp, () => early ?? lastCheck());
    if (stamp === null) {
      this.#checking.set(hash, opening);
      opening.finally(() => this.#checking.delete(hash)).catch(() => undefined);
    }
    const found = await opening;
    if (found.kind !== 'whole') return this.#lose(hash);
    const { file, length, verified, chunks } = found;
    if (chunks === null) this.#noteChecked(hash, verified.stamp, verified.newTable);
    return new BlobParts({
      file,
      stamp: verified.stamp,
      lengthBytes: length,
      chunks,
      onVerified: () => this.#noteChecked(hash, verified.stamp, null),
      recheck: () => this.#recheck(hash),
    });
  }

  /**
   * Decrypts a blob into an open file. Returns the number of written bytes; null in the same cases as `read`, and if the
   * blob is not on disk.
   */
  async copyTo(hash: string, cipher: CipherKey, target: CopyTarget): Promise<number | null> {
    if (!this.#finished.has(hash) || this.originals.has(hash)) return null;
    const stamp = this.#checked.get(hash) ?? null;
    const lastCheck = stamp === null ? await this.#tables.of(hash)() : null;
    const found = await this.#deps.threads.copyTo(this.#pathOf(hash), hash, stamp, lastCheck, cipher, target);
    if (found.kind !== 'whole') return this.#lose(hash);
    this.#noteChecked(hash, found.stamp, found.newTable);
    return found.length;
  }

  /** Defers all deletions of blobs until the promise settles. */
  keepUntil(settled: Promise<void>): void {
    const kept = settled.catch(() => undefined).finally(() => this.#keptUntil.delete(kept));
    this.#keptUntil.add(kept);
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
    return this.#queue.run(hash, async () => {
      const path = this.#pathOf(hash);
      const found = await this.#files.read(path, hash, null, () => Promise.resolve(null));
      if (found.kind === 'whole') {
        this.#noteChecked(hash, found.verified.stamp, found.verified.newTable);
        return found.verified.stamp;
      }
      this.#checked.delete(hash);
      if (found.kind === 'corrupt') {
        await rename(path, path + QUARANTINE_SUFFIX);
        this.#deps.log.warn(
          `${path}: ${found.reason}. It was quarantined as ${hash}${QUARANTINE_SUFFIX}; the blob is downloaded ` +
            'again when it is needed.',
        );
      } else if (this.#finished.has(hash)) this.#deps.log.warn(`${path} is missing.`);
      this.#finished.delete(hash);
      await this.#deps.database.setPending([hash]);
      return null;
    });
  }

  /** Reads the blob and returns whether it exists with correct bytes. */
  async isWhole(hash: string): Promise<boolean> {
    return (await this.read(hash)) !== null;
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
   * tells when it is on disk. If downloaded blobs are not saved, the blob stays in memory for its reader. Rejects like
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
    if (this.#finished.has(hash)) return true;
    const right = await this.#verifying.verify(hash, blob);
    if (right === null) return false;
    this.#held.put(hash, blob);
    if (this.#savesBlobs) await this.#store(hash, blob, right.table, false);
    return true;
  }

  /** Resolves when a received blob is on disk; immediately if the blob is not being stored. Rejects like `write`. */
  async kept(hash: string): Promise<void> {
    try {
      await this.#coming.get(hash);
    } catch (error) {
      this.#coming.delete(hash);
      throw error;
    }
  }

  /**
   * Stores a blob whose hash is known to be correct. Resolves when the bytes are in a file. `kept` of the result resolves
   * when the blob is on disk.
   */
  async #store(
    hash: string,
    blob: BlobBytes,
    table: StoredChunkTable | null,
    isMine: boolean,
  ): Promise<void> {
    let onWritten: () => void = () => undefined;
    const written = new Promise<void>((resolve) => (onWritten = resolve));
    if (!(blob instanceof Uint8Array)) blob.use();
    const kept = this.#queue
      .run(hash, async () => {
        if (this.#finished.has(hash)) return;
        await this.#storing.store({ hash, bytes: bytesOf(blob), table, isMine }, onWritten);
        await rm(this.#pathOf(hash) + QUARANTINE_SUFFIX, { force: true });
      })
      .finally(() => {
        if (!(blob instanceof Uint8Array)) blob.release();
      });
    this.#coming.set(hash, kept);
    kept.then(
      () => {
        if (this.#coming.get(hash) === kept) this.#coming.delete(hash);
        if (this.#savesBlobs) this.#held.delete(hash);
      },
      () => this.#held.delete(hash),
    );
    try {
      await Promise.race([written, kept]);
    } catch (error) {
      this.#coming.delete(hash);
      throw error;
    }
  }

  /** Adds the data blobs of a published stream without writing them. They are made on demand from the published file. */
  async addMade(
    original: OriginalRow,
    blobs: readonly { readonly hash: string; readonly position: number; readonly lengthBytes: number }[],
  ): Promise<void> {
    const addedOn = this.#deps.clock.nowSec();
    const rows = blobs.map(({ hash, lengthBytes }) => ({ hash, lengthBytes, addedOn, isMine: true }));
    await this.#deps.database.addBlobs(rows, true);
    this.originals.add(
      original,
      blobs.filter(({ hash }) => !this.#finished.has(hash)),
    );
    for (const { hash } of blobs) this.#finished.add(hash);
  }

  /**
   * Writes blobs that were made on demand to disk, for all streams or for one descriptor, so that the published files are
   * not needed any more. Throws `EnvironmentError` if a blob cannot be written; blobs written before stay.
   */
  async restore(sdHash: string | null): Promise<Restored> {
    const changed: string[] = [];
    let [streams, blobs, bytes] = [0, 0, 0];
    for (const { streamHash, sdHash: descriptor } of this.originals.streams(sdHash)) {
      for (const hash of this.originals.madeOf(streamHash)) {
        const lengthBytes = await this.#restoreBlob(hash);
        if (lengthBytes !== null) [blobs, bytes] = [blobs + 1, bytes + lengthBytes];
      }
      if (this.originals.stateOf(streamHash) === 'changed') changed.push(descriptor);
      else if (this.originals.madeOf(streamHash).length === 0) {
        await this.originals.release(streamHash);
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
    return this.#queue.run(hash, async () => {
      const bytes = await this.originals.read(hash, null);
      if (bytes === null) return null;
      await this.#storing.store({ hash, bytes, table: null, isMine: true }, () => undefined);
      // The stream may have been deleted meanwhile.
      const isNeeded = this.originals.has(hash);
      if (!isNeeded) await this.#removeRestored(hash);
      this.originals.forget(hash);
      return isNeeded ? bytes.length : null;
    });
  }

  /** Removes a blob that was written while its stream was deleted. Must run in the queue of the blob. */
  async #removeRestored(hash: string): Promise<void> {
    this.#finished.delete(hash);
    await this.#deps.database.forgetBlobs([hash]);
    await rm(this.#pathOf(hash), { force: true });
    await this.#deps.database.endDeletion([hash]);
  }

  /**
   * Encrypts a piece of a published file into a blob. The caller may reuse the memory of the piece when the promise
   * resolves. The blob is on disk when the promise `kept` in the result resolves.
   */
  async encrypt(piece: Uint8Array, cipher: CipherKey): Promise<EncryptedBlob> {
    const temporary = await this.#deps.threads.encrypt(this.#folder, piece, cipher);
    const { hash, length } = temporary;
    return { hash, length, kept: this.#orDiscarded(hash, this.#storing.keep(temporary)) };
  }

  /**
   * Writes a blob that was made of a published file. Calls `onWritten` once, when the memory of the bytes may be reused.
   * Resolves when the blob is on disk.
   */
  keepMade({ hash, table }: KnownBlob, bytes: Uint8Array, onWritten: () => void): Promise<void> {
    let isWritten = false;
    const written = (): void => {
      if (!isWritten) onWritten();
      isWritten = true;
    };
    const stored = this.#storing.store({ hash, bytes, table, isMine: true }, written).finally(written);
    return this.#orDiscarded(hash, stored);
  }

  /** Removes a blob whose storing failed, because the error leaves the caller without the hash of the blob. */
  #orDiscarded(hash: string, storing: Promise<unknown>): Promise<void> {
    const kept = storing.then(
      () => undefined,
      async (error: unknown) => {
        await this.discard([hash]).catch(() => undefined);
        throw error;
      },
    );
    kept.catch(() => undefined);
    return kept;
  }

  /** Waits until none of the given blobs (null: of all blobs) is being stored, whether storing succeeded or failed. */
  async #settle(hashes: readonly string[] | null): Promise<void> {
    // A blob that is being verified would otherwise be stored later.
    await Promise.allSettled(this.#arrivals);
    await Promise.allSettled([...(hashes ?? this.#coming.keys())].map((hash) => this.#coming.get(hash)));
  }

  /** Deletes blobs. The row of a blob that a stream needs stays, marked as pending. */
  async delete(hashes: readonly string[]): Promise<void> {
    await Promise.all(this.#keptUntil);
    await this.#settle(hashes);
    await this.#deps.database.forgetBlobs(hashes);
    await this.#removeFiles(hashes);
  }

  /**
   * Removes blobs that no stream needs and whose storing was not acknowledged. Files are removed before rows, because a full
   * disk may prevent a change of the database. The next start repeats the change of the rows.
   */
  async discard(hashes: readonly string[]): Promise<void> {
    await this.#removeFirst(hashes);
    await this.#deps.database.forgetBlobs(hashes);
    await this.#deps.database.endDeletion(hashes);
  }

  /** Removes files of blobs before their rows. */
  async #removeFirst(hashes: readonly string[]): Promise<void> {
    for (const hash of hashes)
      await this.#queue.run(hash, () => {
        this.#finished.delete(hash);
        this.#checked.delete(hash);
        return rm(this.#pathOf(hash), { force: true });
      });
  }

  /** On a full disk the database cannot be changed, so files are deleted first. */
  async #removeStreamRows(streamHash: string): Promise<string[]> {
    const { database } = this.#deps;
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
    return this.#queue.run(hash, () => {
      this.#finished.delete(hash);
      this.#checked.delete(hash);
      return rm(this.#pathOf(hash), { force: true }).catch((error: unknown) => {
        throw environmentError(error, this.#pathOf(hash));
      });
    });
  }

  /** Deletes a stream and the blobs that no other stream needs. */
  async deleteStream(streamHash: string): Promise<void> {
    await this.onStreamDeletion(streamHash);
    await Promise.all(this.#keptUntil);
    await this.#settle(null);
    const removed = await this.#removeStreamRows(streamHash);
    this.originals.removeStream(streamHash);
    await this.onStreamDeleted(streamHash);
    await this.#removeFiles(removed);
  }

  async #removeFiles(hashes: readonly string[]): Promise<void> {
    for (const hash of hashes) {
      this.#finished.delete(hash);
      this.#checked.delete(hash);
      this.#held.delete(hash);
      this.originals.forget(hash);
    }
    for (const hash of hashes)
      await this.#queue.run(hash, async () => {
        // The blob may have been stored again meanwhile.
        if (this.#finished.has(hash)) return;
        const path = this.#pathOf(hash);
        for (const file of [path, path + QUARANTINE_SUFFIX])
          await rm(file, { force: true }).catch((error: unknown) => {
            throw environmentError(error, file);
          });
      });
    await this.#deps.database.endDeletion(hashes);
  }

  /** Stops the check of unknown files. Must be called before the database is closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.originals.close();
    await this.settled.catch(() => undefined);
    await Promise.allSettled(this.#coming.values());
    await this.#tables.save();
  }
}
