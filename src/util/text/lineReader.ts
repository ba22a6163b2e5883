/** Splits the received data of a connection into lines of limited length. */

const NEWLINE = 0x0a;
/** Minimum size in bytes of the buffer for a line that arrives in pieces. */
const LEAST_ROOM_BYTES = 4096;
const NOTHING = Buffer.alloc(0);

export class LineReader {
  private readonly maxLineBytes: number;
  private bytes: Buffer = NOTHING;
  private start = 0;
  private end = 0;
  /** Position up to which the buffer was searched for line ends and none was found. */
  private searched = 0;

  constructor(maxLineBytes: number) {
    this.maxLineBytes = maxLineBytes;
  }

  /** Number of bytes that were received and not returned as lines yet. */
  get heldBytes(): number {
    return this.end - this.start;
  }

  /** Whether the last line, which is incomplete, is longer than the maximum. */
  get isTooLong(): boolean {
    return this.searched - this.start > this.maxLineBytes;
  }

  /** Adds received data. The buffer is used without a copy, so it must not be changed afterwards. */
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

  /** Copies the data to a larger buffer. Lines returned earlier are views of the old buffer, which is not written again. */
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

  /** The next complete line without its line end; null if no complete line is available. */
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
