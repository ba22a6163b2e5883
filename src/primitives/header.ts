/** The block header of 112 bytes: parsing, serialization, id and proof-of-work hash. */
import { sha256, sha256d, sha512, ripemd160 } from '../crypto/hash.js';
import type { Bytes } from '../util/bytes.js';
import { Reader } from '../util/reader.js';
import { Writer } from '../util/writer.js';

export const HEADER_SIZE_BYTES = 112;

export interface BlockHeader {
  /** Signed 32-bit. */
  version: number;
  /** Id of the previous block and merkle root: 32 bytes each, wire order. */
  prevHash: Bytes;
  merkleRoot: Bytes;
  /** Root hash of the claim trie after the block was connected. */
  claimRoot: Bytes;
  timeSec: number;
  /** Compact target. */
  bits: number;
  nonce: number;
}

export function parseHeader(reader: Reader): BlockHeader {
  return {
    version: reader.i32(),
    prevHash: reader.hash(),
    merkleRoot: reader.hash(),
    claimRoot: reader.hash(),
    timeSec: reader.u32(),
    bits: reader.u32(),
    nonce: reader.u32(),
  };
}

export function parseHeaderBytes(bytes: Bytes): BlockHeader {
  return parseHeader(new Reader(bytes));
}

export function writeHeader(writer: Writer, header: BlockHeader): void {
  writer
    .i32(header.version)
    .raw(header.prevHash)
    .raw(header.merkleRoot)
    .raw(header.claimRoot)
    .u32(header.timeSec)
    .u32(header.bits)
    .u32(header.nonce);
}

/** Serializes a header to 112 bytes. */
export function formatHeader(header: BlockHeader): Buffer {
  const writer = new Writer(HEADER_SIZE_BYTES);
  writeHeader(writer, header);
  return writer.finish();
}

/** Returns the block id: double SHA-256 of the 112 bytes, wire order. */
export function headerHash(headerBytes: Bytes): Buffer {
  return sha256d(headerBytes.subarray(0, HEADER_SIZE_BYTES));
}

/**
 * Returns the hash that is compared with the target, in wire order (a little endian number): SHA-512 of the block id,
 * RIPEMD-160 of each half, double SHA-256 of both results. Source: lbrycrd `PoWHash` (hash.h).
 */
export function powHash(headerBytes: Bytes): Buffer {
  const wide = sha512(headerHash(headerBytes));
  const halves = Buffer.concat([ripemd160(wide.subarray(0, 32)), ripemd160(wide.subarray(32, 64))]);
  return sha256(sha256(halves));
}
