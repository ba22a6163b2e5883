/** Records of the changes of blocks to a node: their content, how many contain the whole node, and corrupt rows. */
import { describe, expect, it } from 'vitest';
import { packSlots, unpackSlots, type Slot } from '../../../../../src/claimtrie/slots.js';
import {
  formatNodeNote,
  joinNotes,
  noteOf,
  noteRow,
  noteRowFallback,
  parseNodeNote,
  type NodeNote,
} from '../../../../../src/store/claims/rows/nodeNote.js';
import { ReadError } from '../../../../../src/util/reader.js';

type Slots = ReadonlyMap<number, Slot>;

let drawn = 7;
const random = (below: number): number => (drawn = (drawn * 48271) % 2147483647) % below;

function slotOf(first: number): Slot {
  const edge = String.fromCharCode(first) + 'x'.repeat(random(3));
  return { edge, hash: Buffer.alloc(32, random(256)).fill(random(256), 0, 8), leaf: random(2) === 0 };
}

const pack = (slots: Slots): Buffer =>
  packSlots([...slots.keys()].sort((a, b) => a - b).map((first) => slots.get(first)!));

/** The node after a block that gives, takes and changes some slots. */
function changed(slots: Slots, changes: number): Slots {
  const after = new Map(slots);
  for (let i = 0; i < changes; i++) {
    const first = random(256);
    if (random(4) === 0) after.delete(first);
    else after.set(first, slotOf(first));
  }
  return after;
}

const row = (slots: Buffer) => ({ slots, claimsHash: null });

/** The note that is read from its row. If the addon is loaded, it writes the same row as the fallback. */
function noted(before: Buffer, after: Buffer, height: number): NodeNote | null {
  const change = { path: 'path', before: row(before), after: row(after) };
  const note = noteRow(change, height);
  expect(note).toEqual(noteRowFallback(change, height));
  return note && parseNodeNote(note);
}

describe('notes of a node', () => {
  it.each([
    [3, 2],
    [40, 3],
    [200, 1],
    [256, 60],
  ])('return its state after every block: %s slots, %s changes a block', (count, changes) => {
    let slots: Slots = new Map(Array.from({ length: count }, (_, i) => [i, slotOf(i)]));
    const states = [pack(slots)];
    const notes: (NodeNote | null)[] = [];
    for (let height = 1; height <= 300; height++) {
      slots = changed(slots, random(changes + 1));
      notes.push(noted(states.at(-1)!, pack(slots), height));
      states.push(pack(slots));
    }
    expect(notes.some((note) => note?.whole === false)).toBe(true);
    expect(notes.some((note) => note?.whole === true)).toBe(true);
    const present: NodeNote = { whole: true, gone: Buffer.alloc(0), slots: states.at(-1)! };
    for (const [height, state] of states.entries()) {
      const later = notes.slice(height).filter((note) => note !== null);
      const then = joinNotes([...later, present]);
      expect(then.whole).toBe(true);
      expect(then.slots.equals(state)).toBe(true);
    }
  });

  it('of two batches of one block return the state before both', () => {
    for (let i = 0; i < 200; i++) {
      const slots = changed(new Map(), random(i % 2 === 0 ? 4 : 200));
      const between = changed(slots, 1 + random(6));
      const after = changed(between, 1 + random(6));
      const notes = [noted(pack(slots), pack(between), i), noted(pack(between), pack(after), i)].filter(
        (note) => note !== null,
      );
      const both = parseNodeNote(formatNodeNote(joinNotes(notes)));
      const present: NodeNote = { whole: true, gone: Buffer.alloc(0), slots: pack(after) };
      expect(unpackSlots(joinNotes([both, present]).slots)).toEqual(unpackSlots(pack(slots)));
    }
  });

  it('are omitted for a node with unchanged slots, and complete for a new node', () => {
    const slots = pack(new Map([[97, slotOf(97)]]));
    expect(noted(slots, Buffer.from(slots), 5)).toBeNull();
    expect(noteOf({ path: '', before: null, after: row(slots) }, 5)).toMatchObject({ whole: true });
    expect(formatNodeNote(noteOf({ path: '', before: null, after: row(slots) }, 5)!)).toHaveLength(1);
  });

  it('contain the whole node at similar distances, and take little more space for it', () => {
    const slots = new Map(Array.from({ length: 200 }, (_, i) => [i, slotOf(i)]));
    const before = pack(slots);
    let last = 0;
    let longest = 0;
    let bytes = 0;
    let partBytes = 0;
    for (let height = 1; height <= 5000; height++) {
      const first = height % 200;
      const after = pack(new Map(slots).set(first, { ...slots.get(first)!, hash: Buffer.alloc(32, 255) }));
      const note = noted(before, after, height)!;
      bytes += note.slots.length;
      if (note.whole) {
        longest = Math.max(longest, height - last);
        last = height;
      } else partBytes += note.slots.length;
    }
    expect(longest).toBeLessThan(3 * 200);
    expect(bytes).toBeLessThan(2.1 * partBytes);
  });

  it('are refused if truncated', () => {
    const slots = pack(new Map(Array.from({ length: 30 }, (_, i) => [i, slotOf(i)])));
    const part: NodeNote = { whole: false, gone: Buffer.from([40, 41]), slots: slots.subarray(0, 0) };
    const formatted = formatNodeNote({ ...part, slots });
    expect(parseNodeNote(formatted)).toEqual({ ...part, slots });
    for (const length of [0, 1, 2, 3]) {
      expect(() => parseNodeNote(formatted.subarray(0, length)), `${length}`).toThrow(ReadError);
    }
    expect(() => parseNodeNote(formatted.subarray(0, formatted.length - 1))).toThrow(ReadError);
    expect(() => parseNodeNote(Buffer.concat([Buffer.of(2), formatted.subarray(1)]))).toThrow(ReadError);
  });
});
