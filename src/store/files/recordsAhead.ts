/**
 * Reads several records of a file with one call, for callers that read them one after the other. Reads ahead only if a record
 * follows the record that was read last. The caller verifies the records.
 */

/** Bytes before a record: magic (4 bytes) and length (u32, little endian). */
const HEAD_BYTES = 8;
/** Size in bytes of one read. Arbitrary. */
const AHEAD_BYTES = 128 << 10;

export class RecordsAhead {
  private readonly magic: number;
  /** Number of bytes after each record that belong to it. */
  private readonly extraBytes: number;
  private file = -1;
  /** Offset in the file of the first byte of `bytes`. */
  private start = 0;
  private bytes = Buffer.alloc(0);
  /** Offset of the end of the record that was read last. */
  private end = -1;

  constructor(magic: Buffer, extraBytes: number) {
    this.magic = magic.readUInt32LE(0);
    this.extraBytes = extraBytes;
  }

  /**
   * Returns the record whose head is at offset `head` of a file of `fileEnd` bytes, with its extra bytes, as a view. If the
   * bytes do not contain it, and it follows the last record, bytes are read ahead from `head` on. Null if they do not contain the
   * whole record. `read` fills a buffer with bytes from an offset on, as far as it can, and returns their number.
   */
  record(
    file: number,
    head: number,
    fileEnd: number,
    read: (target: Buffer, at: number) => number,
  ): Buffer | null {
    const known = this.find(file, head);
    if (known !== null || file !== this.file || head !== this.end) return known;
    const memory = Buffer.allocUnsafeSlow(Math.max(0, Math.min(AHEAD_BYTES, fileEnd - head)));
    this.bytes = memory.subarray(0, Math.max(0, read(memory, head)));
    this.start = head;
    return this.find(file, head);
  }

  /** Must be called when a record of `length` bytes without its extra bytes was read in another way. */
  passed(file: number, head: number, length: number): void {
    if (file !== this.file) this.forget();
    this.file = file;
    this.end = head + HEAD_BYTES + length + this.extraBytes;
  }

  /** Must be called when the file may have changed other than by appending. */
  forget(): void {
    this.file = this.end = -1;
    this.bytes = Buffer.alloc(0);
  }

  private find(file: number, head: number): Buffer | null {
    const { bytes, start } = this;
    const at = head - start;
    if (file !== this.file || at < 0 || at + HEAD_BYTES > bytes.length) return null;
    if (bytes.readUInt32LE(at) !== this.magic) return null;
    const from = at + HEAD_BYTES;
    const to = from + bytes.readUInt32LE(at + 4) + this.extraBytes;
    if (to > bytes.length) return null;
    this.end = start + to;
    return bytes.subarray(from, to);
  }
}
