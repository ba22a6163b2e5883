/**
 * Record format for rows passed between memory, the journal and the addon: `u32 length of the key ‖ u32 length of
 * the value, or 0xffffffff for a deletion ‖ key ‖ value`, all numbers little endian.
 */
import type { Bytes } from '../../util/bytes.js';

/** A put, or a delete without a value. A key is bytes or a latin1 string. */
export type RowChange = readonly [key: Buffer | string, value: Bytes | null];

/** A row read from a record. */
export type ReadChange = readonly [key: Buffer, value: Buffer | null];

const DELETED = 0xffffffff;
const UNKNOWN = 0xfffffffe;
const HEAD_BYTES = 8;
const MIN_ROOM = 64 << 10;

/** Writes records to a buffer that is reused. */
export class RecordWriter {
  private memory = Buffer.alloc(0);
  private used = 0;
  private readonly leastRoom: number;

  /** Allocates at least `leastRoom` bytes on the first addition. */
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

  /** Clears the buffer of earlier records. */
  wipe(): void {
    this.memory.fill(0, this.used);
  }

  /** Records added since the last call, as a view that is valid until the next addition. */
  take(): Buffer {
    const records = this.memory.subarray(0, this.used);
    this.used = 0;
    return records;
  }
}

/** Iterates over the rows of records without creating a view for each. For callers that read very many. */
export class RecordCursor {
  private readonly records: Buffer;
  private at = 0;
  keyStart = 0;
  /** End of the key and start of the value. */
  valueStart = 0;
  /** End of the value; equal to its start for a deletion. */
  valueEnd = 0;
  isDeletion = false;

  constructor(records: Buffer) {
    this.records = records;
  }

  /** Advances to the next row; false at the end. */
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
 * Iterates over packed values, `u32 length ‖ value`, little endian, without creating a view for each. The length is
 * 0xffffffff for a missing row, 0xfffffffe for an unknown one.
 */
export class PackedValues {
  readonly values: Buffer;
  /** Start of the value, and its length; -1 for a missing or unknown row. */
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

/** The rows of records, as views. */
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
