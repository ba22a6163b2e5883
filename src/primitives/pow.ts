/** Checks a proof-of-work hash against the bits that its header claims. Source: lbrycrd pow.cpp `CheckProofOfWork`. */
import type { Bytes } from '../util/bytes.js';
import { decodeCompact, hashToNumber } from './compactTarget.js';

/** `powHash` is the proof-of-work hash (not the block id), wire order. Bits above the network's limit are never satisfied. */
export function satisfiesProofOfWork(powHash: Bytes, bits: number, powLimit: bigint): boolean {
  const { target, negative, overflow } = decodeCompact(bits);
  if (negative || overflow || target === 0n || target > powLimit) return false;
  return hashToNumber(powHash) <= target;
}
