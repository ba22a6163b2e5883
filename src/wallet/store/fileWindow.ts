/** Reads a wallet file sequentially in large pieces into a reused buffer. */
import { readSync } from 'node:fs';

const WINDOW_BYTES = 1 << 20;
const EMPTY = Buffer.alloc(0);

export class FileWindow {
  private memory: Buffer = EMPTY;
  private bytes: Buffer = EMPTY;
  private start = 0;
  private readonly fd: number;
  private readonly sizeBytes: number;

  constructor(fd: number, sizeBytes: number) {
    this.fd = fd;
    this.sizeBytes = sizeBytes;
  }

  /** Returns bytes of the file as a view that is valid until the next call. Null if the file is too short. */
  read(offset: number, length: number): Buffer | null {
    if (offset + length > this.sizeBytes) return null;
    if (offset < this.start || offset + length > this.start + this.bytes.length) {
      const wanted = Math.min(this.sizeBytes - offset, Math.max(length, WINDOW_BYTES));
      if (this.memory.length < wanted) {
        this.wipe();
        this.memory = Buffer.allocUnsafeSlow(wanted);
      }
      const bytes = this.memory.subarray(0, wanted);
      let done = 0;
      while (done < wanted) {
        const read = readSync(this.fd, bytes, done, wanted - done, offset + done);
        if (read === 0) return null;
        done += read;
      }
      this.bytes = bytes;
      this.start = offset;
    }
    return this.bytes.subarray(offset - this.start, offset - this.start + length);
  }

  /** Overwrites the buffer with zeros, because it may contain private keys. */
  wipe(): void {
    this.memory.fill(0);
  }
}
