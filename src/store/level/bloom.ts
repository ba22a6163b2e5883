/**
 * The filters of a table: for each 2 KiB of its data blocks, bits that tell most keys that are not there. Source: LevelDB
 * filter_block, bloom, hash; doc/table_format.
 */
import { VarintWriter } from './varintWriter.js';

/** Under this name the directory of a table has its filters. */
export const FILTER_NAME = 'filter.leveldb.BuiltinBloomFilter2';
/** Bits a key, as other writers of our tables use. */
const BITS_A_KEY = 10;
/** Bits that are set for a key: `BITS_A_KEY` ln 2, rounded down. */
const PROBES = 6;
const MIN_BITS = 64;
/** More are kept for other kinds of filters: a reader treats every key as present. */
const MAX_PROBES = 30;
/** Base-2 logarithm of the range of block offsets for one filter. */
const BASE_LOG = 11;
const SEED = 0xbc9f1d34;
const FACTOR = 0xc6a4a793;

function hash(key: Buffer): number {
  let h = SEED ^ Math.imul(key.length, FACTOR);
  let at = 0;
  for (; at + 4 <= key.length; at += 4) {
    h = Math.imul(h + key.readInt32LE(at), FACTOR);
    h ^= h >>> 16;
  }
  const left = key.length - at;
  if (left > 2) h += key[at + 2]! << 16;
  if (left > 1) h += key[at + 1]! << 8;
  if (left > 0) {
    h = Math.imul(h + key[at]!, FACTOR);
    h ^= h >>> 24;
  }
  return h >>> 0;
}

const stepOf = (h: number): number => ((h >>> 17) | (h << 15)) >>> 0;

/** Makes the filters of one table. */
export class FilterWriter {
  private readonly out = new VarintWriter();
  private readonly offsets: number[] = [];
  private hashes: number[] = [];

  /** A data block begins at this place of the file. */
  startBlock(offset: number): void {
    while (this.offsets.length < Math.floor(offset / 2 ** BASE_LOG)) this.endFilter();
  }

  /** A key without its tag. */
  add(key: Buffer): void {
    this.hashes.push(hash(key));
  }

  private endFilter(): void {
    this.offsets.push(this.out.sizeBytes);
    if (this.hashes.length === 0) return;
    const bytes = Buffer.alloc(Math.ceil(Math.max(MIN_BITS, this.hashes.length * BITS_A_KEY) / 8));
    const bits = 8 * bytes.length;
    for (const first of this.hashes) {
      const step = stepOf(first);
      for (let i = 0, h = first; i < PROBES; i++, h = (h + step) >>> 0)
        bytes[(h % bits) >>> 3]! |= 1 << ((h % bits) % 8);
    }
    this.out.raw(bytes).byte(PROBES);
    this.hashes = [];
  }

  finish(): Buffer {
    if (this.hashes.length > 0) this.endFilter();
    const end = this.out.sizeBytes;
    for (const offset of this.offsets) this.out.u32(offset);
    return Buffer.from(this.out.u32(end).byte(BASE_LOG).take());
  }
}

/** Whether the data block at this offset may have the key; true if the filters do not tell. */
export function mayHave(filters: Buffer, offset: number, key: Buffer): boolean {
  if (filters.length < 5) return true;
  const table = filters.readUInt32LE(filters.length - 5);
  const at = table + 4 * Math.floor(offset / 2 ** filters[filters.length - 1]!);
  // The place of the table itself follows its last entry, and so ends the last filter.
  if (at + 8 > filters.length - 1) return true;
  const from = filters.readUInt32LE(at);
  const to = filters.readUInt32LE(at + 4);
  if (from === to) return false;
  if (from > to || to > table) return true;
  const probes = filters[to - 1]!;
  if (to - from < 2 || probes > MAX_PROBES) return true;
  const bits = 8 * (to - 1 - from);
  let h = hash(key);
  const step = stepOf(h);
  for (let i = 0; i < probes; i++, h = (h + step) >>> 0) {
    const bit = h % bits;
    if ((filters[from + (bit >>> 3)]! & (1 << (bit % 8))) === 0) return false;
  }
  return true;
}
