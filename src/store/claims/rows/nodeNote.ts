/**
 * The note of one node and one block: the slots that the block changed, in their previous state. Some notes hold the whole
 * node. A walk over the notes after a block ends at the first of these.
 */
import { areSlots, NO_SLOTS, SlotCursor } from '../../../claimtrie/slots.js';
import type { TrieNode } from '../../../claimtrie/trieNode.js';
import type { NodeChange } from '../../../claimtrie/workTrie.js';
import { asBuffer, type Bytes } from '../../../util/bytes.js';
import { ReadError } from '../../../util/reader.js';

export interface NodeNote {
  /** Whether the note has all slots of the node. */
  whole: boolean;
  /** First bytes of slots that did not exist before. */
  gone: Bytes;
  /** Packed (`claimtrie/slots.ts`). */
  slots: Buffer;
}

const PART = 0;
const WHOLE = 1;
/** Bytes before `gone` in a partial note: the kind, and the length of `gone`. */
const PART_HEAD = 2;
/** The whole node is noted if that takes at most this many times the bytes of the partial note. Arbitrary. */
const CHEAP_WHOLE = 2;
const FIRST_BYTES = 256;
const NONE: Bytes = Buffer.alloc(0);
/** 2^32 divided by the golden ratio: its multiples modulo 2^32 are evenly distributed from any start. */
const GOLDEN = 0x9e3779b1;

const old = new SlotCursor();
const now = new SlotCursor();

/**
 * Calls `note` for each slot of `before` that is missing or different in `after`, and without a slot for each slot that only
 * `after` has.
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

/** The note of the change in block `height`; null without a change. */
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
 * Whether the whole node is noted: always if it is small, else in one of n blocks, with n so that whole notes take about as
 * many bytes as the partial notes between them. Height and path alone select these blocks, at nearly equal distances.
 */
function isWhole(path: string, height: number, partBytes: number, wholeBytes: number): boolean {
  if (wholeBytes <= CHEAP_WHOLE * partBytes) return true;
  let place = 0;
  for (let i = 0; i < path.length; i++) place = (Math.imul(place, 31) + path.charCodeAt(i)) | 0;
  return (Math.imul(place + height, GOLDEN) >>> 0) * wholeBytes < partBytes * 2 ** 32;
}

/** Format: a byte for the kind; in a partial note the length of `gone`, and `gone`; the slots. */
export function formatNodeNote({ whole, gone, slots }: NodeNote): Buffer {
  // The length fits one byte: a partial note with 256 new slots would be of a node that was empty, and that is noted as a
  // whole.
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

/** Views into the row. */
export function parseNodeNote(bytes: Bytes): NodeNote {
  const row = asBuffer(bytes);
  const whole = row[0] === WHOLE;
  const slotsAt = whole ? 1 : row[0] === PART ? PART_HEAD + row[1]! : NaN;
  const slots = row.subarray(slotsAt);
  if (!(slotsAt <= row.length) || !areSlots(slots))
    throw new ReadError('a note of a node of the claim trie is damaged');
  return { whole, gone: whole ? NONE : row.subarray(PART_HEAD, slotsAt), slots };
}

/** Scratch memory, by first byte: the number of the note that has the slot, and the start and end of the slot in it. */
const teller = new Int32Array(FIRST_BYTES);
const startOf = new Int32Array(FIRST_BYTES);
const endOf = new Int32Array(FIRST_BYTES);
const UNTOLD = -1;
const GONE = -2;

/** Merges notes: an earlier note has priority over later ones, and nothing after a whole note is used. */
export function joinNotes(notes: readonly NodeNote[]): NodeNote {
  teller.fill(UNTOLD);
  let size = 0;
  let whole = false;
  for (let number = 0; number < notes.length && !whole; number++) {
    const { gone, slots } = notes[number]!;
    whole = notes[number]!.whole;
    for (const firstByte of gone) if (teller[firstByte] === UNTOLD) teller[firstByte] = GONE;
    for (let more = old.load(slots, 0); more; more = old.next()) {
      const { first } = old;
      if (teller[first] !== UNTOLD) continue;
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
    // Adjacent slots of one note are copied together.
    const from = startOf[first]!;
    let to = from;
    for (; first < FIRST_BYTES; first++) {
      if (teller[first] === number && startOf[first] === to) to = endOf[first]!;
      else if (teller[first] !== UNTOLD) break;
    }
    written += notes[number]!.slots.copy(joined, written, from, to);
  }
  return { whole, gone: whole ? NONE : Buffer.from(missing), slots: joined };
}
