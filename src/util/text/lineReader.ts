/** Splits the data of a connection into lines of limited length. */

const NEWLINE = 0x0a;
/** Initial buffer size for a line that arrives in pieces. */
const LEAST_ROOM_BYTES = 4096;
const NOTHING = Buffer.alloc(0);

export class LineReader {
  private readonly maxLineBytes: number;
  private bytes: Buffer = NOTHING;
  private start = 0;
  private end = 0;
  /** No line ends before this position. */
  private searched = 0;

  constructor(maxLineBytes: number) {
    this.maxLineBytes = maxLineBytes;
  }

  /** Number of bytes received but not returned as lines. */
  get heldBytes(): number {
    return this.end - this.start;
  }

  /** Whether the incomplete line exceeds the maximum length. */
  get isTooLong(): boolean {
    return this.searched - this.start > this.maxLineBytes;
  }

  /** Adds received data; the buffer is retained. */
  push(chunk: Buffer): void {
    if (this.heldBytes === 0) {
      this.bytes = chunk;
      this.start = this.searched = 0;
      this.end = chunk.length;
      return;
    }
    if (this.bytes.length - this.end < chunk.length) this.grow(chunk.length);
    this.end += chunk.copy(this.bytes, this.end);
  }

  /** Lines returned earlier are views of the old buffer, which is never written again. */
  private grow(more: number): void {
    const room = Math.max(
      LEAST_ROOM_BYTES,
      this.heldBytes + more,
      Math.min(this.heldBytes * 2, this.maxLineBytes),
    );
    const larger = Buffer.allocUnsafeSlow(room);
    this.bytes.copy(larger, 0, this.start, this.end);
    this.searched -= this.start;
    this.end -= this.start;
    this.start = 0;
    this.bytes = larger;
  }

  /** The next complete line without its end, or null if there is none. */
  next(): Buffer | null {
    if (this.start === this.end) return null;
    const found = this.bytes.subarray(0, this.end).indexOf(NEWLINE, this.searched);
    if (found < 0) {
      this.searched = this.end;
      return null;
    }
    const line = this.bytes.subarray(this.start, found);
    this.start = this.searched = found + 1;
    if (this.start === this.end) {
      this.bytes = NOTHING;
      this.start = this.end = this.searched = 0;
    }
    return line;
  }
}
