/**
 * File with the headers of one chain, 112 bytes each, at an offset given by the height. It is read in pieces, because the
 * headers of a main chain exceed the daemon's memory limit. An incomplete tail is truncated.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, read, readSync, writeSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { headerHash, HEADER_SIZE_BYTES } from '../../../primitives/header.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { onFile } from '../../../util/text/environmentError.js';
import { makeFolder } from '../../../util/files/makeFolder.js';
import { refuseSpecialFile } from '../../../util/files/specialFile.js';

/**
 * Number of headers per read (`PIECE`) and maximum number of cached reads (`MAX_PIECES`). Arbitrary: bounds the memory to
 * 3.5 MiB.
 */
const PIECE = 256;
const MAX_PIECES = 128;
/** Number of headers at the end of the file that are checked when it is opened. Larger than one write. Arbitrary. */
const CHECKED_TAIL = 16_384;

/** Number of headers per read when the whole file is scanned. Arbitrary. */
const SPAN = 2048;

const PREV_HASH = { start: 4, end: 36 } as const;

const readAsync = promisify(read);

export class HeaderFile {
  readonly #path: string;
  readonly #file: number;
  readonly #pieces = new Map<number, Buffer>();
  /**
   * Height from which headers were removed when the file was opened, because they did not link to their predecessors; null
   * if none were.
   */
  readonly cutAt: number | null;
  #count: number;

  /**
   * Opens the file and writes `genesis` as the first header if it is missing. Throws `EnvironmentError` if the file cannot
   * be opened.
   */
  constructor(path: string, genesis: Buffer) {
    this.#path = path;
    this.#file = onFile(path, () => {
      makeFolder(dirname(path));
      refuseSpecialFile(path);
      return openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    });
    this.#count = Math.floor(fstatSync(this.#file).size / HEADER_SIZE_BYTES);
    const isOther = this.#count > 0 && !this.at(0).equals(genesis);
    if (this.#count === 0 || isOther) this.replaceFrom(0, genesis);
    const broken = this.#repair();
    this.cutAt = isOther ? 0 : broken;
  }

  #repair(): number | null {
    const first = Math.max(1, this.#count - CHECKED_TAIL);
    for (let height = first; height < this.#count; height++) {
      const prev = this.at(height).subarray(PREV_HASH.start, PREV_HASH.end);
      if (prev.equals(headerHash(this.at(height - 1)))) continue;
      this.cutFrom(height);
      return height;
    }
    ftruncateSync(this.#file, this.#count * HEADER_SIZE_BYTES);
    return null;
  }

  /**
   * Scans the whole file. Returns the height of the first header that does not link to its predecessor, or null.
   */
  async firstBreak(): Promise<number | null> {
    this.#pieces.clear();
    let prevHash: Buffer | null = null;
    let since = performance.now();
    for (let first = 0; first < this.#count; first += SPAN) {
      const bytes = Buffer.alloc(Math.min(SPAN, this.#count - first) * HEADER_SIZE_BYTES);
      await readAsync(this.#file, bytes, 0, bytes.length, first * HEADER_SIZE_BYTES);
      since = await yieldIfDue(since);
      for (let at = 0; at < bytes.length; at += HEADER_SIZE_BYTES) {
        const header = bytes.subarray(at, at + HEADER_SIZE_BYTES);
        if (prevHash !== null && !header.subarray(PREV_HASH.start, PREV_HASH.end).equals(prevHash))
          return first + at / HEADER_SIZE_BYTES;
        prevHash = headerHash(header);
        since = await yieldIfDue(since);
      }
    }
    return null;
  }

  get count(): number {
    return this.#count;
  }

  /** Returns the header at a height that the file contains. */
  at(height: number): Buffer {
    const piece = Math.floor(height / PIECE);
    const at = (height % PIECE) * HEADER_SIZE_BYTES;
    return this.#piece(piece).subarray(at, at + HEADER_SIZE_BYTES);
  }

  #piece(number: number): Buffer {
    const known = this.#pieces.get(number);
    if (known) {
      this.#pieces.delete(number);
      this.#pieces.set(number, known);
      return known;
    }
    const size = Math.min(PIECE, this.#count - number * PIECE) * HEADER_SIZE_BYTES;
    const bytes = Buffer.alloc(size);
    readSync(this.#file, bytes, 0, size, number * PIECE * HEADER_SIZE_BYTES);
    this.#pieces.set(number, bytes);
    if (this.#pieces.size > MAX_PIECES) this.#pieces.delete(this.#pieces.keys().next().value!);
    return bytes;
  }

  #forgetFrom(height: number): void {
    const first = Math.floor(height / PIECE);
    for (const number of this.#pieces.keys()) if (number >= first) this.#pieces.delete(number);
  }

  /** Removes the header at a height and all headers above it. */
  cutFrom(height: number): void {
    ftruncateSync(this.#file, height * HEADER_SIZE_BYTES);
    this.#count = height;
    this.#forgetFrom(Math.max(0, height - 1));
  }

  /** Writes headers from a height on. Existing headers from that height on are replaced. Throws `EnvironmentError`. */
  replaceFrom(height: number, headers: Buffer): void {
    if (height < this.#count) this.cutFrom(height);
    onFile(this.#path, () => {
      // A write to a nearly full disk may be partial, so writing continues until all bytes are written.
      for (let at = 0; at < headers.length;)
        at += writeSync(this.#file, headers, at, headers.length - at, height * HEADER_SIZE_BYTES + at);
    });
    this.#count = height + headers.length / HEADER_SIZE_BYTES;
    this.#forgetFrom(height);
  }

  close(): void {
    closeSync(this.#file);
  }
}
