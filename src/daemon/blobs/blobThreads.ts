/** Worker threads for blobs. They are started when there is work. Each job goes to the thread with the fewest jobs. */
import { availableParallelism } from 'node:os';
import { loadNative } from '../../native/binding.js';
import { systemClock, type Clock, type Timer } from '../base/clock.js';
import { TaskSlots } from '../../scheduler/taskSlots.js';
import type { CallThread } from '../../threads/callThread.js';
import { daemonThread } from '../base/threadCalls.js';
import { blobBuffers } from '../content/blobBuffers.js';
import type { StoredChunkTable } from '../content/chunkTable.js';
import type { BlobCheckRow, OriginalRow } from '../content/rows.js';
import { canVerifyInPool, verifyInPool } from './blobDigests.js';
import { canMakeInPool, makeInPool, type PieceToMake } from './blobMaking.js';
import type {
  BlobCheck,
  CipherKey,
  CopyTarget,
  FileStamp,
  KnownBlob,
  MadeBlob,
  TemporaryBlob,
  UnverifiedBlob,
} from './blobWork.js';

/** Milliseconds without work after which the threads end. Each thread uses about 10 MiB. Arbitrary. */
const IDLE_MS = 20_000;
/** Maximum number of threads. More threads are not faster on common disks. Arbitrary. */
const MAX_THREADS = 4;
/**
 * Maximum number of concurrent copies in the thread pool, which has four threads. Copies into one file wait for each other in
 * the kernel, so there are more of them than processors.
 */
const COPIES_AT_ONCE = 4;

const native = loadNative();

/** The hash of one whole file, computed piece by piece in order. */
export interface FileHash {
  /** Adds a piece to the hash. Resolves when the caller may overwrite the piece. */
  add(piece: Uint8Array): Promise<void>;
  /** Hexadecimal digits. */
  end(): Promise<string>;
}

export class BlobThreads {
  readonly #threads: CallThread[] = [];
  readonly #limit: number;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #startThread: typeof daemonThread;
  #nextFile = 0;
  #idle: Timer | null = null;
  #jobs = 0;
  readonly #copying = new TaskSlots(COPIES_AT_ONCE);

  constructor(
    limit = Math.min(MAX_THREADS, Math.max(2, availableParallelism())),
    clock: Pick<Clock, 'after'> = systemClock,
    startThread: typeof daemonThread = daemonThread,
  ) {
    this.#limit = limit;
    this.#clock = clock;
    this.#startThread = startThread;
  }

  /** Number of running threads. */
  get count(): number {
    return this.#threads.length;
  }

  /** Runs a job in a thread. When no jobs have run for some time, the threads end and unused buffers are released. */
  async #run(method: string, args: readonly unknown[]): Promise<unknown> {
    this.#begin();
    try {
      return await this.#free().call(method, args);
    } finally {
      this.#end();
    }
  }

  #begin(): void {
    this.#jobs++;
    this.#idle?.cancel();
  }

  #end(): void {
    if (--this.#jobs > 0) return;
    this.#idle = this.#clock.after(IDLE_MS, () => void this.close());
  }

  /** Maximum number of threads, which is also the maximum number of concurrent jobs. */
  get limit(): number {
    return this.#limit;
  }

  #start(): CallThread {
    const thread = this.#startThread({
      program: ['daemon', 'blobs', 'blobWorker.js'],
      data: this.#threads.length,
      title: 'The work on a blob',
    });
    this.#threads.push(thread);
    return thread;
  }

  /** Returns an idle thread, else a new thread if allowed, else the thread with the fewest jobs. */
  #free(): CallThread {
    // A thread that ended by an error would refuse all jobs.
    for (const ended of this.#threads.filter(({ isUp }) => !isUp))
      this.#threads.splice(this.#threads.indexOf(ended), 1);
    const [least] = this.#threads.toSorted((a, b) => a.waitingCount - b.waitingCount);
    if (least !== undefined && (least.waitingCount === 0 || this.#threads.length >= this.#limit))
      return least;
    return this.#start();
  }

  /**
   * Runs `BlobWork.copyTo` in a thread, or the same work by the addon in the thread pool. The target must stay open until the
   * promise settles.
   */
  async copyTo(
    path: string,
    hash: string,
    checkedStamp: FileStamp | null,
    lastCheck: BlobCheckRow | null,
    cipher: CipherKey,
    target: CopyTarget,
  ): Promise<BlobCheck> {
    const stamp = checkedStamp ?? lastCheck?.stamp;
    if (native?.copyBlob !== undefined && stamp !== undefined) {
      const table = checkedStamp === null ? lastCheck!.table : null;
      const length = await this.#copying.run(() => this.#copy(path, stamp, table, cipher, target));
      if (length !== null && length >= 0) return { kind: 'whole', length, stamp, newTable: null };
    }
    return (await this.#run('copyTo', [path, hash, checkedStamp, lastCheck, cipher, target])) as BlobCheck;
  }

  /**
   * Decrypts the bytes of a verified blob into a file by the addon in the thread pool. Resolves to the number of written bytes.
   * Resolves to null if that fails or without the addon; the caller then copies the blob from its file, which reports the error.
   * The bytes must not change, and the target must stay open, until the promise settles.
   */
  async decryptTo(
    bytes: Uint8Array,
    { key, iv }: CipherKey,
    { fd, position }: CopyTarget,
  ): Promise<number | null> {
    if (native?.decryptBlob === undefined) return null;
    const length = await this.#copying.run(() => native.decryptBlob!(bytes, key, iv, fd, position));
    return length !== null && length >= 0 ? length : null;
  }

  /** See `NativeAddon.copyBlob`. */
  async #copy(
    path: string,
    stamp: FileStamp,
    table: StoredChunkTable | null,
    { key, iv }: CipherKey,
    { fd, position }: CopyTarget,
  ): Promise<number> {
    this.#begin();
    try {
      return await native!.copyBlob!(Buffer.from(path), Buffer.from(stamp), table, key, iv, fd, position);
    } finally {
      this.#end();
    }
  }

  /**
   * Reads a blob's file into `into` by the addon in the thread pool. The file must have the stamp of a check of this run, or
   * match the table of `lastCheck`. Resolves to the size of the blob; to null if a condition does not hold or without the addon.
   */
  async readInto(
    path: string,
    checkedStamp: FileStamp | null,
    lastCheck: BlobCheckRow | null,
    into: Uint8Array,
  ): Promise<number | null> {
    const stamp = checkedStamp ?? lastCheck?.stamp;
    if (native?.readBlob === undefined || stamp === undefined) return null;
    const table = checkedStamp === null ? lastCheck!.table : null;
    const length = await native.readBlob(Buffer.from(path), Buffer.from(stamp), table, into);
    return length < 0 ? null : length;
  }

  /** Whether the addon can encrypt pieces in the thread pool. */
  get makesInPool(): boolean {
    return canMakeInPool();
  }

  /** See `makeInPool` of `blobMaking.ts`. */
  async makeInPool(pieces: readonly PieceToMake[], key: Uint8Array): Promise<KnownBlob[]> {
    this.#begin();
    try {
      return await makeInPool(pieces, key);
    } finally {
      this.#end();
    }
  }

  /** Runs `BlobWork.encrypt` in a thread. A piece in shared memory is not copied. */
  async encrypt(folder: string, piece: Uint8Array, cipher: CipherKey): Promise<TemporaryBlob> {
    return (await this.#run('encrypt', [folder, piece, cipher])) as TemporaryBlob;
  }

  /** Whether `verify` starts without a wait for a new thread. */
  get verifiesAtOnce(): boolean {
    return this.#threads.length > 0 || canVerifyInPool();
  }

  /** Starts a thread if none runs, for later work. */
  warmUp(): void {
    if (this.#threads.length > 0) return;
    this.#begin();
    this.#start();
    this.#end();
  }

  /**
   * Runs `BlobWork.verify` in a thread, or the same work by the addon in the thread pool. Bytes in shared memory are not
   * copied.
   */
  async verify(blobs: readonly UnverifiedBlob[]): Promise<readonly (StoredChunkTable | null)[]> {
    if (canVerifyInPool()) {
      this.#begin();
      try {
        return await verifyInPool(blobs);
      } finally {
        this.#end();
      }
    }
    return (await this.#run('verify', [blobs])) as readonly (StoredChunkTable | null)[];
  }

  /** Runs `BlobWork.measure` in a thread. A piece in shared memory is not copied. */
  async measure(piece: Uint8Array, cipher: CipherKey): Promise<KnownBlob> {
    return (await this.#run('measure', [piece, cipher])) as KnownBlob;
  }

  /** See `BlobWork.make`. */
  async make(
    { path, sizeBytes }: Pick<OriginalRow, 'path' | 'sizeBytes'>,
    position: number,
    cipher: CipherKey,
    hash: string,
    wants: 'blob' | 'piece' | 'nothing',
  ): Promise<MadeBlob> {
    const args = [{ path, sizeBytes }, position, cipher, hash, wants];
    return (await this.#run('make', args)) as MadeBlob;
  }

  /** Starts the hash computation for a whole file. The same thread gets all pieces. The caller must call `end`. */
  hashFile(): FileHash {
    this.#begin();
    const thread = this.#free();
    const id = this.#nextFile++;
    return {
      add: async (piece) => void (await thread.call('hashPiece', [id, piece])),
      end: async () => {
        try {
          return (await thread.call('endHash', [id])) as string;
        } finally {
          this.#end();
        }
      },
    };
  }

  /** Ends the threads and releases unused buffers. A later job starts new threads. */
  async close(): Promise<void> {
    blobBuffers.clear();
    this.#idle?.cancel();
    this.#idle = null;
    await Promise.all(this.#threads.splice(0).map((thread) => thread.close()));
  }
}
