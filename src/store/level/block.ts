/**
 * Blocks of a table: entries in the order of their keys; each omits the prefix that it shares with the one before
 * it. What is written is not packed; what others packed is read. Source: LevelDB doc/table_format, block_builder, block.
 */
import { unpackSnappy, VarintReader } from '../levelDbFormat.js';
import { VarintWriter } from './varintWriter.js';

/** Behind each row's key: the number of its change and whether it is a put, as one number. */
export const TAG_BYTES = 8;
const PUT = 1;
/** Entries until one has its whole key again; LevelDB's own. */
const RESTART_INTERVAL = 16;
/** What an entry costs in memory beside its bytes; an estimate. */
const ENTRY_BYTES = 100;

/** Number of a change and whether it deletes, in the order in which later changes are greater. */
export const tagOf = (sequence: number, isPut: boolean): number => sequence * 256 + (isPut ? PUT : 0);
export const isPut = (tag: number): boolean => tag % 256 === PUT;
export const sequenceOf = (tag: number): number => Math.floor(tag / 256);

export interface Block {
  /** Keys without tags; a key may repeat with an earlier change. */
  readonly keys: readonly string[];
  readonly tags: readonly number[];
  /** Start and end of the value of each entry, two numbers each. */
  readonly places: readonly number[];
  readonly data: Buffer;
  /** Memory that it takes, about. */
  readonly sizeBytes: number;
}

/** The value of an entry, a view. */
export function valueAt({ data, places }: Block, i: number): Buffer {
  return data.subarray(places[2 * i]!, places[2 * i + 1]!);
}

/** The entries of a block whose checksum was right; its last byte reports how it is packed. Null for bytes that are none. */
export function parseBlock(stored: Buffer, tagBytes: 0 | typeof TAG_BYTES = TAG_BYTES): Block | null {
  const packing = stored[stored.length - 1];
  if (packing !== 0 && packing !== 1) return null;
  const packed = stored.subarray(0, -1);
  const data = packing === 1 ? unpackSnappy(packed) : packed;
  if (data === null || data.length < 4) return null;
  const end = data.length - 4 - 4 * data.readUInt32LE(data.length - 4);
  if (end < 0) return null;
  const reader = new VarintReader(data.subarray(0, end));
  const keys: string[] = [];
  const tags: number[] = [];
  const places: number[] = [];
  let key: Buffer = Buffer.allocUnsafe(256);
  let keyBytes = 0;
  let memory = data.length;
  while (!reader.atEnd) {
    const shared = reader.varint();
    const fresh = reader.varint();
    const valueBytes = reader.varint();
    const from = reader.position;
    reader.skip(fresh + valueBytes);
    if (reader.failed || shared > keyBytes || shared + fresh < tagBytes) return null;
    keyBytes = shared + fresh;
    if (keyBytes > key.length) key = Buffer.concat([key.subarray(0, shared)], 2 * keyBytes);
    data.copy(key, shared, from, from + fresh);
    const userBytes = keyBytes - tagBytes;
    keys.push(key.toString('latin1', 0, userBytes));
    tags.push(tagBytes === 0 ? 0 : readTag(key, userBytes));
    places.push(from + fresh, from + fresh + valueBytes);
    memory += userBytes + ENTRY_BYTES;
  }
  return { keys, tags, places, data, sizeBytes: memory };
}

/** A tag as it is behind a key. Those of separators are greater than any change's, and only about right. */
export function readTag(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;
}

/** A key with its tag, as tables and manifests have it. */
export function internalKey(key: Buffer, tag: number): Buffer {
  const bytes = Buffer.allocUnsafe(key.length + TAG_BYTES);
  key.copy(bytes);
  bytes.writeUInt32LE(tag % 2 ** 32, key.length);
  bytes.writeUInt32LE(Math.floor(tag / 2 ** 32), key.length + 4);
  return bytes;
}

/** Makes one block after the other. */
export class BlockWriter {
  private readonly restartInterval: number;
  private readonly out = new VarintWriter();
  private restarts: number[] = [];
  private count = 0;
  private before: Buffer = Buffer.alloc(0);

  constructor(restartInterval = RESTART_INTERVAL) {
    this.restartInterval = restartInterval;
  }

  get isEmpty(): boolean {
    return this.count === 0;
  }

  get sizeBytes(): number {
    return this.out.sizeBytes + 4 * this.restarts.length + 4;
  }

  /** Keys come with their tags, in order. */
  add(key: Buffer, value: Buffer): void {
    let shared = 0;
    if (this.count++ % this.restartInterval === 0) this.restarts.push(this.out.sizeBytes);
    else {
      const most = Math.min(this.before.length, key.length);
      while (shared < most && key[shared] === this.before[shared]) shared++;
    }
    this.out
      .varint(shared)
      .varint(key.length - shared)
      .varint(value.length)
      .raw(key.subarray(shared))
      .raw(value);
    this.before = key;
  }

  /** The block, a copy; the next one begins. */
  finish(): Buffer {
    const restarts = this.restarts.length > 0 ? this.restarts : [0];
    for (const at of restarts) this.out.u32(at);
    this.out.u32(restarts.length);
    this.restarts = [];
    this.count = 0;
    this.before = Buffer.alloc(0);
    return Buffer.from(this.out.take());
  }
}
