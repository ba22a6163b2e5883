/**
 * Stores blobs in groups, so that a slow disk delays neither a transfer nor an encryption.
 *
 * A blob passes these steps, and each step of a group begins when the previous one has ended for all its blobs:
 * 1. The bytes, whose hash is known, are written to a temporary name (`PARTIAL_SUFFIX`).
 * 2. The temporary files are synced. Several threads do that while the next blobs are written.
 * 3. The files are renamed to their final names, and the folder is synced. Quarantined files of the same blobs are removed.
 * 4. The rows are committed. Only then the blobs count as on disk: they are in `BlobStore.finished`, and are announced and served.
 *
 * After a kill or a power failure before step 3, the next start removes the temporary files. After step 3, the folder has whole
 * blobs without a finished row, because the data was synced before the name existed; the next start verifies and adopts
 * them. After step 4, nothing is lost. So a file with a blob's name is always complete, and each row of a finished blob has
 * its file. Callers that acknowledge a blob wait for `kept`.
 */
import { closeSync, fsync, openSync } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { getSystemErrorName, promisify } from 'node:util';
import { loadNative } from '../../native/binding.js';
import { environmentError, withPath } from '../../util/text/environmentError.js';
import { TaskSlots } from '../../scheduler/taskSlots.js';
import { chunkTableOf, type StoredChunkTable } from '../content/chunkTable.js';
import { BatchedWork } from './batches.js';
import { stampOf } from './blobFiles.js';
import { QUARANTINE_SUFFIX } from './store/blobState.js';
import { PARTIAL_SUFFIX, WRITE_BYTES, type TemporaryBlob, type WrittenBlob } from './blobWork.js';

/**
 * Maximum number of files that are written, and that are synced, at the same time. The thread pool has four threads, and one job
 * syncs all files that were written by direct I/O. So a thread remains that verifies the next blobs.
 */
const WRITES_AT_ONCE = 2;
const SYNCS_AT_ONCE = 2;
/**
 * Maximum number of blobs that are being written or are written and not yet on disk; further blobs wait. Arbitrary: bounds the
 * memory of received blobs, which readers may need, and the unwritten data in the page cache, to 24 MiB.
 */
const MAX_UNSYNCED = 12;

const native = loadNative();

const synced = promisify(fsync);

/** Bytes whose hash was verified. */
export interface VerifiedBlob {
  readonly hash: string;
  readonly bytes: Uint8Array;
  /** The table of the blob's chunks; null if it was not computed yet. */
  readonly table: StoredChunkTable | null;
  readonly isMine: boolean;
}

export interface BlobStoringDeps {
  readonly folder: string;
  /** Commits the rows of blobs whose files are on disk. */
  readonly record: (blobs: readonly RecordedBlob[]) => Promise<void>;
}

export interface RecordedBlob extends WrittenBlob {
  readonly isMine: boolean;
}

/** A blob whose bytes are in a temporary file. */
interface Unsynced extends TemporaryBlob {
  readonly isMine: boolean;
  /**
   * Handle of the temporary file; its descriptor if it was written by direct I/O; null if a thread wrote the file and closed
   * it.
   */
  readonly file: FileHandle | number | null;
}

/** A blob in a file that has its name. */
interface Named {
  readonly recorded: RecordedBlob;
  /** Whether the new name survives a crash. */
  readonly isSynced: boolean;
}

/** A blob in a group. The steps add their results to it. */
interface Member {
  readonly blob: Unsynced;
  recorded: RecordedBlob | null;
  failure: unknown;
}

export class BlobStoring {
  readonly #deps: BlobStoringDeps;
  readonly #writing = new TaskSlots(WRITES_AT_ONCE);
  readonly #syncing = new TaskSlots(SYNCS_AT_ONCE);
  readonly #unsynced = new TaskSlots(MAX_UNSYNCED);
  readonly #synced: BatchedWork<Member>;
  readonly #named: BatchedWork<Named>;
  #written = 0;

  constructor(deps: BlobStoringDeps) {
    this.#deps = deps;
    this.#synced = new BatchedWork((group) => this.#sync(group));
    this.#named = new BatchedWork((group) => this.#name(group));
  }

  /**
   * Stores a blob whose hash was verified. `onWritten` is called when its bytes are in a file. Resolves when the blob is on
   * disk. Rejects with `EnvironmentError`; in that case no file remains. The bytes must not change before that.
   */
  async store(blob: VerifiedBlob, onWritten: () => void): Promise<WrittenBlob> {
    return (await this.#unsynced.run(async () => {
      const written = (await this.#writing.run(
        async () => (await this.#writeDirect(blob)) ?? this.#write(blob),
      ))!;
      onWritten();
      return this.#keep(written);
    }))!;
  }

  /** Like `store`, for a blob of the user that a thread has already written to a temporary file. */
  keep(blob: TemporaryBlob): Promise<WrittenBlob> {
    return this.#keep({ ...blob, isMine: true, file: null });
  }

  /** Path for a new temporary file. */
  #temporaryFor(hash: string): string {
    return join(this.#deps.folder, `${hash}.${process.pid}-${this.#written++}${PARTIAL_SUFFIX}`);
  }

  /**
   * Step 1 with direct I/O: new pages of the page cache cost more time than the write itself. The blob is rarely read soon
   * after, because its first reader gets the bytes from memory. Null if that is not possible; the write through the page cache
   * then reports the error, if there is one.
   */
  async #writeDirect({ hash, bytes, table, isMine }: VerifiedBlob): Promise<Unsynced | null> {
    const temporary = this.#temporaryFor(hash);
    const file = (await native?.writeDirect?.(Buffer.from(temporary), bytes)) ?? -1;
    if (file < 0) return null;
    return { hash, length: bytes.length, table: table ?? chunkTableOf(bytes), temporary, isMine, file };
  }

  async #write({ hash, bytes, table, isMine }: VerifiedBlob): Promise<Unsynced> {
    const temporary = this.#temporaryFor(hash);
    let file: FileHandle | null = null;
    try {
      file = await open(temporary, 'wx');
      for (let at = 0; at < bytes.length;)
        at += (await file.write(bytes, at, Math.min(WRITE_BYTES, bytes.length - at), at)).bytesWritten;
      return { hash, length: bytes.length, table: table ?? chunkTableOf(bytes), temporary, isMine, file };
    } catch (error) {
      await file?.close();
      throw await removed(temporary, error);
    }
  }

  async #keep(blob: Unsynced): Promise<WrittenBlob> {
    const member: Member = { blob, recorded: null, failure: null };
    await this.#synced.add(member);
    if (member.recorded === null) throw await removed(blob.temporary, member.failure);
    await this.#named.add({ recorded: member.recorded, isSynced: typeof blob.file === 'number' });
    return member.recorded;
  }

  async #sync(group: readonly Member[]): Promise<void> {
    const direct = group.filter(({ blob }) => typeof blob.file === 'number');
    const others = group.filter(({ blob }) => typeof blob.file !== 'number');
    await Promise.all([this.#keepDirect(direct), ...others.map((member) => this.#syncOne(member))]);
    for (const member of others) if (member.failure === null) await this.#rename(member);
  }

  #syncOne(member: Member): Promise<unknown> {
    return this.#syncing.run(async () => {
      let file = member.blob.file as FileHandle | null;
      try {
        file ??= await open(member.blob.temporary, 'r+');
        await file.sync();
      } catch (error) {
        member.failure = error;
      } finally {
        await file?.close();
      }
    });
  }

  /** Steps 2 and 3 for files that were written by direct I/O, in one job. */
  async #keepDirect(group: readonly Member[]): Promise<void> {
    if (group.length === 0) return;
    const { folder } = this.#deps;
    const names = group.map(({ blob }) => `${basename(blob.temporary)}\0${blob.hash}\0`).join('');
    const results = await native!.keepFiles!(
      Buffer.from(folder),
      group.map(({ blob }) => blob.file as number),
      Buffer.from(names),
      Buffer.from(QUARANTINE_SUFFIX),
    );
    for (const [at, member] of group.entries()) {
      const { hash, length, table, isMine } = member.blob;
      const result = results[at]!;
      if (typeof result === 'string') member.recorded = { hash, length, table, isMine, stamp: result };
      else member.failure = systemError(result);
    }
  }

  async #rename(member: Member): Promise<void> {
    const { hash, length, table, temporary, isMine } = member.blob;
    const path = join(this.#deps.folder, hash);
    try {
      await rename(temporary, path);
      await rm(path + QUARANTINE_SUFFIX, { force: true });
      member.recorded = { hash, length, table, isMine, stamp: (await stampOf(path)).stamp };
    } catch (error) {
      member.failure = error;
    }
  }

  async #name(group: readonly Named[]): Promise<void> {
    if (group.some(({ isSynced }) => !isSynced)) await this.#syncFolder();
    await this.#deps.record(group.map(({ recorded }) => recorded));
  }

  /** Syncs the folder, so that new names survive a crash. */
  async #syncFolder(): Promise<void> {
    // On Windows folders cannot be synced, so this step is skipped.
    if (process.platform === 'win32') return;
    // The attributes of the folder are in memory. So it is opened on this thread: the thread pool may be busy with blobs.
    const folder = openSync(this.#deps.folder, 'r');
    try {
      await synced(folder);
    } finally {
      closeSync(folder);
    }
  }
}

function systemError(errno: number): Error {
  const code = getSystemErrorName(errno);
  return Object.assign(new Error(`${code}: the file could not be stored`), { code, errno });
}

/** Removes a temporary file after an error. Resolves to the error with the name of the file. */
async function removed(temporary: string, error: unknown): Promise<unknown> {
  await rm(temporary, { force: true }).catch(() => undefined);
  return environmentError(withPath(error, temporary), temporary);
}
