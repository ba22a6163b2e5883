/** Reads a blob in parts for sending, so that only one part is in memory. */
import type { FileHandle } from 'node:fs/promises';
import { stampText, type FileStamp } from './blobWork.js';

/** The file changed after its hash was verified. */
export class BlobChangedError extends Error {
  override readonly name: string = 'BlobChangedError';
}

export class BlobParts {
  readonly lengthBytes: number;
  readonly #file: FileHandle;
  readonly #stamp: FileStamp;

  /** `stamp` is the stamp of the file at its verification. */
  constructor(file: FileHandle, stamp: FileStamp, lengthBytes: number) {
    this.#file = file;
    this.#stamp = stamp;
    this.lengthBytes = lengthBytes;
  }

  /**
   * Reads bytes from a position, fewer at the end, into `into` if given. Throws `BlobChangedError` if the file changed after
   * its check.
   */
  async read(at: number, count: number, into: Uint8Array = new Uint8Array(count)): Promise<Uint8Array> {
    const bytes = into.subarray(0, Math.min(count, this.lengthBytes - at));
    const { bytesRead } = await this.#file.read(bytes, 0, bytes.length, at);
    if (bytesRead < bytes.length || stampText(await this.#file.stat({ bigint: true })) !== this.#stamp)
      throw new BlobChangedError('the file of the blob was changed');
    return bytes;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
