/** Packed slots return the same as a list of slots after lookups, changes and removals. */
import { describe, expect, it } from 'vitest';
import {
  areSlots,
  countSlots,
  packSlot,
  packSlots,
  patchSlot,
  SlotCursor,
  spliceSlots,
  unpackSlots,
  type Slot,
} from '../../../src/claimtrie/slots.js';
import { AssertionError } from '../../../src/util/assert.js';

const slotOf = (edge: string, fill: number, leaf = false): Slot => ({
  edge,
  hash: Buffer.alloc(32, fill),
  leaf,
});

const SLOTS: Slot[] = [
  slotOf('\0', 1, true),
  slotOf('a', 2),
  slotOf('bcd', 3, true),
  slotOf('m'.repeat(63), 4),
  slotOf('n'.repeat(64), 5, true),
  slotOf('o'.repeat(8191), 6),
  slotOf('p'.repeat(8192), 7, true),
  slotOf('\xff\xfe', 8),
];

describe('packed slots', () => {
  it('round-trip, for any length of an edge', () => {
    const packed = packSlots(SLOTS);
    expect(unpackSlots(packed)).toEqual(SLOTS);
    expect(countSlots(packed)).toBe(SLOTS.length);
    expect(areSlots(packed)).toBe(true);
    expect(areSlots(packSlots([]))).toBe(true);
    for (const length of [1, 33, 35, packed.length - 1])
      expect(areSlots(packed.subarray(0, length))).toBe(false);
    expect(areSlots(Buffer.alloc(40))).toBe(false);
    expect(areSlots(Buffer.alloc(40, 0xff))).toBe(false);
    expect(() => packSlot('', Buffer.alloc(32), true)).toThrow(AssertionError);
  });

  it('are found by the first byte of their edge, or the position where one would be', () => {
    const packed = packSlots(SLOTS);
    const cursor = new SlotCursor();
    for (const { edge, hash, leaf } of SLOTS) {
      expect(cursor.seek(packed, edge.charCodeAt(0))).toBe(true);
      expect([cursor.edge, cursor.edgeLength, cursor.leaf]).toEqual([edge, edge.length, leaf]);
      expect(cursor.hash).toEqual(hash);
      expect(cursor.commonLength(`__${edge}xyz`, 2)).toBe(edge.length);
      expect(cursor.commonLength(`__${edge.slice(0, -1)}`, 2)).toBe(edge.length - 1);
      expect(cursor.commonLength(`__${edge.slice(0, -1)}?`, 2)).toBe(edge.length - 1);
    }
    for (const code of [1, 99, 113, 200, 254]) {
      expect(cursor.seek(packed, code)).toBe(false);
      const added = slotOf(String.fromCharCode(code), 9);
      const more = spliceSlots(packed, cursor.at, cursor.at, packSlot(added.edge, added.hash, added.leaf));
      const sorted = [...SLOTS, added].sort((a, b) => (a.edge < b.edge ? -1 : 1));
      expect(unpackSlots(more)).toEqual(sorted);
      expect(cursor.seek(more, code)).toBe(true);
      expect(spliceSlots(more, cursor.at, cursor.end, Buffer.alloc(0))).toEqual(packed);
    }
    expect(cursor.seek(Buffer.alloc(0), 5)).toBe(false);
    expect(cursor.at).toBe(0);
  });

  it('change in place, and report the change', () => {
    const before = packSlots(SLOTS);
    const after = Buffer.from(before);
    const [old, now] = [new SlotCursor(), new SlotCursor()];
    for (const [i, { edge, leaf }] of SLOTS.entries()) {
      const code = edge.charCodeAt(0);
      old.seek(before, code);
      now.seek(after, code);
      expect(now.equals(old)).toBe(true);
      patchSlot(after, now, old.hash, !leaf);
      now.seek(after, code);
      // Whether the child is a leaf follows from its hash.
      expect([now.equals(old), now.leaf]).toEqual([true, !leaf]);
      patchSlot(after, now, Buffer.alloc(32, 100 + i), leaf);
      expect(now.equals(old)).toBe(false);
    }
    expect(unpackSlots(after)).toEqual(SLOTS.map(({ edge, leaf }, i) => slotOf(edge, 100 + i, leaf)));
    old.seek(before, 97);
    now.seek(packSlots([slotOf('ab', 2)]), 97);
    expect(now.equals(old)).toBe(false);
  });
});
