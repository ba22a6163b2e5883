/** Types of the addon for rows in memory, the database and files. */

/**
 * Rows by key, in memory outside the JavaScript heap. The value `null` marks a deletion. Keys are strings of one code unit
 * per byte, or bytes. Records have the format of `store/leveldb/flushJournal.ts`.
 */
interface NativeKeyedRows {
  /** Number of bytes of memory that the rows use. */
  readonly sizeBytes: number;
  readonly count: number;
  /**
   * Copies the value to the offset `at` of `target` if it fits. Returns its length; -1 if the key is unknown, -2 for a deletion.
   */
  read(key: Uint8Array | string, target: Uint8Array, at: number): number;
  set(key: Uint8Array | string, value: Uint8Array | null): void;
  clear(): void;
}

/** A cache of rows with a size limit, which is an integer greater than 0. `sizeBytes` is at most the limit or 4096. */
export interface NativeCachedRows extends NativeKeyedRows {
  /** Sets the rows in `records` whose keys start with the byte `kind`. */
  setRecords(kind: number, records: Uint8Array): void;
  /** Changes the size limit, and evicts rows if the cache exceeds it. */
  resize(maxBytes: number): void;
}

/** A table of rows without a size limit. */
export interface NativeRows extends NativeKeyedRows {
  /** Sets all rows in `records` (in the format of `walk`). */
  addRecords(records: Uint8Array): void;
  /**
   * Looks up the keys of `records`. Result: `u32 number of unknown keys ‖ packed values`, with 0xfffffffe in place of the
   * length for an unknown key; see `store/rows/rowRecords.ts`.
   */
  readRecords(records: Uint8Array): Buffer;
  /** See `Memtable.declareNew`. Every character is a row type. */
  declareNew(kinds: string): void;
  /**
   * Starts an iteration over all rows in the order of their keys. The table must not change until the iteration ends.
   */
  beginWalk(): void;
  /**
   * Writes the next records of the iteration to `target`. Returns the number of bytes; 0 at the end; -n if the next record
   * needs n bytes.
   */
  walk(target: Uint8Array): number;
  /**
   * Records with keys from `gte` (inclusive) to `lt` (exclusive), ascending; undefined if there are none. Only the first
   * records with `maxRows` values, or the last ones if `reverse`; deletions do not count.
   */
  range(
    gte: Uint8Array | string,
    lt: Uint8Array | string,
    reverse: boolean,
    maxRows: number,
  ): Buffer | undefined;
  /** Number of changes so far, i.e. of calls of `beginChange`. */
  readonly changes: number;
  /** Number by which other threads attach to the table (`RowView`). */
  share(): number;
  /**
   * Starts a change. Other threads see either all or none of the modifications until `endChange`, which must be called in
   * the same turn of the event loop.
   */
  beginChange(): void;
  endChange(): void;
}

/**
 * Rows for reading in another thread: the rows of a table take precedence over those of a database. Table and database are
 * given by their numbers.
 */
export interface NativeRowView {
  /** Number of changes of the table (`NativeRows`). It is incremented before readers can see any part of a change. */
  readonly changes: number;
  /** Packed values of all keys. Throws an error with the code LEVEL_DATABASE_NOT_OPEN if the database is closed. */
  getMany(keys: readonly string[]): Buffer;
  /**
   * Rows of a range: size of the table's records (u32, little endian) ‖ these records as `NativeRows.range` returns them ‖
   * the output of the database's `rangeNow`, with as many additional rows as the table may hide.
   */
  range(gte: string, lt: string, reverse: boolean, maxRows: number): Buffer;
}

export interface NativeDatabaseOptions {
  /** Size in bytes of LevelDB's cache for blocks of table files. */
  cacheBytes: number;
  /** Number of written bytes that are collected in memory before LevelDB writes them to a table file. */
  writeBufferBytes: number;
  /** Maximum size of a table file in bytes. */
  fileBytes: number;
  /** Maximum number of table files that are kept open. */
  openFiles: number;
  /** First characters of the keys of rows that are read by ranges only. The tables have no bloom filters for them. */
  rangeKinds: string;
}

/**
 * A LevelDB database. Every read verifies checksums; a failed check throws, or rejects with, an error whose `code` is
 * LEVEL_CORRUPTION. Keys are strings with one code unit per byte. When `close` is called, no operation may be pending and no
 * walk may be open. "Packed values" have the format `u32 length ‖ value` for each key, with the length 0xffffffff for a
 * missing row. Records have the format of `store/rows/rowRecords.ts`. All numbers are little endian.
 */
export interface NativeDatabase {
  open(): Promise<void>;
  /** Closes the database, after reads by other threads have ended. */
  close(): Promise<void>;
  /** Number by which other threads attach to the database (`NativeRowView`). It stays valid if the database is reopened. */
  share(): number;
  /** LevelDB's sequence number of the newest put or delete. */
  readonly sequence: number;
  /**
   * Reads the rows of `keys` in order and writes their packed values to `target`. It stops after a key whose read took
   * `slowMicros`, or when `budgetMicros` have passed. Returns the number of written bytes, or -n if the n needed bytes do
   * not fit.
   */
  getNow(
    keys: readonly string[],
    fillCache: boolean,
    slowMicros: number,
    budgetMicros: number,
    target: Uint8Array,
  ): number;
  /** Packed values of all keys, read on another thread. */
  getMany(keys: readonly string[], fillCache: boolean): Promise<Buffer>;
  /**
   * Packed values of those keys in `records` that `NativeRows.readRecords` left unknown in its result `known`. They are read
   * on another thread. Both arguments must not change before the promise settles.
   */
  getUnknown(records: Uint8Array, known: Uint8Array, fillCache: boolean): Promise<Buffer>;
  /**
   * Like `getUnknown`, but on the calling thread. Returns undefined if it stops before the last key, as `getNow` does.
   */
  getUnknownNow(
    records: Uint8Array,
    known: Uint8Array,
    fillCache: boolean,
    slowMicros: number,
    budgetMicros: number,
  ): Buffer | undefined;
  /**
   * Reads a range and writes to `target`: one byte, which is 1 if the range was read completely ‖ records. Returns the
   * number of bytes, like `getNow`.
   */
  rangeNow(
    gte: string,
    lt: string,
    reverse: boolean,
    maxRows: number,
    budgetMicros: number,
    target: Uint8Array,
  ): number;
  /** Writes the records of all pieces as one atomic batch; the pieces must not change before the promise settles. */
  write(pieces: readonly Uint8Array[], synced: boolean): Promise<void>;
  deleteRange(gte: string, lt: string): Promise<void>;
  compact(gte: string, lt: string): Promise<void>;
  approximateSize(gte: string, lt: string): Promise<number>;
  /** Value of a LevelDB property (`GetProperty`); empty for an unknown name. */
  property(name: string): string;
}

/**
 * An iteration over the rows of a range, in their state at its creation. `close` must be called when no call is pending.
 */
export interface NativeDatabaseWalk {
  /**
   * Next rows, in the format of `rangeNow`. Their number is limited by `maxRows`, their size by `maxBytes`. Only one call
   * may be pending.
   */
  next(maxRows: number, maxBytes: number): Promise<Buffer>;
  close(): void;
}

/** SHA-384 of a file that is read in order. */
export interface NativeFileDigest {
  /**
   * On another thread, fills the pieces (one to four) one after the other from a position of the open file, and adds the bytes
   * to the hash. Resolves to the number of bytes, which is smaller at the end of the file, or to a negative error number of
   * the system. The file must stay open, and the pieces must not be used, before the promise settles. Throws if an earlier
   * read has not ended.
   */
  read(file: number, position: number, pieces: readonly Uint8Array[]): Promise<number>;
  /** Returns the SHA-384 of all bytes. Must be called once, when no read is running. */
  end(): Buffer;
}
