/** Checks a proof-of-work hash against the compact target in its header. Source: lbrycrd pow.cpp `CheckProofOfWork`. */
import type { Bytes } from '../util/bytes.js';
import { decodeCompact, hashToNumber } from './compactTarget.js';

/**
 * Whether a proof-of-work hash (wire order; not the block id) satisfies the compact target `bits`. A target above the
 * network's limit is never satisfied.
 */
export function satisfiesProofOfWork(powHash: Bytes, bits: number, powLimit: bigint): boolean {
  const { target, negative, overflow } = decodeCompact(bits);
  if (negative || overflow || target === 0n || target > powLimit) return false;
  return hashToNumber(powHash) <= target;
}
