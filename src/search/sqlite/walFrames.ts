/**
 * Reads the write-ahead log (`-wal`) of an SQLite database as SQLite does after a kill: all frames up to the last commit
 * before the first invalid frame. The log file is not locked, so it may be opened and closed while SQLite uses it. The
 * database file must not be closed, because that would release the file locks of the process. Source:
 * https://www.sqlite.org/fileformat2.html#the_write_ahead_log.
 */
import { closeSync, fdatasyncSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';
import { crc32c } from '../../crypto/crc32c.js';
import { onFile } from '../../util/text/environmentError.js';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Magic number of a log. Its last bit is the byte order of the checksums. */
const MAGIC = 0x377f0682;
const VERSION = 3007000;
/** Number of frames that are read in one call: about 1 MiB. */
const FRAMES_A_READ = 128;

/** A write-ahead log and a position in it. The salts identify the log; after a restart the log has other salts. */
export interface LogPosition {
  readonly salt1: number;
  readonly salt2: number;
  readonly frames: number;
}

export interface LoggedPage {
  /** Number of the first frame that contains this page, starting at 1. */
  readonly first: number;
  /** CRC-32C of the page in the last frame that contains it. */
  readonly sum: number;
}

export interface LogContents extends LogPosition {
  /** Pages in the log by page number. */
  readonly pages: ReadonlyMap<number, LoggedPage>;
  /** Number of database pages after the last commit; 0 if the log has no commit. */
  readonly databasePages: number;
}

const NOTHING: LogContents = { salt1: 0, salt2: 0, frames: 0, pages: new Map(), databasePages: 0 };

/** Returns the size in bytes of a log with this number of frames. */
export function logBytes(frames: number, pageBytes: number): number {
  return HEADER_BYTES + frames * (FRAME_HEADER_BYTES + pageBytes);
}

/** SQLite's running checksum of a log, in two words. */
class LogSum {
  first = 0;
  second = 0;

  /** Adds words to the checksum. Their number must be even. */
  add(words: Int32Array, from: number, to: number): void {
    let { first, second } = this;
    for (let at = from; at < to; at += 2) {
      first = (first + words[at]! + second) | 0;
      second = (second + words[at + 1]! + first) | 0;
    }
    this.first = first;
    this.second = second;
  }

  isAt(bytes: Buffer, at: number): boolean {
    return bytes.readInt32BE(at) === this.first && bytes.readInt32BE(at + 4) === this.second;
  }
}

/** Runs a task on the open log file. Returns null if the file does not exist. Throws `EnvironmentError` for a file error. */
function withLog<T>(path: string, task: (file: number) => T): T | null {
  return onFile(path, () => {
    const file = openLog(path);
    if (file === null) return null;
    try {
      return task(file);
    } finally {
      closeSync(file);
    }
  });
}

function openLog(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Reads the header of a log, and the checksum with which its frames continue. Null if SQLite would treat the log as empty. */
function readHeader(
  file: number,
  pageBytes: number,
): { readonly salt1: number; readonly salt2: number; readonly sum: LogSum } | null {
  const bytes = Buffer.from(new ArrayBuffer(HEADER_BYTES));
  if (readSync(file, bytes, 0, HEADER_BYTES, 0) < HEADER_BYTES) return null;
  const magic = MAGIC + (endianness() === 'BE' ? 1 : 0);
  if (bytes.readUInt32BE(0) !== magic || bytes.readUInt32BE(4) !== VERSION) return null;
  const sum = new LogSum();
  sum.add(new Int32Array(bytes.buffer), 0, 6);
  if (!sum.isAt(bytes, 24) || bytes.readUInt32BE(8) !== pageBytes) return null;
  return { salt1: bytes.readUInt32BE(16), salt2: bytes.readUInt32BE(20), sum };
}

/** Returns the salts of a log; null if the log is invalid. Throws `EnvironmentError` for a file error. */
export function readLogSalts(path: string, pageBytes: number): Omit<LogPosition, 'frames'> | null {
  return withLog(path, (file) => readHeader(file, pageBytes));
}

/** Reads and syncs a log. The log must not be written during the call. Throws `EnvironmentError` for a file error. */
export function readLog(path: string, pageBytes: number): LogContents {
  const contents = withLog(path, (file) => {
    const header = readHeader(file, pageBytes);
    if (header === null) return null;
    fdatasyncSync(file);
    return readFrames(file, pageBytes, header);
  });
  return contents ?? NOTHING;
}

function readFrames(
  file: number,
  pageBytes: number,
  { salt1, salt2, sum }: NonNullable<ReturnType<typeof readHeader>>,
): LogContents {
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  const bytes = Buffer.from(new ArrayBuffer(FRAMES_A_READ * frameBytes));
  const words = new Int32Array(bytes.buffer);
  const pages = new Map<number, LoggedPage>();
  /** Frames that follow the last commit: alternating page numbers and checksums. */
  let waiting: number[] = [];
  let frames = 0;
  let databasePages = 0;
  let frame = 0;
  for (;;) {
    const read = readSync(file, bytes, 0, bytes.length, logBytes(frame, pageBytes));
    for (let at = 0; at + frameBytes <= read; at += frameBytes) {
      const page = bytes.readUInt32BE(at);
      const isOfLog = bytes.readUInt32BE(at + 8) === salt1 && bytes.readUInt32BE(at + 12) === salt2;
      sum.add(words, at >> 2, (at >> 2) + 2);
      sum.add(words, (at + FRAME_HEADER_BYTES) >> 2, (at + frameBytes) >> 2);
      if (page === 0 || !isOfLog || !sum.isAt(bytes, at + 16))
        return { salt1, salt2, frames, pages, databasePages };
      frame++;
      waiting.push(page, crc32c(bytes.subarray(at + FRAME_HEADER_BYTES, at + frameBytes)));
      const committedPages = bytes.readUInt32BE(at + 4);
      if (committedPages === 0) continue;
      for (let n = 0; n < waiting.length; n += 2) {
        const first = pages.get(waiting[n]!)?.first ?? frames + n / 2 + 1;
        pages.set(waiting[n]!, { first, sum: waiting[n + 1]! });
      }
      waiting = [];
      frames = frame;
      databasePages = committedPages;
    }
    if (read < bytes.length) return { salt1, salt2, frames, pages, databasePages };
  }
}
