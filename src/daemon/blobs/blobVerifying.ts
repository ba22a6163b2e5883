/** Verification of complete blobs by their hash before they are stored. */
import { bytesOf, type BlobBytes, type ReceivedBlob } from '../content/incomingBlob.js';
import type { BlobFiles } from './blobFiles.js';
import type { BlobThreads } from './blobThreads.js';
import type { TemporaryBlob } from './blobWork.js';

/** Minimum size of received blobs that a thread verifies and writes. Arbitrary: a smaller blob takes less time than a message. */
const THREADED_BYTES = 64 * 1024;

export class BlobVerifying {
  readonly #folder: string;
  readonly #files: Pick<BlobFiles, 'isBlob'>;
  readonly #threads: Pick<BlobThreads, 'receive'>;

  /** `folder`: the folder of the blob files. */
  constructor(folder: string, files: Pick<BlobFiles, 'isBlob'>, threads: Pick<BlobThreads, 'receive'>) {
    this.#folder = folder;
    this.#files = files;
    this.#threads = threads;
  }

  /**
   * Verifies a blob. Resolves to its bytes, or to its temporary file if a thread has also written it, which it does only
   * with `isWritten`. Null if the blob has another hash. Rejects with `EnvironmentError` if the thread cannot write.
   */
  async verify(
    hash: string,
    blob: BlobBytes,
    isWritten: boolean,
  ): Promise<Uint8Array | TemporaryBlob | null> {
    if (!(blob instanceof Uint8Array) && isWritten && blob.bytes.length >= THREADED_BYTES) {
      const stored = await this.#storeInThread(hash, blob);
      if (stored !== 'no thread') return stored;
    }
    const bytes = bytesOf(blob);
    return (await this.#files.isBlob(hash, bytes)) ? bytes : null;
  }

  async #storeInThread(hash: string, blob: ReceivedBlob): Promise<TemporaryBlob | null | 'no thread'> {
    const { bytes } = blob;
    // A buffer that contains other data cannot be transferred to a thread.
    if (bytes.length !== bytes.buffer.byteLength) return 'no thread';
    const stored = await this.#threads.receive(this.#folder, hash, bytes);
    if (stored === null) return 'no thread';
    blob.bytes = Buffer.from(stored.bytes.buffer as ArrayBuffer);
    return stored.blob;
  }
}
