/**
 * Commits of a wallet file as bytes: `u32 length of the payload ‖ u32 number ‖ u32 CRC-32C of both and the payload ‖ payload`,
 * little endian. Commits are numbered from 0. A payload consists of records (`rowRecords.ts`).
 */
import { crc32c } from '../../crypto/crc32c.js';
import type { FileWindow } from './fileWindow.js';

export const COMMIT_HEAD_BYTES = 12;
/** Maximum length of a payload in bytes. A longer payload is never written, so a larger value is invalid. */
export const MAX_PAYLOAD_BYTES = 1 << 30;

const NUMBER_AT = 4;
const CHECKSUM_AT = 8;
/** Size in bytes of the checksum, which follows length and number in the head of a commit. */
const CHECKSUM_BYTES = 4;
const OWN_HEAD = Buffer.alloc(COMMIT_HEAD_BYTES);

/** Checksum of a commit. It covers length, number and payload. */
function checksum(commit: Buffer): number {
  // The head is temporarily copied directly before the payload. So one buffer contains all covered bytes, and the large
  // payload is not copied.
  commit.copy(OWN_HEAD, 0, 0, COMMIT_HEAD_BYTES);
  OWN_HEAD.copy(commit, CHECKSUM_BYTES, 0, COMMIT_HEAD_BYTES - CHECKSUM_BYTES);
  const sum = crc32c(commit.subarray(CHECKSUM_BYTES));
  OWN_HEAD.copy(commit);
  return sum;
}

/** Creates a commit that contains a copy of the records in `payload`. */
export function makeCommit(payload: Buffer, number: number): Buffer {
  const commit = Buffer.allocUnsafe(COMMIT_HEAD_BYTES + payload.length);
  commit.writeUInt32LE(payload.length, 0);
  commit.writeUInt32LE(number, NUMBER_AT);
  payload.copy(commit, COMMIT_HEAD_BYTES);
  commit.writeUInt32LE(checksum(commit), CHECKSUM_AT);
  return commit;
}

/** Returns the number of a commit. */
export function commitNumber(commit: Buffer): number {
  return commit.readUInt32LE(NUMBER_AT);
}

/** Whether the checksum of a commit is correct. */
export function isWhole(commit: Buffer): boolean {
  return checksum(commit) === commit.readUInt32LE(CHECKSUM_AT);
}

/**
 * The payload of commit `number` at `offset`, as a view of the window. Null if a complete commit with this number does not
 * exist.
 */
export function readCommit(window: FileWindow, offset: number, number: number): Buffer | null {
  const start = window.read(offset, COMMIT_HEAD_BYTES);
  if (start === null) return null;
  const length = start.readUInt32LE(0);
  if (length > MAX_PAYLOAD_BYTES || commitNumber(start) !== number) return null;
  const commit = window.read(offset, COMMIT_HEAD_BYTES + length);
  if (commit === null || !isWhole(commit)) return null;
  return commit.subarray(COMMIT_HEAD_BYTES);
}
