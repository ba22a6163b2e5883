/**
 * Checksums of all pages of the SQLite index, in a file beside it (`-sums`). SQLite detects corruption of its own structures
 * only when it reads them, and never detects corruption of row content. The checksums detect both: at each start before any
 * search, and periodically while the node runs. They describe the database after a noted frame of the write-ahead log
 * (`-wal`), and are synced before SQLite copies the log to the file (checkpoint). After a kill, each page is therefore
 * either in the log, whose frames have their own checksums, or has a valid checksum. Pages in the log are not checked; only
 * their checksums can be incomplete. A log that ends before the noted frame is corrupt, because later frames may have been
 * copied. A bit flip in the checksums makes a page look corrupt, never the reverse.
 */
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { crc32c } from '../../crypto/crc32c.js';
import { environmentError, onFile } from '../../util/text/environmentError.js';
import { logBytes, readLog, readLogSalts, type LogContents, type LogPosition } from './walFrames.js';
import { SearchError } from '../query/searchError.js';

/** Size of a database page in bytes. */
export const PAGE_BYTES = 8192;
/** Number of pages read in one call: 1 MiB. */
const PAGES_A_READ = 128;
/** Number of new frames in the log after which the log is checkpointed. Source: SQLite's default of `wal_autocheckpoint`. */
const LOG_FRAMES = 1000;

/**
 * Size of the file's header in 32-bit words: magic, number of pages, two salts and the frame count of the log at the last
 * write, and a checksum of these.
 */
const HEADER_WORDS = 8;
/** Magic number, written in the byte order of the machine. On a machine with another byte order the file is therefore invalid. */
const MAGIC = 0x6c62_7301;
/**
 * Size in bytes of the blocks in which checksums are written. The first block holds the header, so it is also the offset of
 * the checksums. Arbitrary: the usual sector size.
 */
const BLOCK_BYTES = 4096;
const BLOCK_SUMS = BLOCK_BYTES / 4;

/**
 * Checksum of a page that SQLite counts but never writes: the page for file locks after the first GiB, which is a hole in
 * the file.
 */
const HOLE_SUM = crc32c(Buffer.alloc(PAGE_BYTES));

/** Returns the path of the checksum file of an index file. */
export const sumsOf = (path: string): string => `${path}-sums`;

/** Error: the index file differs from the data that was written. */
export class IndexCorruption extends Error {}

/** Shared memory by which another thread requests closing. A running check ends when the flag is set. */
export type ClosingFlag = Int32Array;

export class IndexSums {
  private readonly path: string;
  /**
   * Descriptors of the database file and of the checksum file. The database file stays open as long as SQLite has it open,
   * because closing a descriptor would release the file locks of this process.
   */
  private readonly database: number;
  private readonly file: number;
  private sums: Uint32Array;
  private pages: number;
  private noted: LogPosition;
  /** Pages whose frames in the log may not have been copied to the file yet. */
  private uncopied: ReadonlyMap<number, unknown> = new Map();
  /** Number of pages that were checked in the current round of periodic checks. */
  private scrubbed = 0;
  private readonly piece = Buffer.allocUnsafeSlow(PAGES_A_READ * PAGE_BYTES);

  private constructor(
    path: string,
    database: number,
    file: number,
    sums: Uint32Array,
    pages: number,
    noted: LogPosition,
  ) {
    this.path = path;
    this.database = database;
    this.file = file;
    this.sums = sums;
    this.pages = pages;
    this.noted = noted;
  }

  /** Creates the checksums of a file that SQLite has just created. Its first pages are written without the log. */
  static create(path: string): IndexSums {
    const { database, file } = openBoth(path, 'w+');
    const pages = Math.floor(fstatSync(database).size / PAGE_BYTES);
    const sums = new IndexSums(path, database, file, new Uint32Array(pages), pages, NO_LOG);
    const made: number[] = [];
    try {
      sums.visit(1, pages, (page, sum) => {
        if (sum === null) throw new IndexCorruption(`its page ${page} cannot be read`);
        sums.sums[page - 1] = sum;
        made.push(page);
      });
      sums.write(made, pages, NO_LOG);
    } catch (error) {
      sums.close();
      throw error;
    }
    return sums;
  }

  /**
   * Opens the checksums of a file that SQLite has not opened yet, and checks all pages. Throws `IndexCorruption`,
   * `EnvironmentError` for a file error, or `SearchError` if closing is requested during the check.
   */
  static open(path: string, closing?: ClosingFlag): IndexSums {
    if (statSync(sumsOf(path), { throwIfNoEntry: false }) === undefined)
      throw new IndexCorruption('it has no checksums');
    const bytes = onFile(sumsOf(path), () => readFileSync(sumsOf(path)));
    const words = new Uint32Array(Math.max(HEADER_WORDS, bytes.length >> 2));
    bytes.copy(Buffer.from(words.buffer));
    const [magic, pages, salt1, salt2, frames] = words as unknown as [number, number, number, number, number];
    const isHeader = magic === MAGIC && words[HEADER_WORDS - 1] === headerSum(words);
    const all = words.slice(BLOCK_SUMS);
    if (!isHeader || all.length < pages) throw new IndexCorruption('its checksums are corrupt');
    const { database, file } = openBoth(path, 'r+');
    const sums = new IndexSums(path, database, file, all, pages, { salt1, salt2, frames });
    try {
      sums.checkAll(closing);
    } catch (error) {
      sums.close();
      throw error;
    }
    return sums;
  }

  /** Whether the write-ahead log has grown so much that a checkpoint is due. */
  get isDue(): boolean {
    const size = statSync(`${this.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (size < logBytes(LOG_FRAMES, PAGE_BYTES)) return false;
    const salts = readLogSalts(`${this.path}-wal`, PAGE_BYTES);
    const known = isSameLog(salts, this.noted) ? this.noted.frames : 0;
    return size >= logBytes(known + LOG_FRAMES, PAGE_BYTES);
  }

  /**
   * Updates the checksums from the log. Must be called before each checkpoint, only in the writer thread. Pages in the file
   * are checked before they are replaced, because a new version may have been derived from a corrupt page. Returns the
   * number of frames in the log. Throws `IndexCorruption`.
   */
  note(): number {
    return this.noteLog(readLog(`${this.path}-wal`, PAGE_BYTES));
  }

  private noteLog(log: LogContents): number {
    if (log.frames === 0) return 0;
    const known = isSameLog(log, this.noted) ? this.noted.frames : 0;
    if (log.frames < known) throw new IndexCorruption('its write-ahead log is corrupt');
    if (log.frames > known) this.take(log, known);
    this.uncopied = log.pages;
    return log.frames;
  }

  /**
   * Must be called after a checkpoint. `frames` is the number of frames in the log and `copied` the number of frames copied
   * to the file, as SQLite returns them; `expected` is the number of frames that were read from the log.
   */
  copied(frames: number, expected: number, copied: number): void {
    if (frames < 0) return;
    if (frames !== expected) throw new IndexCorruption('its write-ahead log is corrupt');
    if (copied === frames) this.uncopied = new Map();
  }

  /** Checks the next `pages` pages of the file. After the last page it continues with the first. Throws `IndexCorruption`. */
  scrub(pages: number): void {
    if (this.scrubbed >= this.pages) this.scrubbed = 0;
    const last = Math.min(this.pages, this.scrubbed + pages);
    const from = this.scrubbed + 1;
    this.scrubbed = last;
    this.check(from, last, this.uncopied);
  }

  /** Closes the files. Must be called after the database was closed. */
  close(): void {
    closeSync(this.database);
    closeSync(this.file);
  }

  private take(log: LogContents, known: number): void {
    const { sums, pages } = this;
    const logged = [...log.pages.keys()].sort((a, b) => a - b);
    const replaced = logged.filter((page) => {
      const { first, sum } = log.pages.get(page)!;
      // A page whose checksum is already that of the new version is not checked. A kill may have occurred after the page
      // was checked, between the write of its checksum and the write of the header.
      return page <= pages && first > known && sums[page - 1] !== sum;
    });
    for (const [from, to] of runsOf(replaced)) this.check(from, to);
    if (log.databasePages > sums.length) {
      this.sums = new Uint32Array(Math.max(log.databasePages, 2 * sums.length));
      this.sums.set(sums);
    }
    const changed = logged.filter((page) => page <= log.databasePages);
    for (let page = pages + 1; page <= log.databasePages; page++)
      if (!log.pages.has(page)) changed.push(page);
    const former = changed.map((page) => this.sums[page - 1]!);
    for (const page of changed) this.sums[page - 1] = log.pages.get(page)?.sum ?? HOLE_SUM;
    try {
      this.write(changed, log.databasePages, log);
    } catch (error) {
      // The disk is full. The checksums in memory are restored, so that no checkpoint is made and the next attempt starts
      // from the current file.
      changed.forEach((page, n) => (this.sums[page - 1] = former[n]!));
      throw error;
    }
    this.pages = log.databasePages;
    this.noted = { salt1: log.salt1, salt2: log.salt2, frames: log.frames };
  }

  /** Writes the checksums of the changed pages and the header, and syncs the file. */
  private write(changed: readonly number[], pages: number, noted: LogPosition): void {
    const { sums, file } = this;
    const bytes = Buffer.from(sums.buffer);
    for (const block of new Set(changed.map((page) => Math.floor((page - 1) / BLOCK_SUMS)))) {
      const from = block * BLOCK_BYTES;
      const to = Math.min(from + BLOCK_BYTES, 4 * pages);
      writeWhole(file, bytes.subarray(from, to), BLOCK_BYTES + from);
    }
    const header = new Uint32Array(HEADER_WORDS);
    header.set([MAGIC, pages, noted.salt1, noted.salt2, noted.frames]);
    header[HEADER_WORDS - 1] = headerSum(header);
    writeWhole(file, Buffer.from(header.buffer), 0);
    fdatasyncSync(file);
  }

  private checkAll(closing: ClosingFlag | undefined): void {
    const log = readLog(`${this.path}-wal`, PAGE_BYTES);
    if (isSameLog(log, this.noted) && log.frames < this.noted.frames)
      throw new IndexCorruption('its write-ahead log is corrupt');
    this.check(1, this.pages, log.pages, () => {
      if (closing !== undefined && Atomics.load(closing, 0) !== 0)
        throw new SearchError('unavailable', 'The search index is closed');
    });
    this.noteLog(log);
  }

  /** Checks a range of pages, except the pages in the log. */
  private check(
    from: number,
    to: number,
    excepted: ReadonlyMap<number, unknown> = new Map(),
    beforeRead?: () => void,
  ): void {
    this.visit(
      from,
      to,
      (page, sum) => {
        if (sum !== this.sums[page - 1] && !excepted.has(page))
          throw new IndexCorruption(`its page ${page} does not match its checksum`);
      },
      beforeRead,
    );
  }

  /** Calls a function with the checksum of each page of a range in the file; null for an unreadable page. */
  private visit(
    from: number,
    to: number,
    visitor: (page: number, sum: number | null) => void,
    beforeRead?: () => void,
  ): void {
    const { piece } = this;
    for (let first = from; first <= to; first += PAGES_A_READ) {
      beforeRead?.();
      const count = Math.min(PAGES_A_READ, to - first + 1);
      const read = this.read(count * PAGE_BYTES, (first - 1) * PAGE_BYTES);
      for (let n = 0; n < count; n++) {
        const at = n * PAGE_BYTES;
        const end = at + PAGE_BYTES;
        visitor(first + n, end <= read ? crc32c(piece.subarray(at, end)) : null);
      }
    }
  }

  /** Reads bytes of the file. Returns the number of bytes read; data that the disk cannot read counts as missing. */
  private read(bytes: number, position: number): number {
    let done = 0;
    try {
      while (done < bytes) {
        const read = readSync(this.database, this.piece, done, bytes - done, position + done);
        if (read === 0) break;
        done += read;
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EIO') throw environmentError(error, this.path);
    }
    return done;
  }
}

const NO_LOG: LogPosition = { salt1: 0, salt2: 0, frames: 0 };

function openBoth(path: string, flags: string): { readonly database: number; readonly file: number } {
  const file = onFile(sumsOf(path), () => openSync(sumsOf(path), flags));
  try {
    return { database: onFile(path, () => openSync(path, 'r')), file };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function headerSum(words: Uint32Array): number {
  return crc32c(new Uint8Array(words.buffer, words.byteOffset, 4 * (HEADER_WORDS - 1)));
}

function isSameLog(log: Omit<LogPosition, 'frames'> | null, other: LogPosition): boolean {
  return log !== null && log.salt1 === other.salt1 && log.salt2 === other.salt2;
}

/** Combines sorted numbers to inclusive ranges of consecutive numbers. */
function runsOf(numbers: readonly number[]): (readonly [from: number, to: number])[] {
  const runs: [number, number][] = [];
  for (const n of numbers) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === n - 1) last[1] = n;
    else runs.push([n, n]);
  }
  return runs;
}

function writeWhole(file: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length;)
    done += writeSync(file, bytes, done, bytes.length - done, position + done);
}
