/**
 * Computes hashes of the trie with the addon if it is loaded, else with the fallbacks in TypeScript. For few hashes it uses
 * the fallback even if the addon is loaded, because the call into the addon would take longer. Test:
 * test/unit/claimtrie/fastHash.test.ts.
 */
import { sha256dPair } from '../crypto/hash.js';
import { merkleRoot } from '../crypto/merkle.js';
import { loadNative } from '../native/binding.js';
import type { Bytes } from '../util/bytes.js';

const HASH_BYTES = 32;
/** Minimum number of leaves for which the addon is called. Measured: from three leaves on, one native call is faster. */
const NATIVE_LEAVES = 3;

/** Buffer in which leaves are concatenated for the addon. Grows to the size of the widest node. */
let leaves = Buffer.alloc(256 * HASH_BYTES);

/** Returns Bitcoin's merkle root of the hashes; at least one hash is required. */
export function rootOf(hashes: readonly Bytes[]): Bytes {
  const { length } = hashes;
  if (length === 1) return hashes[0]!;
  const native = length >= NATIVE_LEAVES ? loadNative() : null;
  if (native) return native.merkleRoot(packed(hashes)).root;
  if (length > 2) return merkleRoot(hashes).root;
  return sha256dPair(hashes[0]!, hashes[1]!);
}

/** Returns Bitcoin's merkle root of the concatenated hashes; at least one is required. */
export function rootOfLeaves(flat: Buffer): Bytes {
  if (flat.length === HASH_BYTES) return flat;
  const native = flat.length >= NATIVE_LEAVES * HASH_BYTES ? loadNative() : null;
  if (native) return native.merkleRoot(flat).root;
  return merkleRoot(
    Array.from({ length: flat.length / HASH_BYTES }, (_, i) =>
      flat.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES),
    ),
  ).root;
}

/** Concatenates the hashes. The result is a view that is valid until the next call. */
function packed(hashes: readonly Bytes[]): Buffer {
  const bytes = hashes.length * HASH_BYTES;
  if (bytes > leaves.length) leaves = Buffer.alloc(2 * bytes);
  hashes.forEach((hash, i) => leaves.set(hash, i * HASH_BYTES));
  return leaves.subarray(0, bytes);
}
