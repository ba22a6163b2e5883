/**
 * The only place where LevelDB databases are made: how the process reads table files, and holds memory, must be settled
 * before the first of them is opened. Owns the limits of open files; knows no rows.
 */
import { ClassicLevel } from 'classic-level';
import { loadNative } from '../native/binding.js';

/** A table file is full from here on. */
const FILE_BYTES = 4 << 20;
/**
 * Table files that LevelDB keeps open, each with its index and filter (some 100 KiB). Opening one again costs some 50 µs,
 * and forgets what was cached of it.
 */
const OPEN_FILES = 1000 + 10;
/**
 * The same where LevelDB maps the files that it has open into memory, and what was read of them counts as the process's
 * own: so many of this size bound it to 384 MiB, however large the database.
 */
const OPEN_MAPPED_FILES = 96 + 10;

export type LevelDb = ClassicLevel<Buffer, Buffer>;

export interface LevelDbOptions {
  /** LevelDB's cache of blocks out of table files. */
  readonly cacheBytes: number;
  /** What is written goes into a table file from here on. */
  readonly writeBufferBytes: number;
}

/** A database that is not open yet. */
export function makeLevelDb(path: string, { cacheBytes, writeBufferBytes }: LevelDbOptions): LevelDb {
  const native = loadNative();
  native?.returnFreedMemory();
  const isUnmapped = native?.unmapDatabaseFiles() ?? false;
  return new ClassicLevel<Buffer, Buffer>(path, {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    cacheSize: cacheBytes,
    writeBufferSize: writeBufferBytes,
    maxFileSize: FILE_BYTES,
    maxOpenFiles: isUnmapped ? OPEN_FILES : OPEN_MAPPED_FILES,
  });
}
