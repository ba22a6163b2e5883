/** The row of a trie node, and the row of a node's previous slot, which only data folders of older versions contain. */
import { areSlots, type Slot } from '../../../claimtrie/slots.js';
import type { TrieNode } from '../../../claimtrie/trieNode.js';
import { asBuffer, type Bytes } from '../../../util/bytes.js';
import { ReadError } from '../../../util/reader.js';

const FLAG_CLAIMS = 1;
const HASH_BYTES = 32;

/** Row format: a byte that tells whether the hash of the claims follows; this hash; the slots. */
export function formatNodeRow({ slots, claimsHash }: TrieNode): Buffer {
  const slotsAt = claimsHash ? 1 + HASH_BYTES : 1;
  const row = Buffer.allocUnsafe(slotsAt + slots.length);
  row[0] = claimsHash ? FLAG_CLAIMS : 0;
  if (claimsHash) row.set(claimsHash, 1);
  slots.copy(row, slotsAt);
  return row;
}

/** Parses a node. Slots and hash are views of the row. */
export function parseNodeRow(bytes: Bytes): TrieNode {
  const row = asBuffer(bytes);
  const slotsAt = row[0] === FLAG_CLAIMS ? 1 + HASH_BYTES : 1;
  const slots = row.subarray(slotsAt);
  if (row.length < slotsAt || !areSlots(slots)) throw new ReadError('a node of the claim trie is corrupt');
  return { slots, claimsHash: slotsAt > 1 ? row.subarray(1, slotsAt) : null };
}

/**
 * Parses the previous state of a slot, in the format of older versions: hash and edge, without the first byte of the edge,
 * which is in the key. An empty row means that the slot did not exist; the result is then null. The row does not show
 * whether the child was a leaf, because proofs do not need it.
 */
export function parseSlotNote(firstByte: number, row: Bytes): Slot | null {
  if (row.length === 0) return null;
  const bytes = asBuffer(row);
  return {
    edge: String.fromCharCode(firstByte) + bytes.toString('latin1', HASH_BYTES),
    hash: bytes.subarray(0, HASH_BYTES),
    leaf: false,
  };
}
