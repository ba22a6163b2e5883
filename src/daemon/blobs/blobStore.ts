/**
 * The blobs on disk, `blobfiles/<hash>`: written whole or not at all, checked against their hash before their first use in a
 * run, quarantined when they are corrupt. Other blobs are made from published files on demand (`originals.ts`) or held in
 * memory without being written (`heldBlobs.ts`). Source: lbry-sdk lbry/blob/blob_manager.py `BlobManager`.
 */
import { join } from 'node:path';
import { failureReason } from '../../util/text/environmentError.js';
import { KeyedQueue } from '../../scheduler/keyedQueue.js';
import { BlobHashes } from '../content/blobHashes.js';
import type { BlobBytes } from '../content/incomingBlob.js';
import type { BlobCheckRow, BlobRow } from '../content/rows.js';
import { ArrivingBlobs } from './store/arrivingBlobs.js';
import { BlobFiles, stampOf } from './blobFiles.js';
import { BlobRemoval, type Deletion } from './store/blobRemoval.js';
import type { BlobState } from './store/blobState.js';
import { BlobStoring, type RecordedBlob } from './blobStoring.js';
import type { BlobSet, BlobStoreDeps, EncryptedBlob, Restored } from './blobStorePorts.js';
import {
  PARTIAL_SUFFIX,
  type CipherKey,
  type CopyTarget,
  type FileStamp,
  type KnownBlob,
} from './blobWork.js';
import { BlobChangedError, type BlobParts } from './blobParts.js';
import { BlobsOnDisk } from './store/blobsOnDisk.js';
import { decryptBlob } from './cipher.js';
import { beginsAsDescriptor } from './descriptorStart.js';
import { HeldBlobs } from './store/heldBlobs.js';
import { MadeBlobs } from './store/madeBlobs.js';
import { Originals } from './originals.js';
import { bytesInMemory, decrypted, type PlainBlob } from './plainBlob.js';
import { BlobVerifying } from './blobVerifying.js';

export class BlobStore {
  /** Hashes of all blobs on disk and of the blobs that are made on demand. A live view for other modules. */
  readonly finished: BlobSet;
  readonly #finished = new BlobHashes();
  /** Unchecked files in the folder without a row in the database. */
  readonly #unknown = new Set<string>();
  readonly originals: Originals;
  readonly #held = new HeldBlobs();
  readonly #deps: BlobStoreDeps;
  readonly #storing: BlobStoring;
  readonly #onDisk: BlobsOnDisk;
  readonly #arriving: ArrivingBlobs;
  readonly #made: MadeBlobs;
  readonly #removal: BlobRemoval;
  #isClosed = false;
  /** Resolves when all files without a row were checked. */
  settled: Promise<void> = Promise.resolve();
  /** Called before a stream is deleted. It must end all downloads and saves of the stream, because they store blobs. */
  onStreamDeletion: (streamHash: string) => Promise<void> = () => Promise.resolve();
  /** Called when a stream was deleted with its file. */
  onStreamDeleted: (streamHash: string) => Promise<void> = () => Promise.resolve();

  constructor(deps: BlobStoreDeps) {
    this.#deps = deps;
    this.finished = this.#finished;
    this.originals = this.#makeOriginals();
    const state: BlobState = {
      deps,
      finished: this.#finished,
      originals: this.originals,
      held: this.#held,
      queue: new KeyedQueue(),
      pathOf: (hash) => this.#pathOf(hash),
    };
    const files = deps.files ?? new BlobFiles();
    const [onDisk, storing] = [
      new BlobsOnDisk(state, files),
      new BlobStoring({ folder: deps.folder, record: (blobs) => this.#record(blobs) }),
    ];
    const verifying = new BlobVerifying(files, deps.threads, deps.clock);
    const arriving = new ArrivingBlobs({ state, onDisk, storing, verifying });
    this.#onDisk = onDisk;
    this.#storing = storing;
    this.#arriving = arriving;
    this.#made = new MadeBlobs(state, storing);
    this.#removal = new BlobRemoval({
      state,
      onDisk,
      arriving,
      hooks: {
        onStreamDeletion: (streamHash) => this.onStreamDeletion(streamHash),
        onStreamDeleted: (streamHash) => this.onStreamDeleted(streamHash),
      },
    });
  }

  #makeOriginals(): Originals {
    const { database, threads, log, clock } = this.#deps;
    return new Originals({
      database,
      threads,
      log,
      isOnDisk: (hash) => this.#finished.has(hash),
      lost: async (hashes) => {
        for (const hash of hashes) this.#finished.delete(hash);
        await database.setPending(hashes);
      },
      found: async (blobs) => {
        const addedOn = clock.nowSec();
        await database.addBlobs(
          blobs.map(({ hash, lengthBytes }) => ({ hash: hash!, lengthBytes, addedOn, isMine: true })),
          true,
        );
        for (const { hash } of blobs) this.#finished.add(hash!);
      },
    });
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
    const bytes = await this.#onDisk.read(hash);
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
    for (const { hash, stamp, table } of blobs) this.#onDisk.noteChecked(hash, stamp, table);
    if (this.#arriving.storingCount <= blobs.length) void this.#onDisk.saveTables();
  }

  /**
   * Returns the bytes of a blob, decrypted if `cipher` is given. Null if the blob is missing or corrupt; its status is then
   * pending, so that it is downloaded again.
   */
  async read(hash: string, cipher: CipherKey | null = null): Promise<Uint8Array | null> {
    if (this.originals.has(hash)) return this.originals.read(hash, cipher);
    const bytes = this.#finished.has(hash)
      ? await this.#onDisk.read(hash)
      : await this.#arriving.readHeld(hash);
    return bytes === null || cipher === null ? bytes : decryptBlob(bytes, cipher.key, cipher.iv);
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
    const held = await this.#arriving.readHeld(hash);
    if (held === null) return null;
    this.#held.delete(hash);
    return decrypted(bytesInMemory(held), cipher);
  }

  /** Releases a blob that `receive` keeps in memory, because a reader has received its bytes. */
  forgetHeld(hash: string): void {
    this.#held.delete(hash);
  }

  /** Number of blobs that are kept in memory without being written. */
  get heldCount(): number {
    return this.#held.size;
  }

  /** Whether the blob can only be read as a whole, because it is made on demand from a published file. */
  readsWhole(hash: string): boolean {
    return this.originals.has(hash);
  }

  /** See `BlobsOnDisk.prepare`. */
  prepare(hashes: readonly string[]): void {
    this.#onDisk.prepare(hashes);
  }

  /** See `BlobsOnDisk.readInto`. */
  readInto(hash: string, into: Uint8Array): Promise<number | null> {
    return this.#onDisk.readInto(hash, into);
  }

  /** See `BlobsOnDisk.rememberCheck`. */
  rememberCheck(check: BlobCheckRow): void {
    this.#onDisk.rememberCheck(check);
  }

  /** See `BlobsOnDisk.openParts`. */
  openParts(hash: string): Promise<BlobParts | null> {
    return this.#onDisk.openParts(hash);
  }

  /** Whether downloaded blobs are stored on disk (setting `save_blobs`). */
  get savesBlobs(): boolean {
    return this.#arriving.savesBlobs;
  }

  /**
   * See `BlobsOnDisk.copyTo`. For a blob that is being stored, the copy begins when the blob is on disk; rejects with
   * `EnvironmentError` if it cannot be stored.
   */
  async copyTo(hash: string, cipher: CipherKey, target: CopyTarget): Promise<number | null> {
    const written = await this.#arriving.copyTo(hash, cipher, target);
    return written ?? this.#onDisk.copyTo(hash, cipher, target);
  }

  /** See `ArrivingBlobs.write`. */
  write(hash: string, blob: BlobBytes, isMine = false): Promise<boolean> {
    return this.#arriving.write(hash, blob, isMine);
  }

  /** See `ArrivingBlobs.receive`. */
  receive(hash: string, blob: BlobBytes): Promise<boolean> {
    return this.#arriving.receive(hash, blob);
  }

  /** See `ArrivingBlobs.kept`. */
  kept(hash: string): Promise<void> {
    return this.#arriving.kept(hash);
  }

  /** See `MadeBlobs.addMade`. */
  addMade(...[original, blobs]: Parameters<MadeBlobs['addMade']>): Promise<void> {
    return this.#made.addMade(original, blobs);
  }

  /** See `MadeBlobs.restore`. */
  restore(sdHash: string | null): Promise<Restored> {
    return this.#made.restore(sdHash);
  }

  /** See `BlobRemoval.keepUntil`. */
  keepUntil(settled: Promise<void>): void {
    this.#removal.keepUntil(settled);
  }

  /** See `BlobRemoval.delete`. */
  delete(hashes: readonly string[]): Promise<void> {
    return this.#removal.delete(hashes);
  }

  /** See `BlobRemoval.tryDelete`. */
  tryDelete(hashes: readonly string[]): Promise<Deletion> {
    return this.#removal.tryDelete(hashes);
  }

  /** See `BlobRemoval.discard`. */
  discard(hashes: readonly string[]): Promise<void> {
    return this.#removal.discard(hashes);
  }

  /** See `BlobRemoval.repeat`. */
  repeatDeletions(): Promise<void> {
    return this.#removal.repeat();
  }

  /** See `BlobRemoval.evict`. */
  evict(hash: string): Promise<void> {
    return this.#removal.evict(hash);
  }

  /** See `BlobRemoval.deleteStream`. */
  deleteStream(streamHash: string): Promise<void> {
    return this.#removal.deleteStream(streamHash);
  }

  /** Reads the blob and returns whether it exists with correct bytes. */
  async isWhole(hash: string): Promise<boolean> {
    return (await this.read(hash)) !== null;
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
   * Writes a blob that was made from a published file. Calls `onWritten` once, when the memory of `bytes` may be reused.
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

  /** Removes a blob whose storing failed, because the caller gets an error instead of the hash of the blob. */
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

  /** Stops the check of unknown files. Must be called before the database is closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#made.close();
    this.originals.close();
    await this.settled.catch(() => undefined);
    await this.#arriving.allStored();
    await this.#onDisk.saveTables();
  }
}
