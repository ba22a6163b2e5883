/**
 * A node of the trie after a past block: its present slots, overlaid with the previous slots that later blocks noted when
 * they changed them. Owns the search of the notes; their formats are in `nodeNote.ts` and, for older folders, in
 * `nodeRow.ts`.
 */
import { packSlot } from '../../../claimtrie/slots.js';
import { u32Key } from '../../rows/keys.js';
import type { RowReader } from '../../rows/rows.js';
import { nodeNotesKey, readU32, slotNotesKey, type Generation } from '../rows/claimKeys.js';
import { joinNotes, parseNodeNote, type NodeNote } from '../rows/nodeNote.js';
import { parseSlotNote } from '../rows/nodeRow.js';
import { epochEnd, epochOf, type ProofWindow } from '../versions.js';

export interface PastBlock {
  readonly window: ProofWindow;
  readonly generation: Generation;
  readonly height: number;
  /** The first block whose changes are noted by node (`readNotedFrom`), read before any data of a node. */
  readonly notedFrom: number;
}

/**
 * Numbers of notes and of blocks that are read in one call. The first calls read few, because one note may be enough for a
 * node that changes in every block, and because all rows of the range that are in memory are copied. The first step is only
 * for wide nodes, whose notes are long. Arbitrary.
 */
const STEPS = [
  { blocks: 8, notes: 2 },
  { blocks: 128, notes: 16 },
  { blocks: Infinity, notes: 64 },
] as const;
/** Slots of a wide node, in bytes: some sixty. Arbitrary. */
const WIDE_BYTES = 2048;
/** Notes of the older form that are read in one call. Arbitrary: most nodes have fewer since the requested block. */
const SLOT_NOTES_AT_ONCE = 128;

const NO_BYTES = Buffer.alloc(0);

/**
 * The slots of a node after the block, packed. `present` has the slots after block `newest` or after an earlier block that
 * follows `block`. Notes of all changes since `block` are applied, so the result is the same.
 */
export async function pastSlots(
  rows: RowReader,
  block: PastBlock,
  path: string,
  present: Buffer,
  newest: number,
): Promise<Buffer> {
  if (block.height >= newest) return present;
  const notes = await slotNotes(rows, block, path, Math.min(newest, block.notedFrom - 1));
  notes.push(...(await nodeNotes(rows, block, path, newest, present.length < WIDE_BYTES ? 1 : 0)));
  const [first] = notes;
  if (first === undefined) return present;
  if (first.whole) return first.slots;
  notes.push({ whole: true, gone: NO_BYTES, slots: present });
  return joinNotes(notes).slots;
}

/**
 * The notes of a node from the blocks after the requested one, up to the first note of the whole node. `firstStep` is an
 * index of `STEPS`.
 */
async function nodeNotes(
  rows: RowReader,
  { window, generation, height }: PastBlock,
  path: string,
  newest: number,
  firstStep: number,
): Promise<NodeNote[]> {
  const notes: NodeNote[] = [];
  let step = firstStep;
  for (let from = height + 1; from <= newest;) {
    const { blocks, notes: limit } = STEPS[step]!;
    if (step + 1 < STEPS.length) step++;
    const epoch = epochOf(window, from);
    const prefix = nodeNotesKey(epoch, generation, path);
    const to = Math.min(from + blocks, newest + 1, epochEnd(window, epoch));
    const found = await rows.getRange({ gte: prefix + u32Key(from), lt: prefix + u32Key(to), limit });
    for (const [, row] of found) {
      const note = parseNodeNote(row);
      notes.push(note);
      if (note.whole) return notes;
    }
    from = found.length < limit ? to : readU32(found.at(-1)![0], prefix.length) + 1;
  }
  return notes;
}

/** The same for blocks up to `last`, which have notes by slot. */
async function slotNotes(
  rows: RowReader,
  { window, generation, height }: PastBlock,
  path: string,
  last: number,
): Promise<NodeNote[]> {
  const notes: NodeNote[] = [];
  if (height >= last) return notes;
  for (let epoch = epochOf(window, height + 1); epoch <= epochOf(window, last); epoch++) {
    const note = await firstSlotNotes(rows, slotNotesKey(epoch, generation, path), height);
    if (note !== null) notes.push(note);
  }
  return notes;
}

/** For each slot the first note after block `height` among the rows under `prefix`. It has the slot before that change. */
async function firstSlotNotes(rows: RowReader, prefix: string, height: number): Promise<NodeNote | null> {
  const end = prefix + '\xff'.repeat(6);
  const gone: number[] = [];
  const slots: Buffer[] = [];
  let gte = prefix;
  /** The slot whose first note has been found. */
  let settled = -1;
  for (let limit = SLOT_NOTES_AT_ONCE; ; limit = 1) {
    const found = await rows.getRange({ gte, lt: end, limit });
    for (const [key, row] of found) {
      const firstByte = key.charCodeAt(prefix.length);
      if (firstByte === settled || readU32(key, prefix.length + 1) <= height) continue;
      settled = firstByte;
      const slot = parseSlotNote(firstByte, row);
      if (slot === null) gone.push(firstByte);
      else slots.push(packSlot(slot.edge, slot.hash, slot.leaf));
    }
    const last = found.at(-1);
    if (found.length < limit || last === undefined) break;
    // If the node has many notes, unneeded ones are skipped.
    const lastByte = last[0].charCodeAt(prefix.length);
    if (lastByte !== settled) gte = prefix + String.fromCharCode(lastByte) + u32Key(height + 1);
    else if (lastByte === 255) break;
    else gte = prefix + String.fromCharCode(lastByte + 1) + u32Key(0);
  }
  if (gone.length + slots.length === 0) return null;
  return { whole: false, gone: Buffer.from(gone), slots: Buffer.concat(slots) };
}
