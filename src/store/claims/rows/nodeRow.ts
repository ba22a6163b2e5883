/** The row of a trie node, and in older folders the row of one of its slots as it was before a block. */
import { areSlots, type Slot } from '../../../claimtrie/slots.js';
import type { TrieNode } from '../../../claimtrie/trieNode.js';
import { asBuffer, type Bytes } from '../../../util/bytes.js';
import { ReadError } from '../../../util/reader.js';

const FLAG_CLAIMS = 1;
const HASH_BYTES = 32;

/** A byte that says whether the claims' hash follows, that hash, the slots. */
export function formatNodeRow({ slots, claimsHash }: TrieNode): Buffer {
  const slotsAt = claimsHash ? 1 + HASH_BYTES : 1;
  const row = Buffer.allocUnsafe(slotsAt + slots.length);
  row[0] = claimsHash ? FLAG_CLAIMS : 0;
  if (claimsHash) row.set(claimsHash, 1);
  slots.copy(row, slotsAt);
  return row;
}

/** Views into the row. */
export function parseNodeRow(bytes: Bytes): TrieNode {
  const row = asBuffer(bytes);
  const slotsAt = row[0] === FLAG_CLAIMS ? 1 + HASH_BYTES : 1;
  const slots = row.subarray(slotsAt);
  if (row.length < slotsAt || !areSlots(slots)) throw new ReadError('a node of the claim trie is damaged');
  return { slots, claimsHash: slotsAt > 1 ? row.subarray(1, slotsAt) : null };
}

/**
 * What a slot was before a block, as older folders have it: hash and edge except for its first byte, which the key has;
 * null, of an empty row, when there was none. Whether the child was a leaf is not kept: proofs do not ask.
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
