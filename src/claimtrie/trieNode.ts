/**
 * A node of the claim trie as it is stored: the slots towards its children and the claims' part of its hash.
 * Defines the two hash forms of a node. A slot contains the raw hash of its child; leaves have no record of their own.
 * Source: lbrycrd `recursiveMerkleHash`, `completeHash`, `recursiveBinaryTreeHash`.
 */
import { sha256d, sha256dPair } from '../crypto/hash.js';
import { loadNative } from '../native/binding.js';
import { asBuffer, type Bytes } from '../util/bytes.js';
import { rootOfLeaves } from './fastHash.js';
import { countSlots, patchSlot, SlotCursor, slotHashes } from './slots.js';

/** Root of an empty trie: the number 1. */
export const EMPTY_ROOT: Bytes = marker(1);
/** In the all-claims form: hash used instead of the merkle root over the children when a node has no children. */
const NO_CHILDREN = marker(2);
/** In the all-claims form: hash used instead of the merkle root over the claims when a node has no claims. */
const NO_CLAIMS = marker(3);

function marker(value: number): Buffer {
  const bytes = Buffer.alloc(32);
  bytes[0] = value;
  return bytes;
}

export interface TrieNode {
  /** Packed (`slots.ts`). */
  slots: Buffer;
  /** Hash of the node's claims: 32 bytes, or null if the name has no active claim. */
  claimsHash: Bytes | null;
}

/**
 * Old hash form: combines a child's hash with the bytes of its edge after the first byte. Each byte is hashed as H(byte ‖
 * hash), starting with the last byte.
 */
export function completeEdge(edge: string, childHash: Bytes): Bytes {
  let hash = childHash;
  if (edge.length === 1) return hash;
  const message = Buffer.allocUnsafe(33);
  for (let i = edge.length - 1; i >= 1; i--) {
    message[0] = edge.charCodeAt(i);
    asBuffer(hash).copy(message, 1);
    hash = sha256d(message);
  }
  return hash;
}

function oldHash(slots: Buffer, claims: Bytes | null): Bytes {
  const message = Buffer.allocUnsafe(countSlots(slots) * 33 + (claims ? 32 : 0));
  const cursor = new SlotCursor();
  let at = 0;
  for (let more = cursor.load(slots, 0); more; more = cursor.next()) {
    message[at] = cursor.first;
    message.set(completeEdge(cursor.edge, cursor.hash), at + 1);
    at += 33;
  }
  if (claims) message.set(claims, at);
  return sha256d(message);
}

/** The left half of the message that is hashed in the all-claims form. Computed from the concatenated hashes of the children. */
export function childrenHash(hashes: Buffer): Bytes {
  return hashes.length === 0 ? NO_CHILDREN : rootOfLeaves(hashes);
}

/**
 * The right half of the message that is hashed in the all-claims form: the hash of the node's claims, or a marker if there
 * are none.
 */
export function claimsHalf(claims: Bytes | null): Bytes {
  return claims ?? NO_CLAIMS;
}

/** Hash of a node. TypeScript fallback of the addon's `claimNodeHash`. */
export function nodeHashFallback(slots: Buffer, claims: Bytes | null, allClaims: boolean): Bytes {
  return allClaims
    ? sha256dPair(childrenHash(slotHashes(slots)), claimsHalf(claims))
    : oldHash(slots, claims);
}

/** Buffer to which the addon writes a hash. */
const written = Buffer.alloc(32);

/** Computes the hash of a node that has slots or claims. */
export function nodeHash({ slots, claimsHash }: TrieNode, allClaims: boolean): Bytes {
  const native = loadNative();
  if (!native) return nodeHashFallback(slots, claimsHash, allClaims);
  native.claimNodeHash(slots, claimsHash, allClaims, written);
  return Buffer.from(written);
}

/**
 * Computes the hash of a node, and writes it to the slot of its parent whose edge begins with the byte `first`. Returns
 * false if `parentSlots` have no such slot.
 */
export function hashIntoParent(
  node: TrieNode,
  allClaims: boolean,
  parentSlots: Buffer,
  first: number,
): boolean {
  const native = loadNative();
  if (native) return native.claimNodeHashInto(node.slots, node.claimsHash, allClaims, parentSlots, first);
  return hashIntoParentFallback(node, allClaims, parentSlots, first);
}

const cursor = new SlotCursor();

/** TypeScript fallback of the addon's `claimNodeHashInto`. */
export function hashIntoParentFallback(
  { slots, claimsHash }: TrieNode,
  allClaims: boolean,
  parentSlots: Buffer,
  first: number,
): boolean {
  const hash = nodeHashFallback(slots, claimsHash, allClaims);
  if (!cursor.seek(parentSlots, first)) return false;
  patchSlot(parentSlots, cursor, hash, slots.length === 0);
  return true;
}

/** Root hash of the trie with this root node. Null stands for an empty trie. */
export function rootHash(root: TrieNode | null, allClaims: boolean): Bytes {
  if (root === null || (root.slots.length === 0 && root.claimsHash === null)) return EMPTY_ROOT;
  return nodeHash(root, allClaims);
}
