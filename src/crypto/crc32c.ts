/** CRC-32C (Castagnoli), the checksum of LevelDB's files. Source: RFC 3720 B.4. */
import { loadNative } from '../native/binding.js';
import type { Bytes } from '../util/bytes.js';

/** Reflected polynomial. */
const POLYNOMIAL = 0x82f63b78;
/**
 * Constant that LevelDB adds to a rotated checksum before storing it, because the checksummed data may itself contain
 * checksums.
 */
const MASK_DELTA = 0xa282ead8;

/** Eight tables of 256 entries: table n has the effect on the checksum of a byte that n other bytes follow. */
const TABLES = makeTables();

function makeTables(): Int32Array {
  const tables = new Int32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    tables[byte] = crc;
  }
  for (let i = 256; i < tables.length; i++) {
    const before = tables[i - 256]!;
    tables[i] = (before >>> 8) ^ tables[before & 0xff]!;
  }
  return tables;
}

/** Returns the checksum as an unsigned 32-bit number. */
export function crc32c(bytes: Bytes): number {
  return loadNative()?.crc32c(bytes) ?? crc32cFallback(bytes);
}

/** Implementation without the addon, which processes eight bytes per step. */
export function crc32cFallback(bytes: Bytes): number {
  const t = TABLES;
  let crc = -1;
  let at = 0;
  for (const end = bytes.length - 7; at < end; at += 8) {
    const low = crc ^ (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
    crc =
      t[7 * 256 + (low & 0xff)]! ^
      t[6 * 256 + ((low >>> 8) & 0xff)]! ^
      t[5 * 256 + ((low >>> 16) & 0xff)]! ^
      t[4 * 256 + (low >>> 24)]! ^
      t[3 * 256 + bytes[at + 4]!]! ^
      t[2 * 256 + bytes[at + 5]!]! ^
      t[256 + bytes[at + 6]!]! ^
      t[bytes[at + 7]!]!;
  }
  for (; at < bytes.length; at++) crc = (crc >>> 8) ^ t[(crc ^ bytes[at]!) & 0xff]!;
  return ~crc >>> 0;
}

/** Converts a checksum to the form in which LevelDB stores it. */
export function maskCrc(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + MASK_DELTA) >>> 0;
}
