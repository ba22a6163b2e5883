/**
 * A node of the claim trie as it is stored: the slots towards its children and the claims' part of its hash.
 * Owns the two hash forms of a node. A slot carries the raw hash of its child; leaves have no record of their own.
 * Source: lbrycrd `recursiveMerkleHash`, `completeHash`, `recursiveBinaryTreeHash`.
 */
import { sha256dPair } from '../crypto/hash.js';
import { asBuffer, type Bytes } from '../util/bytes.js';
import { hash256, rootOf } from './fastHash.js';

/** Root of an empty trie: the number 1. */
export const EMPTY_ROOT: Bytes = marker(1);
/** Stands for the children of a node without any, in the form with all claims. */
const NO_CHILDREN = marker(2);
/** Stands for the claims of a node without any. */
const NO_CLAIMS = marker(3);

function marker(value: number): Buffer {
  const bytes = Buffer.alloc(32);
  bytes[0] = value;
  return bytes;
}

/** The way to one child. Frozen once stored: it may be shared by many versions of its node. */
export interface Slot {
  /** Bytes from the node's path to the child's, at least one; the first tells the slots of a node apart. */
  readonly edge: string;
  readonly hash: Bytes;
  /** Whether the child has no children, hence no record. */
  readonly leaf: boolean;
  /** The old form's hash of the whole edge, once computed. */
  edgeHash?: Bytes;
}

export interface TrieNode {
  /** In ascending order of the first byte of the edge. */
  slots: readonly Slot[];
  /** 32 bytes; null when no active claim lives here. */
  claimsHash: Bytes | null;
}

/** Position of the slot whose edge begins with `code`, or the complement (`~`) of where it would stand. */
export function findSlot(slots: readonly { readonly edge: string }[], code: number): number {
  let low = 0;
  let high = slots.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = slots[middle]!.edge.charCodeAt(0);
    if (at === code) return middle;
    if (at < code) low = middle + 1;
    else high = middle;
  }
  return ~low;
}

/** Old form: each byte after the first on the way to the child is hashed as H(byte ‖ hash), the last one first. */
export function completeEdge(slot: Slot): Bytes {
  if (slot.edgeHash !== undefined) return slot.edgeHash;
  const { edge } = slot;
  let hash = slot.hash;
  if (edge.length > 1) {
    const message = Buffer.allocUnsafe(33);
    for (let i = edge.length - 1; i >= 1; i--) {
      message[0] = edge.charCodeAt(i);
      asBuffer(hash).copy(message, 1);
      hash = hash256(message);
    }
  }
  slot.edgeHash = hash;
  return hash;
}

function oldHash(slots: readonly Slot[], claims: Bytes | null): Bytes {
  const message = Buffer.allocUnsafe(slots.length * 33 + (claims ? 32 : 0));
  let at = 0;
  for (const slot of slots) {
    message[at] = slot.edge.charCodeAt(0);
    message.set(completeEdge(slot), at + 1);
    at += 33;
  }
  if (claims) message.set(claims, at);
  return hash256(message);
}

/** The left half of the form with all claims. */
export function childrenHash(slots: readonly Slot[]): Bytes {
  return slots.length === 0 ? NO_CHILDREN : rootOf(slots.map((slot) => slot.hash));
}

/** The right half of the form with all claims. */
export function claimsHalf(claims: Bytes | null): Bytes {
  return claims ?? NO_CLAIMS;
}

/** Hash of a node that has slots or claims. */
export function nodeHash(node: TrieNode, allClaims: boolean): Bytes {
  if (!allClaims) return oldHash(node.slots, node.claimsHash);
  return sha256dPair(childrenHash(node.slots), claimsHalf(node.claimsHash));
}

/** Root of the trie whose root node is given; null stands for an empty trie. */
export function rootHash(root: TrieNode | null, allClaims: boolean): Bytes {
  if (root === null || (root.slots.length === 0 && root.claimsHash === null)) return EMPTY_ROOT;
  return nodeHash(root, allClaims);
}
