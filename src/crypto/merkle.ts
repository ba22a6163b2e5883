/**
 * Bitcoin's merkle tree over 32-byte hashes: root, path of one leaf, root from a path.
 * Independent of blocks and claims; the callers choose the leaves. Source: Core consensus/merkle.cpp `ComputeMerkleRoot`;
 * test/merkle_tests.cpp `ComputeMerkleBranch`, `ComputeMerkleRootFromBranch`.
 */
import { loadNative } from '../native/binding.js';
import { assert } from '../util/assert.js';
import type { Bytes } from '../util/bytes.js';
import { sha256d, sha256dPair } from './hash.js';

const HASH_SIZE = 32;

export interface MerkleRoot {
  /** The merkle root, 32 bytes; zeros if no leaves exist. */
  root: Buffer;
  /**
   * Whether two equal siblings were hashed together. If so, another list of leaves has the same root. QUIRK: an odd level
   * repeats its last hash (CVE-2012-2459), so a block with `mutated` must not be marked invalid permanently. Test:
   * test/unit/crypto/merkle.test.ts.
   */
  mutated: boolean;
}

/**
 * Copies the leaves into one flat array with space for a repeated last hash. Each level of the tree is then computed in
 * place.
 */
function flatten(hashes: readonly Bytes[]): Buffer {
  const flat = Buffer.allocUnsafe((hashes.length + 1) * HASH_SIZE);
  for (let i = 0; i < hashes.length; i++) flat.set(hashes[i]!, i * HASH_SIZE);
  return flat;
}

function samePair(flat: Buffer, at: number): boolean {
  return flat.compare(flat, at, at + HASH_SIZE, at + HASH_SIZE, at + 2 * HASH_SIZE) === 0;
}

/**
 * Combines the `count` hashes of one tree level pairwise to the next level, in place. Returns the number of hashes of the
 * next level.
 */
function foldLevel(flat: Buffer, count: number): number {
  if (count & 1) flat.copyWithin(count * HASH_SIZE, (count - 1) * HASH_SIZE, count * HASH_SIZE);
  const half = (count + 1) >> 1;
  for (let i = 0; i < half; i++) {
    const at = i * 2 * HASH_SIZE;
    flat.set(sha256d(flat.subarray(at, at + 2 * HASH_SIZE)), i * HASH_SIZE);
  }
  return half;
}

/** Returns the merkle root of the leaves, in a new buffer. */
export function merkleRoot(hashes: readonly Bytes[]): MerkleRoot {
  if (hashes.length === 0) return { root: Buffer.alloc(HASH_SIZE), mutated: false };
  const flat = flatten(hashes);
  let mutated = false;
  for (let count = hashes.length; count > 1;) {
    for (let i = 0; i + 1 < count; i += 2) {
      if (samePair(flat, i * HASH_SIZE)) mutated = true;
    }
    count = foldLevel(flat, count);
  }
  return { root: Buffer.from(flat.subarray(0, HASH_SIZE)), mutated };
}

/** Maximum number of levels of a tree with 32-bit indexes. */
const MAX_LEVELS = 32;
/** Minimum number of leaves for which the addon is called. For fewer leaves the fallback is faster. */
const NATIVE_PATH_LEAVES = 3;

/**
 * Siblings of leaf `index`, from the leaves upward; empty if there is only one leaf. `leaves` are the concatenated hashes.
 * `index` must be less than the number of leaves.
 */
export function merklePath(leaves: Bytes, index: number): Buffer[] {
  const count = leaves.length / HASH_SIZE;
  assert(index >= 0 && index < count, 'merkle path of a leaf that does not exist');
  const path = Buffer.allocUnsafe(MAX_LEVELS * HASH_SIZE);
  const native = count >= NATIVE_PATH_LEAVES ? loadNative() : null;
  const levels = native ? native.merklePath(leaves, index, path) : merklePathFallback(leaves, index, path);
  const siblings: Buffer[] = [];
  for (let at = 0; at < levels * HASH_SIZE; at += HASH_SIZE) siblings.push(path.subarray(at, at + HASH_SIZE));
  return siblings;
}

/** TypeScript fallback of the addon's `merklePath`. */
export function merklePathFallback(leaves: Bytes, index: number, path: Bytes): number {
  const flat = Buffer.alloc(leaves.length + HASH_SIZE);
  flat.set(leaves);
  let position = index;
  let levels = 0;
  for (let count = leaves.length / HASH_SIZE; count > 1; count = foldLevel(flat, count)) {
    const sibling = Math.min(position ^ 1, count - 1) * HASH_SIZE;
    path.set(flat.subarray(sibling, sibling + HASH_SIZE), levels++ * HASH_SIZE);
    position >>= 1;
  }
  return levels;
}

/** The root computed from `leaf` at `index` and the siblings of `merklePath`. */
export function rootFromPath(leaf: Bytes, path: readonly Bytes[], index: number): Buffer {
  let root: Buffer = Buffer.from(leaf);
  let position = index;
  for (const sibling of path) {
    root = position & 1 ? sha256dPair(sibling, root) : sha256dPair(root, sibling);
    position >>= 1;
  }
  return root;
}
