/**
 * The note of one node and one block: the slots (child entries) that the block changed, in their previous state. Some notes
 * contain all slots of the node. A search through the notes after a block ends at the first whole note.
 */
import { areSlots, NO_SLOTS, SlotCursor } from '../../../claimtrie/slots.js';
import type { TrieNode } from '../../../claimtrie/trieNode.js';
import type { NodeChange } from '../../../claimtrie/workTrie.js';
import { loadNative } from '../../../native/binding.js';
import { asBuffer, type Bytes } from '../../../util/bytes.js';
import { ReadError } from '../../../util/reader.js';

export interface NodeNote {
  /** Whether the note contains all slots of the node. */
  whole: boolean;
  /** First bytes of the slots that the block added, so they did not exist before. */
  gone: Bytes;
  /** Packed (`claimtrie/slots.ts`). */
  slots: Buffer;
}

const PART = 0;
const WHOLE = 1;
/** Size in bytes of the fields before `gone` in a partial note: the note type, and the length of `gone`. */
const PART_HEAD = 2;
/** The whole node is stored if it takes at most this many times the bytes of the partial note. Arbitrary. */
const CHEAP_WHOLE = 2;
const FIRST_BYTES = 256;
const NONE: Bytes = Buffer.alloc(0);
/** 2^32 divided by the golden ratio. Its multiples modulo 2^32 are evenly distributed, whatever the start. */
const GOLDEN = 0x9e3779b1;

const old = new SlotCursor();
const now = new SlotCursor();

/**
 * Calls `note` with each slot of `before` that is missing or different in `after`. For each slot that only `after` has,
 * `note` is called with null.
 */
export function changedSlots(
  before: TrieNode | null,
  after: TrieNode | null,
  note: (firstByte: number, before: SlotCursor | null) => void,
): void {
  if (before?.slots === after?.slots) return;
  let more = old.load(before?.slots ?? NO_SLOTS, 0);
  let moreNow = now.load(after?.slots ?? NO_SLOTS, 0);
  while (more || moreNow) {
    const order = !moreNow ? -1 : !more ? 1 : old.first - now.first;
    if (order > 0) note(now.first, null);
    else if (order < 0 || !old.equals(now)) note(old.first, old);
    if (order <= 0) more = old.next();
    if (order >= 0) moreNow = now.next();
  }
}

const gone = Buffer.alloc(FIRST_BYTES);
let changed = Buffer.allocUnsafe(64 << 10);

/** Creates the note of a node's change in block `height`; null without a change. */
export function noteOf({ path, before, after }: NodeChange, height: number): NodeNote | null {
  const slots = before?.slots ?? NO_SLOTS;
  if (changed.length < slots.length) changed = Buffer.allocUnsafe(2 * slots.length);
  let goneCount = 0;
  let size = 0;
  changedSlots(before, after, (firstByte, slot) => {
    if (slot === null) gone[goneCount++] = firstByte;
    else size += slots.copy(changed, size, slot.at, slot.end);
  });
  const partBytes = goneCount + size;
  if (partBytes === 0) return null;
  if (isWhole(path, height, partBytes, slots.length)) return { whole: true, gone: NONE, slots };
  return {
    whole: false,
    gone: Buffer.from(gone.subarray(0, goneCount)),
    slots: Buffer.from(changed.subarray(0, size)),
  };
}

/**
 * Whether the note contains the whole node. A small node is always stored whole. A larger node is stored whole in one of n
 * blocks. n is chosen so that whole notes take about as many bytes as the partial notes between them. Only height and path
 * select these blocks, which have nearly equal distances.
 */
function isWhole(path: string, height: number, partBytes: number, wholeBytes: number): boolean {
  if (wholeBytes <= CHEAP_WHOLE * partBytes) return true;
  return placeOf(path, height) * wholeBytes < partBytes * 2 ** 32;
}

/** A number below 2^32 that selects the blocks in which the whole node at `path` is stored. */
function placeOf(path: string, height: number): number {
  let place = 0;
  for (let i = 0; i < path.length; i++) place = (Math.imul(place, 31) + path.charCodeAt(i)) | 0;
  return Math.imul(place + height, GOLDEN) >>> 0;
}

/** Returns the row with the note of a node's change in block `height`; null without a change. */
export function noteRow(change: NodeChange, height: number): Buffer | null {
  const native = loadNative();
  if (!native) return noteRowFallback(change, height);
  const before = change.before?.slots ?? NO_SLOTS;
  const after = change.after?.slots ?? NO_SLOTS;
  if (before === after) return null;
  const room = before.length + PART_HEAD + FIRST_BYTES;
  if (changed.length < room) changed = Buffer.allocUnsafe(2 * room);
  const size = native.claimNodeNote(before, after, placeOf(change.path, height), changed);
  return size === 0 ? null : Buffer.from(changed.subarray(0, size));
}

/** TypeScript fallback of `noteRow`. */
export function noteRowFallback(change: NodeChange, height: number): Buffer | null {
  const note = noteOf(change, height);
  return note && formatNodeNote(note);
}

/** Row format: a byte for the note type; in a partial note the length of `gone`, and `gone`; then the slots. */
export function formatNodeNote({ whole, gone, slots }: NodeNote): Buffer {
  // The length fits into one byte. A partial note with 256 new slots would belong to a node that was empty before, and
  // such a node is stored whole.
  const slotsAt = whole ? 1 : PART_HEAD + gone.length;
  const row = Buffer.allocUnsafe(slotsAt + slots.length);
  row[0] = whole ? WHOLE : PART;
  if (!whole) {
    row[1] = gone.length;
    row.set(gone, PART_HEAD);
  }
  slots.copy(row, slotsAt);
  return row;
}

/** Parses a note. The result contains views of the row. */
export function parseNodeNote(bytes: Bytes): NodeNote {
  const row = asBuffer(bytes);
  const whole = row[0] === WHOLE;
  const slotsAt = whole ? 1 : row[0] === PART ? PART_HEAD + row[1]! : NaN;
  const slots = row.subarray(slotsAt);
  if (!(slotsAt <= row.length) || !areSlots(slots))
    throw new ReadError('a note of a node of the claim trie is corrupt');
  return { whole, gone: whole ? NONE : row.subarray(PART_HEAD, slotsAt), slots };
}

/**
 * Scratch memory for each first byte: the number of the note that contains the slot, and the start and end of the slot in
 * that note.
 */
const teller = new Int32Array(FIRST_BYTES);
const startOf = new Int32Array(FIRST_BYTES);
const endOf = new Int32Array(FIRST_BYTES);
const UNSET = -1;
const GONE = -2;

/** Merges notes. An earlier note has priority over later ones. Notes after a whole note are ignored. */
export function joinNotes(notes: readonly NodeNote[]): NodeNote {
  teller.fill(UNSET);
  let size = 0;
  let whole = false;
  for (let number = 0; number < notes.length && !whole; number++) {
    const { gone, slots } = notes[number]!;
    whole = notes[number]!.whole;
    for (const firstByte of gone) if (teller[firstByte] === UNSET) teller[firstByte] = GONE;
    for (let more = old.load(slots, 0); more; more = old.next()) {
      const { first } = old;
      if (teller[first] !== UNSET) continue;
      teller[first] = number;
      startOf[first] = old.at;
      endOf[first] = old.end;
      size += old.end - old.at;
    }
  }
  const joined = Buffer.allocUnsafe(size);
  const missing: number[] = [];
  let written = 0;
  for (let first = 0; first < FIRST_BYTES;) {
    const number = teller[first]!;
    if (number === GONE) missing.push(first);
    if (number < 0) {
      first++;
      continue;
    }
    // Adjacent slots of one note are copied in one call.
    const from = startOf[first]!;
    let to = from;
    for (; first < FIRST_BYTES; first++) {
      if (teller[first] === number && startOf[first] === to) to = endOf[first]!;
      else if (teller[first] !== UNSET) break;
    }
    written += notes[number]!.slots.copy(joined, written, from, to);
  }
  return { whole, gone: whole ? NONE : Buffer.from(missing), slots: joined };
}
