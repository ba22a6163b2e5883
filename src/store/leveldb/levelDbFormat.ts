/**
 * Parses LevelDB's files: records of logs and manifests, the content of a manifest, and blocks of a table. The functions
 * parse buffers and open no files. Source: LevelDB doc/log_format, doc/impl, doc/table_format; log_reader, version_edit,
 * format.
 */
import { crc32c, maskCrc } from '../../crypto/crc32c.js';

/**
 * Size of a log block in bytes. A record fragment does not extend beyond its block. If fewer bytes than a record header
 * remain in a block, they are padding.
 */
export const LOG_BLOCK_BYTES = 32 << 10;
const LOG_HEAD_BYTES = 7;
const RECORD = { whole: 1, first: 2, middle: 3, last: 4 } as const;

/** Describes how and where the records of a log end. */
export interface LogEnd {
  /**
   * `whole`: after the last byte. `torn`: within a record that is cut off at the end of the file, for instance because the
   * process was killed during a write. `corrupt`: at bytes that an interrupted write cannot explain.
   */
  readonly kind: 'whole' | 'torn' | 'corrupt';
  /** Offset of the first broken record; if no record is broken, the size of the file. */
  readonly offset: number;
  /** Description of the error; empty if there is none. */
  readonly reason: string;
}

export interface LogRecord {
  readonly offset: number;
  readonly payload: Buffer;
}

/** Yields the complete records from the start of the log. Returns how and where they end. */
export function* logRecords(file: Buffer): Generator<LogRecord, LogEnd> {
  const fragments: Buffer[] = [];
  let start = 0;
  const end = (kind: LogEnd['kind'], at: number, reason = ''): LogEnd => ({
    kind,
    offset: fragments.length > 0 ? start : at,
    reason: reason === '' ? '' : `${reason} at byte ${at}`,
  });
  for (let at = 0; ;) {
    const room = LOG_BLOCK_BYTES - (at % LOG_BLOCK_BYTES);
    if (room < LOG_HEAD_BYTES) at += room;
    if (at >= file.length) return end(fragments.length > 0 ? 'torn' : 'whole', file.length);
    if (at + LOG_HEAD_BYTES > file.length) return end('torn', at);
    const length = file.readUInt16LE(at + 4);
    const type = file[at + 6]!;
    const next = at + LOG_HEAD_BYTES + length;
    if (isZero(file, at)) return end('torn', at);
    if (LOG_HEAD_BYTES + length > LOG_BLOCK_BYTES - (at % LOG_BLOCK_BYTES))
      return end('corrupt', at, 'a record of impossible length');
    if (next > file.length) return end('torn', at);
    if (maskCrc(crc32c(file.subarray(at + 6, next))) !== file.readUInt32LE(at))
      return end('corrupt', at, 'a checksum mismatch');
    const payload = file.subarray(at + LOG_HEAD_BYTES, next);
    const opens = type === RECORD.whole || type === RECORD.first;
    if (type < RECORD.whole || type > RECORD.last || opens !== (fragments.length === 0))
      return end('corrupt', at, 'a record out of place');
    if (opens) start = at;
    if (type === RECORD.whole) yield { offset: at, payload };
    else {
      fragments.push(payload);
      if (type === RECORD.last) yield { offset: start, payload: Buffer.concat(fragments.splice(0)) };
    }
    at = next;
  }
}

/**
 * Whether the file contains only zeros from offset `from` on. Such space was allocated, but its content was never written to
 * disk.
 */
function isZero(file: Buffer, from: number): boolean {
  if (file[from] !== 0 || file[from + LOG_HEAD_BYTES - 1] !== 0) return false;
  return file.subarray(from).every((byte) => byte === 0);
}

/** Parses the sequence number of a batch and its number of changes from a log record. Null if the record is too short. */
export function batchHead(payload: Buffer): { sequence: number; count: number } | null {
  if (payload.length < 12) return null;
  return { sequence: Number(payload.readBigUInt64LE(0)), count: payload.readUInt32LE(8) };
}

/** The state of the database that the records of a manifest describe. */
export interface Manifest {
  comparator: string;
  /** Number of the oldest needed log. The data of logs with lower numbers is already in tables. */
  logNumber: number;
  prevLogNumber: number;
  /** Number that the next new file gets. */
  nextFile: number;
  lastSequence: number;
  /** The tables that belong to the database, by file number. */
  tables: Map<number, TableEntry>;
}

/** A manifest's data about one table. */
interface TableEntry {
  /** Level of the table: 0 for a table written from a log; the level increases with each merge. */
  readonly level: number;
  readonly sizeBytes: number;
  readonly keys: TableKeyRange;
}

/**
 * First and last internal key of a table. An internal key ends with the sequence number of the put or delete, so two tables
 * never contain the same internal key.
 */
export interface TableKeyRange {
  readonly first: Buffer;
  readonly last: Buffer;
}

export function emptyManifest(): Manifest {
  return { comparator: '', logNumber: 0, prevLogNumber: 0, nextFile: 0, lastSequence: 0, tables: new Map() };
}

/** Tags of the fields in a manifest record. */
const TAG = {
  comparator: 1,
  logNumber: 2,
  nextFile: 3,
  lastSequence: 4,
  compactPointer: 5,
  deletedFile: 6,
  newFile: 7,
  prevLogNumber: 9,
} as const;

/** Applies a record of a manifest. Returns false if the record is invalid; the manifest may then be partly changed. */
export function applyEdit(manifest: Manifest, payload: Buffer): boolean {
  const reader = new VarintReader(payload);
  const { tables } = manifest;
  const deleted: number[] = [];
  const added: [number, TableEntry][] = [];
  while (!reader.atEnd) {
    switch (reader.varint()) {
      case TAG.comparator:
        manifest.comparator = reader.bytes().toString('latin1');
        break;
      case TAG.logNumber:
        manifest.logNumber = reader.varint();
        break;
      case TAG.nextFile:
        manifest.nextFile = reader.varint();
        break;
      case TAG.lastSequence:
        manifest.lastSequence = reader.varint();
        break;
      case TAG.compactPointer:
        reader.varint();
        reader.bytes();
        break;
      case TAG.deletedFile:
        reader.varint();
        deleted.push(reader.varint());
        break;
      case TAG.newFile: {
        const level = reader.varint();
        const number = reader.varint();
        const sizeBytes = reader.varint();
        added.push([number, { level, sizeBytes, keys: { first: reader.bytes(), last: reader.bytes() } }]);
        break;
      }
      case TAG.prevLogNumber:
        manifest.prevLogNumber = reader.varint();
        break;
      default:
        return false;
    }
    if (reader.failed) return false;
  }
  // The deletions are applied first, because a record that moves a file to another level both deletes and adds it.
  for (const number of deleted) tables.delete(number);
  for (const [number, table] of added) tables.set(number, table);
  return true;
}

/** Magic number at the end of every table. */
const TABLE_MAGIC = 0xdb4775248b80fb57n;
const TABLE_FOOT_BYTES = 48;
/** Number of bytes after each block of a table: compression type and checksum. */
const BLOCK_TAIL_BYTES = 5;

interface BlockHandle {
  readonly offset: number;
  readonly size: number;
}

/** Description of the first error in a table; null if all blocks have valid checksums. */
export function tableCorruption(file: Buffer): string | null {
  if (file.length < TABLE_FOOT_BYTES || file.readBigUInt64LE(file.length - 8) !== TABLE_MAGIC)
    return 'its end is missing';
  const foot = new VarintReader(file.subarray(file.length - TABLE_FOOT_BYTES));
  const directories = [foot.handle(), foot.handle()];
  for (const directory of directories) {
    const corruption = blockCorruption(file, directory);
    if (corruption !== null) return corruption;
    const entries = blockHandles(file.subarray(directory.offset, directory.offset + directory.size + 1));
    if (entries === null) continue;
    for (const block of entries) {
      const inner = blockCorruption(file, block);
      if (inner !== null) return inner;
    }
  }
  return null;
}

function blockCorruption(file: Buffer, { offset, size }: BlockHandle): string | null {
  const end = offset + size + BLOCK_TAIL_BYTES;
  if (!(end <= file.length - TABLE_FOOT_BYTES)) return `a block beyond its end at byte ${offset}`;
  const crc = crc32c(file.subarray(offset, offset + size + 1));
  return maskCrc(crc) === file.readUInt32LE(offset + size + 1)
    ? null
    : `a checksum mismatch in the block at byte ${offset}`;
}

/** Reads the positions of the data blocks from an index block; null for invalid bytes. */
function blockHandles(block: Buffer): BlockHandle[] | null {
  return blockEntries(block)?.map(({ value }) => new VarintReader(value).handle()) ?? null;
}

interface BlockEntry {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** The entries of a block. Its last byte is the compression type. Null for invalid bytes. */
function blockEntries(block: Buffer): BlockEntry[] | null {
  const isPacked = block[block.length - 1] !== 0;
  const content = isPacked ? unpackSnappy(block.subarray(0, -1)) : block.subarray(0, -1);
  if (content === null || content.length < 4) return null;
  const restarts = content.readUInt32LE(content.length - 4);
  const reader = new VarintReader(content.subarray(0, Math.max(0, content.length - 4 - 4 * restarts)));
  const entries: BlockEntry[] = [];
  let before = Buffer.alloc(0);
  while (!reader.atEnd) {
    const shared = reader.varint();
    const keyBytes = reader.varint();
    const valueBytes = reader.varint();
    // An entry stores only the part of its key that follows the prefix shared with the previous key.
    const key = Buffer.concat([before.subarray(0, shared), reader.take(keyBytes)]);
    const value = reader.take(valueBytes);
    if (reader.failed) return null;
    entries.push({ key, value });
    before = key;
  }
  return entries;
}

/** First and last key of a table; null if they cannot be parsed. In that case a checksum is wrong too. */
export function tableKeys(file: Buffer): TableKeyRange | null {
  if (file.length < TABLE_FOOT_BYTES) return null;
  const foot = new VarintReader(file.subarray(file.length - TABLE_FOOT_BYTES));
  foot.handle();
  const entriesAt = ({ offset, size }: BlockHandle): BlockEntry[] | null =>
    blockEntries(file.subarray(offset, offset + size + 1));
  const blocks = entriesAt(foot.handle())?.map(({ value }) => new VarintReader(value).handle());
  if (blocks === undefined || blocks.length === 0) return null;
  const first = entriesAt(blocks[0]!)?.[0];
  const last = entriesAt(blocks.at(-1)!)?.at(-1);
  return first && last ? { first: first.key, last: last.key } : null;
}

/** Decompresses Snappy data; null for invalid bytes. Source: Snappy's format description. */
function unpackSnappy(packed: Buffer): Buffer | null {
  const reader = new VarintReader(packed);
  const size = reader.varint();
  // Rejects impossible sizes: Snappy data never expands to more than 32 times its size.
  if (reader.failed || size > packed.length * 32) return null;
  const out = Buffer.alloc(size);
  let used = 0;
  while (!reader.atEnd) {
    const tag = reader.byte();
    let length = (tag >> 2) + 1;
    if ((tag & 3) === 0) {
      if (length > 60) length = reader.littleEndian(length - 60) + 1;
      const literal = reader.take(length);
      if (reader.failed || used + length > size) return null;
      literal.copy(out, used);
      used += length;
      continue;
    }
    let back: number;
    if ((tag & 3) === 1) {
      length = ((tag >> 2) & 7) + 4;
      back = ((tag >> 5) << 8) | reader.byte();
    } else back = reader.littleEndian((tag & 3) === 2 ? 2 : 4);
    if (reader.failed || back === 0 || back > used || used + length > size) return null;
    for (const end = used + length; used < end; used++) out[used] = out[used - back]!;
  }
  return used === size ? out : null;
}

/** Reads base-128 numbers. A read beyond the end returns zero or empty bytes, and sets `failed`. */
class VarintReader {
  failed = false;
  private readonly data: Buffer;
  private at = 0;

  constructor(data: Buffer) {
    this.data = data;
  }

  get position(): number {
    return this.at;
  }

  get atEnd(): boolean {
    return this.at >= this.data.length;
  }

  byte(): number {
    if (this.atEnd) this.failed = true;
    return this.data[this.at++] ?? 0;
  }

  varint(): number {
    let value = 0;
    for (let factor = 1; factor < 2 ** 63; factor *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 128) return value;
    }
    this.failed = true;
    return 0;
  }

  littleEndian(bytes: number): number {
    let value = 0;
    for (let i = 0; i < bytes; i++) value += this.byte() * 2 ** (8 * i);
    return value;
  }

  skip(bytes: number): void {
    this.at += bytes;
    if (this.at > this.data.length) this.failed = true;
  }

  take(bytes: number): Buffer {
    const from = this.at;
    this.skip(bytes);
    return this.data.subarray(from, this.at);
  }

  bytes(): Buffer {
    return this.take(this.varint());
  }

  handle(): BlockHandle {
    return { offset: this.varint(), size: this.varint() };
  }
}
