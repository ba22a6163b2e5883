/** The row of a trie node, and the row with a previous slot that older folders have. */
import { areSlots, type Slot } from '../../../claimtrie/slots.js';
import type { TrieNode } from '../../../claimtrie/trieNode.js';
import { asBuffer, type Bytes } from '../../../util/bytes.js';
import { ReadError } from '../../../util/reader.js';

const FLAG_CLAIMS = 1;
const HASH_BYTES = 32;

/** Format: a byte that shows whether the claims' hash follows; that hash; the slots. */
export function formatNodeRow({ slots, claimsHash }: TrieNode): Buffer {
  const slotsAt = claimsHash ? 1 + HASH_BYTES : 1;
  const row = Buffer.allocUnsafe(slotsAt + slots.length);
  row[0] = claimsHash ? FLAG_CLAIMS : 0;
  if (claimsHash) row.set(claimsHash, 1);
  slots.copy(row, slotsAt);
  return row;
}

/** Slots and hash are views into the row. */
export function parseNodeRow(bytes: Bytes): TrieNode {
  const row = asBuffer(bytes);
  const slotsAt = row[0] === FLAG_CLAIMS ? 1 + HASH_BYTES : 1;
  const slots = row.subarray(slotsAt);
  if (row.length < slotsAt || !areSlots(slots)) throw new ReadError('a node of the claim trie is damaged');
  return { slots, claimsHash: slotsAt > 1 ? row.subarray(1, slotsAt) : null };
}

/**
 * A slot before a block, in the format of older folders: hash and edge, without the first byte of the edge, which is in the
 * key. An empty row stands for no slot: null. The row does not show whether the child was a leaf, which proofs do not need.
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
