/** The row of a trie node, and the row of one of its slots as it was before a block. */
import type { Slot, TrieNode } from '../../claimtrie/trieNode.js';
import { asBuffer, type Bytes } from '../../util/bytes.js';
import { RowDecoder, RowEncoder } from './rowCodec.js';

const FLAG_CLAIMS = 1;
const FLAG_LEAF = 1;

const encoder = new RowEncoder();

export function formatNodeRow(node: TrieNode): Buffer {
  encoder.byte(node.claimsHash ? FLAG_CLAIMS : 0);
  if (node.claimsHash) encoder.bytes(node.claimsHash);
  for (const { edge, hash, leaf } of node.slots) {
    encoder
      .number(edge.length * 2 + (leaf ? FLAG_LEAF : 0))
      .raw(edge)
      .bytes(hash);
  }
  return encoder.finish();
}

/** The hashes are views into the row. */
export function parseNodeRow(row: Bytes): TrieNode {
  const input = new RowDecoder(row);
  const claimsHash = input.byte() & FLAG_CLAIMS ? input.bytes(32) : null;
  const slots: Slot[] = [];
  while (!input.done) {
    const header = input.number();
    const edge = input.raw(header >>> 1);
    slots.push({ edge, hash: input.bytes(32), leaf: (header & FLAG_LEAF) !== 0 });
  }
  return { slots, claimsHash };
}

const NO_SLOT = Buffer.alloc(0);

/** What a slot was before a block: null when there was none. The first byte of the edge is in the key. */
export function formatVersionRow(slot: Slot | null): Buffer {
  if (slot === null) return NO_SLOT;
  const row = Buffer.allocUnsafe(31 + slot.edge.length);
  row.set(slot.hash, 0);
  if (slot.edge.length > 1) row.write(slot.edge.slice(1), 32, 'latin1');
  return row;
}

export function parseVersionRow(firstByte: number, row: Bytes): { edge: string; hash: Bytes } | null {
  if (row.length === 0) return null;
  const bytes = asBuffer(row);
  return {
    edge: String.fromCharCode(firstByte) + bytes.toString('latin1', 32),
    hash: bytes.subarray(0, 32),
  };
}

/** Decoded nodes by key, the least recently used dropped first. A hit counts only for the very same row. */
export class NodeCache {
  private readonly entries = new Map<string, { row: Bytes; node: TrieNode }>();
  private readonly capacity: number;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  parse(key: string, row: Bytes): TrieNode {
    const known = this.entries.get(key);
    if (known) {
      this.entries.delete(key);
      if (known.row === row) {
        this.entries.set(key, known);
        return known.node;
      }
    }
    const node = parseNodeRow(row);
    this.remember(key, row, node);
    return node;
  }

  private remember(key: string, row: Bytes, node: TrieNode): void {
    this.entries.set(key, { row, node });
    if (this.entries.size <= this.capacity) return;
    const oldest = this.entries.keys().next();
    if (!oldest.done) this.entries.delete(oldest.value);
  }
}
