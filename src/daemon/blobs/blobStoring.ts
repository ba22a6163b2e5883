/**
 * Stores blobs in groups, so that a slow disk delays neither a transfer nor an encryption.
 *
 * A blob passes these steps, and each step of a group begins when the previous one has ended for all its blobs:
 * 1. The bytes, whose hash is known, are written to a temporary name (`PARTIAL_SUFFIX`).
 * 2. The temporary files are synced. Several threads do that while the next blobs are written.
 * 3. The files get their names, and the folder is synced.
 * 4. The rows are committed. Only then the blobs count as on disk: they are in `BlobStore.finished`, and are announced and served.
 *
 * After a kill or a power failure before step 3, the next start removes the temporary files. After step 3, the folder has whole
 * blobs without a finished row, because the data was synced before the name existed; the next start verifies and adopts
 * them. After step 4, nothing is lost. So a file with a blob's name is always complete, and each row of a finished blob has
 * its file. Callers that acknowledge a blob wait for `kept`.
 */
import { closeSync, fsync, openSync } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadNative } from '../../native/binding.js';
import { environmentError, withPath } from '../../util/text/environmentError.js';
import { TaskSlots } from '../../scheduler/taskSlots.js';
import { chunkTableOf, type StoredChunkTable } from '../content/chunkTable.js';
import { BatchedWork } from './batches.js';
import { stampOf } from './blobFiles.js';
import { PARTIAL_SUFFIX, WRITE_BYTES, type TemporaryBlob, type WrittenBlob } from './blobWork.js';

/** Maximum number of files that are written, and that are synced, at the same time. The thread pool has four threads. */
const WRITES_AT_ONCE = 2;
const DIRECT_AT_ONCE = 3;
const SYNCS_AT_ONCE = 2;
/**
 * Maximum number of blobs that are written and not synced; further writes wait. Arbitrary: bounds the unwritten data in the
 * page cache to 128 MiB.
 */
const MAX_UNSYNCED = 64;

const PAGE_BYTES = 4096;

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
  /** Handle of the temporary file; null if a thread wrote the file and closed it. */
  readonly file: FileHandle | null;
}

/** A blob in a file that has its name. */
interface Named {
  readonly recorded: RecordedBlob;
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
  readonly #direct = new TaskSlots(DIRECT_AT_ONCE);
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
      const recorded = await this.#direct.run(() => this.#storeDirect(blob));
      if (recorded) {
        onWritten();
        await this.#named.add({ recorded });
        return recorded;
      }
      const written = (await this.#writing.run(() => this.#write(blob)))!;
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
   * Steps 1 to 3 with direct I/O, in one job: new pages of the page cache cost more time than the write itself. The blob is
   * rarely read soon after, because its first reader gets the bytes from memory. Null if that is not possible; the write
   * through the page cache then reports the error, if there is one.
   */
  async #storeDirect({ hash, bytes, table, isMine }: VerifiedBlob): Promise<RecordedBlob | null> {
    if (
      native?.storeFile === undefined ||
      bytes.length % PAGE_BYTES !== 0 ||
      native.bytesToPage!(bytes) !== 0
    )
      return null;
    const temporary = Buffer.from(this.#temporaryFor(hash));
    const stamp = await native.storeFile(temporary, Buffer.from(join(this.#deps.folder, hash)), bytes);
    if (stamp === '') return null;
    return { hash, length: bytes.length, table: table ?? chunkTableOf(bytes), isMine, stamp };
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
    await this.#named.add({ recorded: member.recorded });
    return member.recorded;
  }

  async #sync(group: readonly Member[]): Promise<void> {
    await Promise.all(
      group.map((member) =>
        this.#syncing.run(async () => {
          let { file } = member.blob;
          try {
            file ??= await open(member.blob.temporary, 'r+');
            await file.sync();
          } catch (error) {
            member.failure = error;
          } finally {
            await file?.close();
          }
        }),
      ),
    );
    for (const member of group) if (member.failure === null) await this.#rename(member);
  }

  async #rename(member: Member): Promise<void> {
    const { hash, length, table, temporary, isMine } = member.blob;
    const path = join(this.#deps.folder, hash);
    try {
      await rename(temporary, path);
      member.recorded = { hash, length, table, isMine, stamp: (await stampOf(path)).stamp };
    } catch (error) {
      member.failure = error;
    }
  }

  async #name(group: readonly Named[]): Promise<void> {
    await this.#syncFolder();
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

/** Removes a temporary file after an error. Resolves to the error with the name of the file. */
async function removed(temporary: string, error: unknown): Promise<unknown> {
  await rm(temporary, { force: true }).catch(() => undefined);
  return environmentError(withPath(error, temporary), temporary);
}
