/**
 * Record format of rows that are passed between memory, the journal and the addon: `u32 length of the key ‖ u32 length of
 * the value, or 0xffffffff for a deletion ‖ key ‖ value`. All numbers are little endian.
 */
import type { Bytes } from '../../util/bytes.js';

/** A change of a row: its key and new value, or null for a deletion. A key is bytes or a latin1 string. */
export type RowChange = readonly [key: Buffer | string, value: Bytes | null];

/** A change that was read from a record; null for a deletion. */
export type ReadChange = readonly [key: Buffer, value: Buffer | null];

const DELETED = 0xffffffff;
const UNKNOWN = 0xfffffffe;
const HEAD_BYTES = 8;
const MIN_ROOM = 64 << 10;

/** Writes records to a buffer. The buffer grows when needed and is reused. */
export class RecordWriter {
  private memory = Buffer.alloc(0);
  private used = 0;
  private readonly leastRoom: number;

  /** Creates the writer. `leastRoom` is the minimum number of bytes that the first addition allocates. */
  constructor(leastRoom = MIN_ROOM) {
    this.leastRoom = leastRoom;
  }

  get sizeBytes(): number {
    return this.used;
  }

  add(key: Buffer | string, value: Bytes | null): void {
    this.makeRoom(HEAD_BYTES + key.length + (value?.length ?? 0));
    const { memory } = this;
    let at = memory.writeUInt32LE(key.length, this.used);
    at = memory.writeUInt32LE(value === null ? DELETED : value.length, at);
    at += typeof key === 'string' ? memory.write(key, at, 'latin1') : key.copy(memory, at);
    if (value !== null) memory.set(value, at);
    this.used = at + (value?.length ?? 0);
  }

  private makeRoom(bytes: number): void {
    const needed = this.used + bytes;
    if (needed <= this.memory.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.memory.length, this.leastRoom));
    this.memory.copy(grown, 0, 0, this.used);
    this.memory = grown;
  }

  /** Fills the unused part of the buffer with zeros, so that it does not contain earlier records. */
  wipe(): void {
    this.memory.fill(0, this.used);
  }

  /** Returns the records that were added since the last call, as a view that is valid until the next addition. */
  take(): Buffer {
    const records = this.memory.subarray(0, this.used);
    this.used = 0;
    return records;
  }
}

/** Iterates over the rows of records without creating a view for each row. For code that reads very many rows. */
export class RecordCursor {
  private readonly records: Buffer;
  private at = 0;
  keyStart = 0;
  /** Offset of the end of the key, which is the start of the value. */
  valueStart = 0;
  /** Offset of the end of the value. Equal to `valueStart` for a deletion. */
  valueEnd = 0;
  isDeletion = false;

  constructor(records: Buffer) {
    this.records = records;
  }

  /** Advances to the next row. Returns false at the end. */
  next(): boolean {
    const { records, at } = this;
    if (at >= records.length) return false;
    const valueLength = records.readUInt32LE(at + 4);
    this.isDeletion = valueLength === DELETED;
    this.keyStart = at + HEAD_BYTES;
    this.valueStart = this.keyStart + records.readUInt32LE(at);
    this.valueEnd = this.valueStart + (this.isDeletion ? 0 : valueLength);
    this.at = this.valueEnd;
    return true;
  }
}

/**
 * Iterates over packed values, `u32 length ‖ value`, little endian, without creating a view for each value. The length is
 * 0xffffffff for a row that does not exist, and 0xfffffffe for a row that must be searched elsewhere.
 */
export class PackedValues {
  readonly values: Buffer;
  /** Offset and length of the current value. The length is -1 for a missing or unknown row. */
  start = 0;
  length = -1;
  private at = 0;

  constructor(values: Buffer) {
    this.values = values;
  }

  /** Advances to the next value, which must exist. */
  next(): void {
    const length = this.values.readUInt32LE(this.at);
    this.start = this.at + 4;
    this.length = length >= UNKNOWN ? -1 : length;
    this.at = this.start + Math.max(0, this.length);
  }
}

/** Iterates over the changes in serialized records. Keys and values are views. */
export function* changesOf(records: Buffer): Generator<ReadChange> {
  for (let at = 0; at < records.length;) {
    const keyLength = records.readUInt32LE(at);
    const valueLength = records.readUInt32LE(at + 4);
    at += HEAD_BYTES + keyLength;
    const key = records.subarray(at - keyLength, at);
    const end = at + (valueLength === DELETED ? 0 : valueLength);
    yield [key, valueLength === DELETED ? null : records.subarray(at, end)];
    at = end;
  }
}
