/**
 * The edges from a node of the claim trie to its children, as stored: packed into one byte string. Connecting a block visits
 * ten thousand nodes and changes one in ten, so the slots are read in packed form. Only proofs create objects.
 *
 * Layout, per slot in ascending order of the first byte of the edge: twice the length of the edge, plus one for a leaf,
 * as a little-endian base-128 number; the edge; the 32-byte hash of the child.
 */
import { assert } from '../util/assert.js';
import type { Bytes } from '../util/bytes.js';

const HASH_BYTES = 32;
const LEAF = 1;

/** No children. */
export const NO_SLOTS: Buffer = Buffer.alloc(0);

/** The edge to one child. */
export interface Slot {
  /** Bytes from the node's path to the child's, at least one; the first distinguishes the slots of a node. */
  readonly edge: string;
  readonly hash: Bytes;
  /** Whether the child has no children. Such a child has no record of its own. */
  readonly leaf: boolean;
}

/** A position in packed slots: at a slot, or between two slots. Cursors are reused, so that a search allocates no memory. */
export class SlotCursor {
  private slots = NO_SLOTS;
  /** Offset of the current slot in the packed slots. */
  at = 0;
  edgeAt = 0;
  /** Offset of the hash in the slot, which follows the edge. */
  hashAt = 0;
  leaf = false;

  /** Moves to the slot that begins at offset `at`. Returns false if `at` is the end of the slots. */
  load(slots: Buffer, at: number): boolean {
    this.slots = slots;
    this.at = at;
    if (at >= slots.length) return false;
    let byte = slots[at]!;
    let head = byte & 0x7f;
    let next = at + 1;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = slots[next++]!;
      head |= (byte & 0x7f) << shift;
    }
    this.leaf = (head & LEAF) !== 0;
    this.edgeAt = next;
    this.hashAt = next + (head >>> 1);
    return true;
  }

  /** Moves to the next slot. Returns false after the last slot. */
  next(): boolean {
    return this.load(this.slots, this.end);
  }

  /**
   * Moves to the slot whose edge begins with `code`. Returns false if no slot matches. The cursor is then at the position at
   * which the slot would be inserted.
   */
  seek(slots: Buffer, code: number): boolean {
    for (let more = this.load(slots, 0); more; more = this.next()) {
      const first = this.first;
      if (first >= code) return first === code;
    }
    return false;
  }

  get end(): number {
    return this.hashAt + HASH_BYTES;
  }

  /** First byte of the edge. */
  get first(): number {
    return this.slots[this.edgeAt]!;
  }

  get edgeLength(): number {
    return this.hashAt - this.edgeAt;
  }

  get edge(): string {
    // The engine caches strings of one character, so `fromCharCode` is much faster than decoding.
    if (this.edgeLength === 1) return String.fromCharCode(this.first);
    return this.slots.toString('latin1', this.edgeAt, this.hashAt);
  }

  /** Hash of the child, as a view of the slots. */
  get hash(): Buffer {
    return this.slots.subarray(this.hashAt, this.end);
  }

  copyHash(target: Buffer, at: number): void {
    this.slots.copy(target, at, this.hashAt, this.end);
  }

  /** Copies the edge without its first `skip` bytes to `target`. */
  copyEdge(target: Buffer, at: number, skip: number): void {
    this.slots.copy(target, at, this.edgeAt + skip, this.hashAt);
  }

  /** Length of the common prefix of the edge and of `name` from `depth` on. */
  commonLength(name: string, depth: number): number {
    const most = Math.min(this.edgeLength, name.length - depth);
    let length = 0;
    while (length < most && this.slots[this.edgeAt + length] === name.charCodeAt(depth + length)) length++;
    return length;
  }

  /** Whether both slots have the same edge and the same hash. */
  equals(other: SlotCursor): boolean {
    const length = this.end - this.edgeAt;
    if (other.end - other.edgeAt !== length) return false;
    // Compares from the end, because hashes differ more often than edges.
    for (let i = length - 1; i >= 0; i--) {
      if (this.slots[this.edgeAt + i] !== other.slots[other.edgeAt + i]) return false;
    }
    return true;
  }
}

export function packSlot(edge: string, hash: Bytes, leaf: boolean): Buffer {
  assert(edge.length > 0, 'a slot of the claim trie without an edge');
  let head = edge.length * 2 + (leaf ? LEAF : 0);
  const size = (head < 0x80 ? 1 : head < 0x4000 ? 2 : 3) + edge.length + HASH_BYTES;
  const slot = Buffer.allocUnsafe(size);
  let at = 0;
  for (; head >= 0x80; head >>>= 7) slot[at++] = (head & 0x7f) | 0x80;
  slot[at++] = head;
  at += slot.write(edge, at, 'latin1');
  slot.set(hash, at);
  return slot;
}

export function packSlots(slots: readonly Slot[]): Buffer {
  return Buffer.concat(slots.map(({ edge, hash, leaf }) => packSlot(edge, hash, leaf)));
}

/** Unpacks the slots. The hashes are views of `slots`. */
export function unpackSlots(slots: Buffer): Slot[] {
  const unpacked: Slot[] = [];
  const cursor = new SlotCursor();
  for (let more = cursor.load(slots, 0); more; more = cursor.next()) {
    const { edge, hash, leaf } = cursor;
    unpacked.push({ edge, hash, leaf });
  }
  return unpacked;
}

/** Returns the edges of the slots, in order. */
export function slotEdges(slots: Buffer): string[] {
  const edges: string[] = [];
  const cursor = new SlotCursor();
  for (let more = cursor.load(slots, 0); more; more = cursor.next()) edges.push(cursor.edge);
  return edges;
}

/** Returns the concatenated hashes of the children. */
export function slotHashes(slots: Buffer): Buffer {
  const hashes = Buffer.allocUnsafe(countSlots(slots) * HASH_BYTES);
  const cursor = new SlotCursor();
  let at = 0;
  for (let more = cursor.load(slots, 0); more; more = cursor.next(), at += HASH_BYTES)
    cursor.copyHash(hashes, at);
  return hashes;
}

export function countSlots(slots: Buffer): number {
  const cursor = new SlotCursor();
  let count = 0;
  for (let more = cursor.load(slots, 0); more; more = cursor.next()) count++;
  return count;
}

/** Whether the bytes are a valid sequence of slots. */
export function areSlots(slots: Buffer): boolean {
  const cursor = new SlotCursor();
  let end = 0;
  while (cursor.load(slots, end)) {
    if (cursor.edgeLength < 1 || !(cursor.end <= slots.length)) return false;
    end = cursor.end;
  }
  return end === slots.length;
}

/** Returns a copy of the slots in which the bytes from `from` to `to` are replaced by `piece`. */
export function spliceSlots(slots: Buffer, from: number, to: number, piece: Bytes): Buffer {
  const spliced = Buffer.allocUnsafe(slots.length - (to - from) + piece.length);
  slots.copy(spliced, 0, 0, from);
  spliced.set(piece, from);
  slots.copy(spliced, from + piece.length, to);
  return spliced;
}

/** Overwrites the hash and the leaf flag of the slot at the cursor. The cursor must belong to these slots. */
export function patchSlot(slots: Buffer, { at, hashAt }: SlotCursor, hash: Bytes, leaf: boolean): void {
  slots[at] = (slots[at]! & ~LEAF) | (leaf ? LEAF : 0);
  slots.set(hash, hashAt);
}
