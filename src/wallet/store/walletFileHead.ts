/**
 * The first 64 bytes of a wallet file: `"lbcwalle" ‖ u32 version ‖ u32 CRC-32C of the twelve bytes before`, and from byte 16
 * two marks of 16 bytes with the synced length: `u64 end ‖ u32 generation ‖ u32 CRC-32C of the twelve bytes before`. The
 * newer valid mark is used. The two marks are written alternately, so that one mark stays valid if a write is torn.
 */
import { crc32c } from '../../crypto/crc32c.js';
import type { Bytes } from '../../util/bytes.js';

export const HEAD_BYTES = 64;
export const VERSION = 1;

const MAGIC = Buffer.from('lbcwalle', 'latin1');
const VERSION_AT = 8;
const MARKS_AT = 16;
const MARK_BYTES = 16;
/** Number of bytes of the version field or a mark that its checksum covers. */
const COVERED_BYTES = 12;

function seal(bytes: Buffer): void {
  bytes.writeUInt32LE(crc32c(bytes.subarray(0, COVERED_BYTES)), COVERED_BYTES);
}

function isSealed(bytes: Buffer): boolean {
  return crc32c(bytes.subarray(0, COVERED_BYTES)) === bytes.readUInt32LE(COVERED_BYTES);
}

/** Creates the head of a file that is synced up to offset `end`. */
export function makeHead(end: number): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(bytes);
  bytes.writeUInt32LE(VERSION, VERSION_AT);
  seal(bytes.subarray(0, MARK_BYTES));
  mark(end, 0).copy(bytes, markOffset(0));
  return bytes;
}

export function isHead(bytes: Buffer): boolean {
  return bytes.length >= HEAD_BYTES && MAGIC.equals(bytes.subarray(0, MAGIC.length));
}

/** Version of the file format; `Infinity` if the field is corrupt. */
export function versionOf(bytes: Buffer): number {
  return isSealed(bytes.subarray(0, MARK_BYTES)) ? bytes.readUInt32LE(VERSION_AT) : Infinity;
}

/** Creates the part of the head that records up to which length the file is synced. `generation` is its running number. */
export function mark(end: number, generation: number): Buffer {
  const bytes = Buffer.alloc(MARK_BYTES);
  bytes.writeBigUInt64LE(BigInt(end), 0);
  bytes.writeUInt32LE(generation >>> 0, 8);
  seal(bytes);
  return bytes;
}

/** Offset in the file of the mark with this generation (running number). */
export function markOffset(generation: number): number {
  return MARKS_AT + (generation % 2) * MARK_BYTES;
}

/** Synced length of the file, from the newest valid mark. */
export function syncedEnd(bytes: Bytes): { end: number; generation: number } {
  let best = { end: HEAD_BYTES, generation: 0 };
  for (const slot of [0, 1]) {
    const at = MARKS_AT + slot * MARK_BYTES;
    const one = Buffer.from(bytes.buffer, bytes.byteOffset + at, MARK_BYTES);
    if (!isSealed(one)) continue;
    const generation = one.readUInt32LE(8);
    if (generation >= best.generation) best = { end: Number(one.readBigUInt64LE(0)), generation };
  }
  return best;
}
