/**
 * A checksum at the end of `mempool.dat` and `fee_estimates.dat`: a mark, and the SHA-256 of all bytes before it. The
 * checksum is an addition to the reference's format. The reference stops reading before the checksum. This node also accepts
 * files without it.
 */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { ReadError } from '../util/reader.js';

const MARK = Buffer.from('lbcsum01', 'latin1');
const TAIL_BYTES = MARK.length + 32;
/** Number of bytes that are read in one step. Arbitrary. */
const PIECE_BYTES = 1 << 20;

function mismatch(): ReadError {
  return new ReadError('its checksum does not match');
}

/** Checksum that is appended to a file. All content must have been passed to `hash` before. */
export function checksumTail(hash: ReturnType<typeof createHash>): Buffer {
  return Buffer.concat([MARK, hash.digest()]);
}

/** Content of a small file with the checksum tail appended. */
export function withChecksum(content: Buffer): Buffer {
  return Buffer.concat([content, checksumTail(createHash('sha256').update(content))]);
}

/** Content of a file without its checksum tail; a file may lack the tail. Throws `ReadError` if the checksum is wrong. */
export function verified(bytes: Buffer): Buffer {
  const end = bytes.length - TAIL_BYTES;
  if (end < 0 || !bytes.subarray(end, end + MARK.length).equals(MARK)) return bytes;
  const content = bytes.subarray(0, end);
  const hash = createHash('sha256').update(content).digest();
  if (!hash.equals(bytes.subarray(end + MARK.length))) throw mismatch();
  return content;
}

/**
 * Reads a whole file and verifies its checksum. Resolves to the number of content bytes. Throws `ReadError` if the checksum
 * is wrong.
 */
export async function verifiedLength(file: FileHandle): Promise<number> {
  const { size } = await file.stat();
  const end = size - TAIL_BYTES;
  if (end < 0) return size;
  const tail = Buffer.alloc(TAIL_BYTES);
  await file.read(tail, 0, TAIL_BYTES, end);
  if (!tail.subarray(0, MARK.length).equals(MARK)) return size;
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  for (let at = 0; at < end;) {
    const { bytesRead } = await file.read(piece, 0, Math.min(PIECE_BYTES, end - at), at);
    if (bytesRead === 0) throw mismatch();
    hash.update(piece.subarray(0, bytesRead));
    at += bytesRead;
  }
  if (!hash.digest().equals(tail.subarray(MARK.length))) throw mismatch();
  return end;
}
