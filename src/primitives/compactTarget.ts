/**
 * Compact form of targets, and the work that a target represents. Numbers are unsigned 256-bit integers as bigint. Source:
 * Core arith_uint256.cpp `SetCompact`, `GetCompact`; chain.cpp `GetBlockProof`.
 */
import { assert } from '../util/assert.js';
import { asBuffer, type Bytes } from '../util/bytes.js';

const MASK_256 = (1n << 256n) - 1n;
const SIGN_BIT = 0x00800000;
const MANTISSA_MASK = 0x007fffff;

export interface DecodedTarget {
  /** Absolute value of the target, reduced to its low 256 bits. */
  target: bigint;
  negative: boolean;
  overflow: boolean;
}

/** Decodes any 32-bit compact target, valid or not. Source: `arith_uint256::SetCompact`. */
export function decodeCompact(bits: number): DecodedTarget {
  const size = bits >>> 24;
  let word = bits & MANTISSA_MASK;
  let target: bigint;
  if (size <= 3) {
    word >>>= 8 * (3 - size);
    target = BigInt(word);
  } else {
    target = (BigInt(word) << BigInt(8 * (size - 3))) & MASK_256;
  }
  return {
    target,
    negative: word !== 0 && (bits & SIGN_BIT) !== 0,
    overflow: word !== 0 && (size > 34 || (word > 0xff && size > 33) || (word > 0xffff && size > 32)),
  };
}

/** Returns the position of the highest set bit, starting at 1; 0 for the value 0. */
function bitLength(value: bigint): number {
  return value === 0n ? 0 : value.toString(2).length;
}

/** Encodes a target in compact form. Precision is lost towards zero. Source: `arith_uint256::GetCompact`. */
export function encodeCompact(target: bigint, negative = false): number {
  assert(target >= 0n && target <= MASK_256, 'a target has 256 bits');
  let size = Math.ceil(bitLength(target) / 8);
  let word = size <= 3 ? Number(target) * 2 ** (8 * (3 - size)) : Number(target >> BigInt(8 * (size - 3)));
  if (word & SIGN_BIT) {
    word >>>= 8;
    size++;
  }
  const sign = negative && (word & MANTISSA_MASK) !== 0 ? SIGN_BIT : 0;
  return (word | sign | (size << 24)) >>> 0;
}

/** Converts a 32-byte hash (wire order) to the number that is compared with a target. */
export function hashToNumber(hash: Bytes): bigint {
  return BigInt(`0x${Buffer.from(asBuffer(hash)).reverse().toString('hex')}`);
}

/**
 * Returns the expected number of hashes for a block with the compact target `bits`; 0 if the target is invalid. Source:
 * `GetBlockProof`.
 */
export function blockWork(bits: number): bigint {
  const { target, negative, overflow } = decodeCompact(bits);
  if (negative || overflow || target === 0n) return 0n;
  return (1n << 256n) / (target + 1n);
}

/** INT64_MAX, which the function below returns as the number of seconds if the difference of work is too large. */
const MAX_INT64 = (1n << 63n) - 1n;

/**
 * Returns the time in seconds to mine the difference of work between two blocks at the difficulty `tipBits`; negative if
 * `toWork` is smaller. The result determines for which blocks the option `-assumevalid` applies. Source:
 * `GetBlockProofEquivalentTime`.
 */
export function workEquivalentTimeSec(
  toWork: bigint,
  fromWork: bigint,
  tipBits: number,
  targetSpacingSec: number,
): bigint {
  const ahead = toWork > fromWork;
  const difference = ahead ? toWork - fromWork : fromWork - toWork;
  const seconds = ((difference * BigInt(targetSpacingSec)) & MASK_256) / blockWork(tipBits);
  const bounded = seconds > MAX_INT64 ? MAX_INT64 : seconds;
  return ahead ? bounded : -bounded;
}

/**
 * Returns the difficulty as RPC shows it, relative to the target 0x1f00ffff. The loops reproduce the rounding of the
 * reference. Source: lbrycrd rpc/blockchain.cpp `GetDifficulty` (31 where Bitcoin has 29).
 */
export function difficultyOf(bits: number): number {
  let difficulty = 0xffff / (bits & 0xffffff);
  let shift = bits >>> 24;
  for (; shift < 31; shift++) difficulty *= 256;
  for (; shift > 31; shift--) difficulty /= 256;
  return difficulty;
}
