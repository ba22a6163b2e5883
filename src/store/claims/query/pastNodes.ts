/**
 * Reads a node of the trie after a past block. Starts from the node's current slots (child entries), and restores the
 * previous slots, which later blocks recorded in notes when they changed the node. This module searches the notes. The
 * formats of notes are in `nodeNote.ts` and, for data folders of older versions, in `nodeRow.ts`.
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
  /** The first block whose changes are recorded with one note per node (`readNotedFrom`). Read before any data of a node. */
  readonly notedFrom: number;
}

/**
 * Numbers of blocks and notes that the successive calls read. The first calls read few notes, because one note may be enough
 * for a node that changes in every block, and because all rows of the range that are in memory are copied. The first entry
 * is only for wide nodes, whose notes are long. Arbitrary.
 */
const STEPS = [
  { blocks: 8, notes: 2 },
  { blocks: 128, notes: 16 },
  { blocks: Infinity, notes: 64 },
] as const;
/** Minimum size in bytes of the slots of a wide node: some sixty slots. Arbitrary. */
const WIDE_BYTES = 2048;
/**
 * Number of notes of the older form (one note per slot) that are read in one call. Arbitrary: most nodes have fewer notes
 * since the requested block.
 */
const SLOT_NOTES_AT_ONCE = 128;

const NO_BYTES = Buffer.alloc(0);

/**
 * The packed slots of a node after `block`. `present` contains the slots after block `newest`, or after an earlier block
 * that is later than `block`. The result does not depend on which one, because the notes of all changes since `block` are
 * applied.
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
 * The notes of a node from the blocks after the requested block. The search ends at the first note that contains the whole
 * node. `firstStep` is an index of `STEPS`.
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

/** The notes of a node from the blocks after the requested block up to block `last`, which recorded one note per slot. */
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

/** The previous state of each slot of a node: the first note after block `height` among the rows under `prefix`. */
async function firstSlotNotes(rows: RowReader, prefix: string, height: number): Promise<NodeNote | null> {
  const end = prefix + '\xff'.repeat(6);
  const gone: number[] = [];
  const slots: Buffer[] = [];
  let gte = prefix;
  /** First byte of the last slot whose first note was found. */
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
    // If the node has many notes, the search jumps to the next needed note.
    const lastByte = last[0].charCodeAt(prefix.length);
    if (lastByte !== settled) gte = prefix + String.fromCharCode(lastByte) + u32Key(height + 1);
    else if (lastByte === 255) break;
    else gte = prefix + String.fromCharCode(lastByte + 1) + u32Key(0);
  }
  if (gone.length + slots.length === 0) return null;
  return { whole: false, gone: Buffer.from(gone), slots: Buffer.concat(slots) };
}
