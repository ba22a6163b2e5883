/** The threads that work on blobs: started when there is work, each job given to the thread with the least to do. */
import { availableParallelism } from 'node:os';
import { CallThread } from '../../util/callThread.js';
import type { OriginalRow } from '../content/rows.js';
import type {
  BlobCheck,
  BlobRead,
  CipherKey,
  CopyTarget,
  FileStamp,
  MadeBlob,
  WrittenBlob,
} from './blobWork.js';

/** More bring nothing on common disks. Arbitrary. */
const MAX_THREADS = 4;

/** The hash of one whole file, computed piece by piece in order. */
export interface FileHash {
  /** Resolves when the caller may overwrite the piece. */
  add(piece: Uint8Array): Promise<void>;
  /** Hexadecimal digits. */
  end(): Promise<string>;
}

export class BlobThreads {
  readonly #threads: CallThread[] = [];
  readonly #limit: number;
  #nextFile = 0;

  constructor(limit = Math.min(MAX_THREADS, Math.max(2, availableParallelism()))) {
    this.#limit = limit;
  }

  /** How many jobs run at the same time. */
  get limit(): number {
    return this.#limit;
  }

  #start(): CallThread {
    const thread = new CallThread({
      program: ['daemon', 'blobs', 'blobWorker.js'],
      data: this.#threads.length,
      title: 'The work on a blob',
    });
    this.#threads.push(thread);
    return thread;
  }

  /** An idle thread, else a new one, else that with the fewest jobs. */
  #free(): CallThread {
    const [least] = this.#threads.toSorted((a, b) => a.waitingCount - b.waitingCount);
    if (least !== undefined && (least.waitingCount === 0 || this.#threads.length >= this.#limit))
      return least;
    return this.#start();
  }

  /** See `BlobWork.read`. */
  async read(
    path: string,
    hash: string,
    checkedStamp: FileStamp | null,
    cipher: CipherKey | null = null,
  ): Promise<BlobRead> {
    return (await this.#free().call('read', [path, hash, checkedStamp, cipher])) as BlobRead;
  }

  /** See `BlobWork.copyTo`. The file must stay open until this settles. */
  async copyTo(
    path: string,
    hash: string,
    checkedStamp: FileStamp | null,
    cipher: CipherKey,
    target: CopyTarget,
  ): Promise<BlobCheck> {
    return (await this.#free().call('copyTo', [path, hash, checkedStamp, cipher, target])) as BlobCheck;
  }

  /** See `BlobWork.check`. */
  async check(path: string, hash: string): Promise<BlobCheck> {
    return (await this.#free().call('check', [path, hash])) as BlobCheck;
  }

  /** See `BlobWork.write`. */
  async write(folder: string, hash: string, bytes: Uint8Array): Promise<WrittenBlob | null> {
    return (await this.#free().call('write', [folder, hash, bytes])) as WrittenBlob | null;
  }

  /** See `BlobWork.encrypt`. A piece in shared memory is not copied. */
  async encrypt(folder: string, piece: Uint8Array, cipher: CipherKey): Promise<WrittenBlob> {
    return (await this.#free().call('encrypt', [folder, piece, cipher])) as WrittenBlob;
  }

  /** See `BlobWork.measure`. A piece in shared memory is not copied. */
  async measure(piece: Uint8Array, cipher: CipherKey): Promise<Pick<WrittenBlob, 'hash' | 'length'>> {
    return (await this.#free().call('measure', [piece, cipher])) as WrittenBlob;
  }

  /** See `BlobWork.isBlob`. */
  async isBlob(hash: string, bytes: Uint8Array): Promise<boolean> {
    return (await this.#free().call('isBlob', [hash, bytes])) as boolean;
  }

  /** See `BlobWork.decrypt`. */
  async decrypt(blob: Uint8Array, cipher: CipherKey): Promise<Uint8Array> {
    return (await this.#free().call('decrypt', [blob, cipher])) as Uint8Array;
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
    return (await this.#free().call('make', args)) as MadeBlob;
  }

  /** Begins the hash of a file. All its pieces go to one thread. */
  hashFile(): FileHash {
    const thread = this.#free();
    const id = this.#nextFile++;
    return {
      add: async (piece) => void (await thread.call('hashPiece', [id, piece])),
      end: async () => (await thread.call('endHash', [id])) as string,
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.splice(0).map((thread) => thread.close()));
  }
}
