/** An open file of a blob. On Linux it is opened and closed without a job of the thread pool, if the path is in memory. */
import { closeSync, read } from 'node:fs';
import { constants, open, type FileHandle } from 'node:fs/promises';
import { loadNative } from '../../native/binding.js';

/** Opening a pipe without a writer must not block a thread of the pool. Windows lacks this flag. */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

const native = loadNative();

export interface BlobFile {
  readonly fd: number;
  /** Reads up to `count` bytes from a position to the start of `into`. Returns their number; 0 at the end of the file. */
  read(into: Uint8Array, count: number, position: number): Promise<number>;
  close(): Promise<void>;
}

class HandledFile implements BlobFile {
  readonly #file: FileHandle;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  get fd(): number {
    return this.#file.fd;
  }

  async read(into: Uint8Array, count: number, position: number): Promise<number> {
    return (await this.#file.read(into, 0, count, position)).bytesRead;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

class CachedFile implements BlobFile {
  /** -1 after `close`, because the system may give the number to another file. */
  #fd: number;
  readonly #reads = new Set<Promise<unknown>>();

  constructor(fd: number) {
    this.#fd = fd;
  }

  get fd(): number {
    return this.#fd;
  }

  read(into: Uint8Array, count: number, position: number): Promise<number> {
    const reading = new Promise<number>((resolve, reject) => {
      if (this.#fd < 0) throw new Error('the file of the blob is closed');
      read(this.#fd, into, 0, count, position, (error, bytesRead) => {
        if (error) reject(error);
        else resolve(bytesRead);
      });
    }).finally(() => this.#reads.delete(reading));
    this.#reads.add(reading);
    return reading;
  }

  /** Waits for running reads, because they use the number of the file. */
  async close(): Promise<void> {
    const fd = this.#fd;
    this.#fd = -1;
    if (fd < 0) return;
    if (this.#reads.size > 0) await Promise.allSettled(this.#reads);
    closeSync(fd);
  }
}

/** Opens a file for reading. The caller must close it. Rejects with system errors. */
export async function openBlobFile(path: string): Promise<BlobFile> {
  const fd = native?.openCached?.(Buffer.from(path)) ?? -1;
  return fd >= 0 ? new CachedFile(fd) : new HandledFile(await open(path, READ_FLAGS));
}
