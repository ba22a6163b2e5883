/** Cuts what comes of a connection into lines, with a bound on how long one may become. */

const NEWLINE = 0x0a;
/** Room made at first for a line that comes in pieces. */
const LEAST_ROOM_BYTES = 4096;
const NOTHING = Buffer.alloc(0);

export class LineReader {
  private readonly maxLineBytes: number;
  private bytes: Buffer = NOTHING;
  private start = 0;
  private end = 0;
  /** No line ends before here. */
  private searched = 0;

  constructor(maxLineBytes: number) {
    this.maxLineBytes = maxLineBytes;
  }

  /** Bytes that came and were not taken as lines. */
  get heldBytes(): number {
    return this.end - this.start;
  }

  /** Whether the line under way is longer than any may be. */
  get isTooLong(): boolean {
    return this.searched - this.start > this.maxLineBytes;
  }

  /** Takes what came; the buffer is kept. */
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

  /** Lines that were handed out are views of the former bytes, which no one writes to any more. */
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

  /** The next whole line without its end, or null when none is there. */
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
