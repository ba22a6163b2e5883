/**
 * The hashes of the trie, by the addon where it is there and by their readable twins where it is not. Owns the choice
 * only: below a few hashes the crossing costs more than it saves.
 * Test: test/unit/claimtrie/fastHash.test.ts.
 */
import { hash160, sha256d } from '../crypto/hash.js';
import { merkleRoot } from '../crypto/merkle.js';
import { hashPairInto } from '../crypto/sha256Pair.js';
import { loadNative } from '../native/binding.js';
import type { Bytes } from '../util/bytes.js';

const HASH_BYTES = 32;
/** Measured: from three leaves on one native call is cheaper. */
const NATIVE_LEAVES = 3;

/** Leaves back to back for the addon; grows with the widest node. */
let leaves = Buffer.alloc(256 * HASH_BYTES);

/** H of a short message. */
export function hash256(message: Bytes): Bytes {
  const native = loadNative();
  return native ? native.sha256d(message) : sha256d(message);
}

/** RIPEMD-160 of SHA-256. */
export function hash160Of(message: Bytes): Bytes {
  const native = loadNative();
  return native ? native.hash160(message) : hash160(message);
}

/** Bitcoin's merkle root of one hash or more. */
export function rootOf(hashes: readonly Bytes[]): Bytes {
  if (hashes.length === 1) return hashes[0]!;
  return rootOfFilled(hashes.length, (target, at, i) => target.set(hashes[i]!, at));
}

/** The same of `count` hashes, of which `fill` writes number `i` into `target` at `at`. */
export function rootOfFilled(count: number, fill: (target: Buffer, at: number, i: number) => void): Bytes {
  if (count * HASH_BYTES > leaves.length) leaves = Buffer.alloc(2 * count * HASH_BYTES);
  for (let i = 0; i < count; i++) fill(leaves, i * HASH_BYTES, i);
  const native = count >= NATIVE_LEAVES ? loadNative() : null;
  if (native) return native.merkleRoot(leaves.subarray(0, count * HASH_BYTES)).root;
  const root = Buffer.allocUnsafe(HASH_BYTES);
  if (count === 2) hashPairInto(leaves, 0, leaves, HASH_BYTES, root, 0);
  else if (count === 1) leaves.copy(root, 0, 0, HASH_BYTES);
  else merkleRoot(hashesIn(leaves, count)).root.copy(root);
  return root;
}

function hashesIn(bytes: Buffer, count: number): Buffer[] {
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES));
}
