/**
 * Reads the log of a Berkeley DB environment (`log.0000000001` and so on), as DB 4.8 to 5.3 write it on little-endian
 * machines. Finds the records of committed transactions. Does not interpret their changes. Source: Oracle
 * Berkeley DB, dbinc/log.h, txn/txn.src, dbreg/dbreg.src.
 */
import type { Slices } from '../../util/slices.js';
import { BerkeleyDbError } from './berkeleyDb.js';

/** A log sequence number (LSN): the number of a log file, and an offset in that file. */
export interface Lsn {
  readonly file: number;
  readonly offset: number;
}

/** Compares two LSNs: negative if `a` is before `b`, zero if they are equal, else positive. */
export const compareLsn = (a: Lsn, b: Lsn): number => a.file - b.file || a.offset - b.offset;

/** Whether the LSN (log sequence number) of a page means that no log contains its changes. */
export const isNotLogged = ({ file }: Lsn): boolean => file === 0;

export interface BerkeleyLogRecord {
  readonly lsn: Lsn;
  readonly type: number;
  /** Version of the log format. */
  readonly version: number;
  /** 0 for none. */
  readonly transaction: number;
  /** Data of the record. Its format depends on the record type. */
  readonly fields: Fields;
}

export interface LogFile {
  readonly number: number;
  readonly bytes: Buffer;
}

const MAGIC = 0x040988;
/** Supported versions of the log format: from that of DB 4.8 to that of DB 5.3. */
const VERSIONS = { least: 16, most: 19 } as const;
const HEAD_BYTES = 12;
/**
 * Size in bytes of the fields at the start of each record: type, transaction number, and the LSN of the previous record of
 * the transaction.
 */
const PREFIX_BYTES = 16;

export const RECORD = {
  register: 2,
  regop: 10,
  checkpoint: 11,
  child: 12,
  recycle: 14,
} as const;
const COMMIT = 1;
/** Number of records that are processed between two yields to the event loop. */
const RECORDS_A_SLICE = 64;

/** Reads the fields of a record in order. Reading past the end throws `BerkeleyDbError`. */
export class Fields {
  private readonly bytes: Buffer;
  private at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** Returns a further reader that begins at the first field. */
  again(): Fields {
    return new Fields(this.bytes);
  }

  private take(length: number): number {
    const { at } = this;
    if (length > this.bytes.length - at) throw new BerkeleyDbError('A record of the log is truncated');
    this.at += length;
    return at;
  }

  u32(): number {
    return this.bytes.readUInt32LE(this.take(4));
  }

  lsn(): Lsn {
    return { file: this.u32(), offset: this.u32() };
  }

  /** Reads bytes that are preceded by their length. The result is a view. */
  data(): Buffer {
    const length = this.u32();
    const at = this.take(length);
    return this.bytes.subarray(at, at + length);
  }
}

/** Checksum of a log record. Source: `__ham_func4`, `__db_chksum`. */
function checksum(data: Buffer, previous: number, length: number): number {
  let sum = 0;
  for (const byte of data) sum = (Math.imul(sum, 33) + byte) | 0;
  return (sum ^ previous ^ length) >>> 0;
}

/** Iterates over the records of log files in order. Ends with the last complete record. */
export function* readRecords(files: readonly LogFile[]): Generator<BerkeleyLogRecord> {
  const sorted = [...files].sort((a, b) => a.number - b.number);
  for (const [index, { number, bytes }] of sorted.entries()) {
    if (index > 0 && number !== sorted[index - 1]!.number + 1)
      throw new BerkeleyDbError(`The log has no file number ${number - 1}`);
    yield* recordsOf(number, bytes);
  }
}

function* recordsOf(file: number, bytes: Buffer): Generator<BerkeleyLogRecord> {
  let version = 0;
  for (let offset = 0; offset + HEAD_BYTES <= bytes.length;) {
    const previous = bytes.readUInt32LE(offset);
    const length = bytes.readUInt32LE(offset + 4);
    if (length < HEAD_BYTES || offset + length > bytes.length) return;
    const data = bytes.subarray(offset + HEAD_BYTES, offset + length);
    if (checksum(data, previous, length) !== bytes.readUInt32LE(offset + 8)) return;
    if (offset === 0) {
      version = versionOf(data);
    } else if (data.length >= PREFIX_BYTES) {
      yield {
        lsn: { file, offset },
        type: data.readUInt32LE(0),
        version,
        transaction: data.readUInt32LE(4),
        fields: new Fields(data.subarray(PREFIX_BYTES)),
      };
    }
    offset += length;
  }
}

function versionOf(data: Buffer): number {
  const fields = new Fields(data);
  if (fields.u32() !== MAGIC) throw new BerkeleyDbError('The log is not that of a little-endian Berkeley DB');
  const version = fields.u32();
  if (version < VERSIONS.least || version > VERSIONS.most)
    throw new BerkeleyDbError(`The log has version ${version} of its format`);
  return version;
}

export interface Changes {
  /** Records of the transactions that were committed after the last checkpoint. */
  readonly committed: readonly BerkeleyLogRecord[];
  /** Records of unfinished transactions. Their changes must be undone. */
  readonly unfinished: readonly BerkeleyLogRecord[];
  /** LSN of the first change that may be missing in the database file. */
  readonly start: Lsn;
}

/** The log records that concern one database file. The file is identified by its unique id. */
export function* changesOfFile(files: readonly LogFile[], fileId: Buffer, from?: Lsn): Slices<Changes> {
  const records: BerkeleyLogRecord[] = [];
  for (const record of readRecords(files)) {
    records.push(record);
    if (records.length % RECORDS_A_SLICE === 0) yield;
  }
  let start = from ?? { file: 0, offset: 0 };
  for (const { type, fields } of records)
    if (type === RECORD.checkpoint && from === undefined) start = fields.again().lsn();
  const ended = committedOnes(records);
  /** File numbers that the log uses for the database file at this point. */
  const names = new Set<number>();
  const committed: BerkeleyLogRecord[] = [];
  const unfinished: BerkeleyLogRecord[] = [];
  for (const [index, record] of records.entries()) {
    if (record.type === RECORD.register) {
      noteName(names, record, fileId);
      continue;
    }
    if (!(record.type in FILE_ID_AT) || compareLsn(record.lsn, start) < 0) continue;
    if (!names.has(fileNumberOf(record))) continue;
    if (record.transaction === 0 || ended.has(index)) committed.push(record);
    else unfinished.push(record);
  }
  return { committed, unfinished, start };
}

/**
 * Positions of the records that belong to committed transactions. Transaction numbers are reused after a restart of the
 * database.
 */
function committedOnes(records: readonly BerkeleyLogRecord[]): Set<number> {
  const open = new Map<number, number[]>();
  const ended = new Set<number>();
  for (const [index, { type, transaction, fields }] of records.entries()) {
    if (type === RECORD.regop) {
      if (fields.again().u32() === COMMIT) for (const one of open.get(transaction) ?? []) ended.add(one);
      open.delete(transaction);
    } else if (type === RECORD.child) {
      const child = fields.again().u32();
      open.set(transaction, [...(open.get(transaction) ?? []), ...(open.get(child) ?? [])]);
      open.delete(child);
    } else if (type === RECORD.recycle) {
      open.clear();
    } else if (transaction !== 0) {
      const known = open.get(transaction);
      if (known === undefined) open.set(transaction, [index]);
      else known.push(index);
    }
  }
  return ended;
}

function noteName(names: Set<number>, { fields }: BerkeleyLogRecord, fileId: Buffer): void {
  fields.u32();
  fields.data();
  const id = fields.data();
  const number = fields.u32();
  if (id.equals(fileId)) names.add(number);
  else names.delete(number);
}

/**
 * Types of records that change pages. The value is the number of fields before the file number. Source: `db.src`,
 * `btree.src`.
 */
const FILE_ID_AT: Readonly<Record<number, 0 | 1>> = {
  36: 0, // realloc
  41: 1, // addrem
  43: 1, // big
  44: 0, // ovref
  48: 0, // noop
  49: 0, // pg_alloc
  50: 0, // pg_free
  52: 0, // pg_freedata
  55: 0, // adj
  56: 0, // cadjust
  57: 0, // cdel
  58: 0, // repl
  59: 0, // root
  60: 0, // pg_init
  61: 0, // pg_sort
  62: 0, // split
  63: 0, // rsplit
  66: 0, // pg_trunc
  67: 0, // irep
  142: 0, // metasub
  147: 0, // relink
  148: 0, // merge
  149: 0, // pgno
};

function fileNumberOf(record: BerkeleyLogRecord): number {
  const fields = record.fields.again();
  if (FILE_ID_AT[record.type] === 1) fields.u32();
  return fields.u32();
}
