/**
 * Searches for a nonce in slices, so that the event loop is not blocked. The addon or its TypeScript fallback computes the
 * hashes. This module depends only on headers and targets.
 */
import { hashToNumber } from '../primitives/compactTarget.js';
import { loadNative } from '../native/binding.js';
import { powHash } from '../primitives/header.js';
import { nextSlice } from '../scheduler/yield.js';
import type { Bytes } from '../util/bytes.js';

/** Offset of the nonce in a header. */
const NONCE_OFFSET = 108;
/** Number of hashes between two yields to the event loop, with the addon and without. The hashes take about ten milliseconds. */
const NATIVE_SLICE = 2048;
const FALLBACK_SLICE = 256;

/**
 * JavaScript implementation of the addon's `grind`: returns the first nonce from `startNonce` on that satisfies the target,
 * or -1 after `maxTries`.
 */
export function grindFallback(header: Bytes, target: bigint, startNonce: number, maxTries: number): number {
  const trial = Buffer.from(header);
  for (let nonce = startNonce; nonce < startNonce + maxTries; nonce++) {
    trial.writeUInt32LE(nonce, NONCE_OFFSET);
    if (hashToNumber(powHash(trial)) <= target) return nonce;
  }
  return -1;
}

function targetBytes(target: bigint): Buffer {
  return Buffer.from(target.toString(16).padStart(64, '0'), 'hex').reverse();
}

/** Returns the first nonce from 0 on that satisfies the target, or -1 after `maxTries` or if the signal aborts. */
export async function grind(
  header: Bytes,
  target: bigint,
  maxTries: number,
  signal: AbortSignal,
): Promise<number> {
  const native = loadNative();
  const targetLE = targetBytes(target);
  const slice = native ? NATIVE_SLICE : FALLBACK_SLICE;
  for (let start = 0; start < maxTries && !signal.aborted; start += slice) {
    if (start > 0) await nextSlice();
    const tries = Math.min(slice, maxTries - start);
    const nonce = native
      ? native.grind(header, targetLE, start, tries)
      : grindFallback(header, target, start, tries);
    if (nonce >= 0) return nonce;
  }
  return -1;
}
