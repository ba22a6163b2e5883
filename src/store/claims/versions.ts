/**
 * History of the trie's nodes: for each node that a block changed, the previous state of the changed slots. The history
 * contains only hashes. It is stored for a window of blocks. Older history is deleted in whole epochs (ranges of blocks).
 */
import type { NodeChange } from '../../claimtrie/workTrie.js';
import { u32Key } from '../rows/keys.js';
import type { Bytes } from '../../util/bytes.js';
import { isPromise } from '../../util/maybePromise.js';
import { manyOf, prefixEnd, type RowReader, type RowTransaction, type RowWriter } from '../rows/rows.js';
import {
  CLAIM_PREFIX,
  DROPPED_KEY,
  FIRST_PROVABLE_KEY,
  NOTED_KEY,
  nodeNoteKey,
  nodeNotesPrefix,
  slotNoteKey,
  type Generation,
} from './rows/claimKeys.js';
import { changedSlots, formatNodeNote, joinNotes, noteRow, parseNodeNote } from './rows/nodeNote.js';
import { RowDecoder, RowEncoder } from './rows/rowCodec.js';

/** Number of blocks of an epoch, whose history is deleted as a whole. Arbitrary, a fraction of the default window. */
const EPOCH_BLOCKS = 1024;

const encoder = new RowEncoder();

/** Number of past blocks for which name proofs are available, or `all` for all blocks. */
export type ProofWindow = number | 'all';

export function epochOf(window: ProofWindow, height: number): number {
  return window === 'all' ? 0 : Math.floor(height / EPOCH_BLOCKS);
}

/** The oldest epoch whose history proofs need when the tip is at `tipHeight`. */
export function firstEpoch(window: ProofWindow, tipHeight: number): number {
  return window === 'all' ? 0 : Math.max(0, Math.floor((tipHeight - window) / EPOCH_BLOCKS));
}

/** Height of the first block of an epoch. */
export function epochStart(epoch: number): number {
  return epoch * EPOCH_BLOCKS;
}

/** Height of the first block after an epoch. */
export function epochEnd(window: ProofWindow, epoch: number): number {
  return window === 'all' ? Infinity : epochStart(epoch + 1);
}

/** Whether block `height` moves an epoch out of the window. */
export function dropsEpoch(window: ProofWindow, height: number): boolean {
  const first = firstEpoch(window, height);
  return first > 0 && first !== firstEpoch(window, height - 1);
}

/**
 * Records that an epoch may be deleted, when block `height` moves the epoch out of the window. The record stays after a
 * reorg, because deleted rows do not return with a lower tip.
 */
export async function noteDropped(rows: RowTransaction, window: ProofWindow, height: number): Promise<void> {
  if (!dropsEpoch(window, height)) return;
  const first = firstEpoch(window, height);
  if ((await readDropped(rows)) < first) rows.put(DROPPED_KEY, encoder.number(first).finish());
}

/** First epoch whose rows are certainly stored. Rows of earlier epochs may have been deleted. */
async function readDropped(rows: RowReader): Promise<number> {
  const row = await rows.get(DROPPED_KEY);
  return row ? new RowDecoder(row).number() : 0;
}

/** Height of the first block whose changes are stored with one note per node; Infinity without such a block. */
export async function readNotedFrom(rows: RowReader): Promise<number> {
  const read = manyOf(rows, [NOTED_KEY]);
  const [row] = isPromise(read) ? await read : read;
  return row ? new RowDecoder(row).number() : Infinity;
}

/** Height of the oldest block for which proofs are available when the tip is at `tipHeight`. */
export async function oldestProvable(
  rows: RowReader,
  window: ProofWindow,
  tipHeight: number,
): Promise<number> {
  const since = await rows.get(FIRST_PROVABLE_KEY);
  const first = since ? new RowDecoder(since).number() : 0;
  if (window === 'all') return Math.min(tipHeight, first);
  const dropped = (await readDropped(rows)) * EPOCH_BLOCKS;
  return Math.min(tipHeight, Math.max(tipHeight - window, dropped, first));
}

/** Records that node history exists only from block `height` on. */
export function putFirstProvable(rows: Pick<RowWriter, 'put'>, height: number): void {
  rows.put(FIRST_PROVABLE_KEY, encoder.number(height).finish());
}

/**
 * Yields the rows of node history in database `from` that the caller must copy to a database whose tip is at `tipHeight`.
 * Afterwards the caller must call `settleFirstProvable`.
 */
export async function* pastNodeRows(
  from: RowReader,
  window: ProofWindow,
  tipHeight: number,
): AsyncGenerator<[key: string, value: Bytes]> {
  const first = firstEpoch(window, tipHeight);
  const range = { gte: CLAIM_PREFIX.version + u32Key(first), lt: prefixEnd(CLAIM_PREFIX.version) };
  yield* from.range(range);
}

/** Reverts `putFirstProvable`. Must be called when the rows of `pastNodeRows` have been copied. */
export async function settleFirstProvable(rows: RowReader & RowWriter, from: RowReader): Promise<void> {
  const noted = await from.get(NOTED_KEY);
  if (noted) rows.put(NOTED_KEY, noted);
  const dropped = Math.max(await readDropped(from), await readDropped(rows));
  if (dropped > 0) rows.put(DROPPED_KEY, encoder.number(dropped).finish());
  rows.del(FIRST_PROVABLE_KEY);
}

/** Key range of the node history in the epochs from `from` up to but not including `to`. */
export function versionsOf(from: number, to: number): { gte: string; lt: string } {
  return { gte: CLAIM_PREFIX.version + u32Key(from), lt: CLAIM_PREFIX.version + u32Key(to) };
}

export class VersionWriter {
  readonly window: ProofWindow;
  /** Whether a committed row has the height of the first noted block. Later blocks then need not read the row. */
  private isNoted = false;

  constructor(window: ProofWindow) {
    this.window = window;
  }

  /**
   * Writes the notes of block `height`. `again`: an earlier batch of the same block may already have written notes, so they
   * are merged.
   */
  async write(
    rows: RowTransaction,
    generation: Generation,
    height: number,
    changes: readonly NodeChange[],
    again: boolean,
  ): Promise<void> {
    const epoch = epochOf(this.window, height);
    const keys: string[] = [];
    const notes: Buffer[] = [];
    for (const change of changes) {
      const note = noteRow(change, height);
      if (note === null) continue;
      keys.push(nodeNoteKey(epoch, generation, change.path, height));
      notes.push(note);
    }
    if (keys.length === 0) return;
    await this.noteFirst(rows, height);
    const known = again ? await rows.getMany(keys) : [];
    keys.forEach((key, i) => {
      const earlier = known[i];
      const note = notes[i]!;
      rows.put(
        key,
        earlier ? formatNodeNote(joinNotes([parseNodeNote(earlier), parseNodeNote(note)])) : note,
      );
    });
  }

  /** Records the first block with notes. Must be called if block `height` has notes. */
  async noteFirst(rows: RowTransaction, height: number): Promise<void> {
    if (this.isNoted) return;
    const from = await readNotedFrom(rows);
    if (from === Infinity) rows.put(NOTED_KEY, encoder.number(height).finish());
    // A row that this block writes may be discarded with the transaction.
    this.isNoted = from < height;
  }

  /** Key of a note of block `height` before the length of its path. */
  notePrefix(generation: Generation, height: number): string {
    return nodeNotesPrefix(epochOf(this.window, height), generation);
  }

  /** Deletes the notes of block `height`, which is being disconnected. `changes` may be a part of the block's changes. */
  async erase(
    rows: RowTransaction,
    generation: Generation,
    height: number,
    changes: readonly NodeChange[],
  ): Promise<void> {
    const epoch = epochOf(this.window, height);
    const bySlot = height < (await readNotedFrom(rows));
    for (const { path, before, after } of changes) {
      let isChanged = false;
      changedSlots(before, after, (firstByte) => {
        isChanged = true;
        if (bySlot) rows.del(slotNoteKey(epoch, generation, path, firstByte, height));
      });
      if (isChanged && !bySlot) rows.del(nodeNoteKey(epoch, generation, path, height));
    }
  }

  /**
   * Must be called when all notes of block `height` were deleted. Removes the mark of the first noted block if it was this
   * block.
   */
  async endErasing(rows: RowTransaction, height: number): Promise<void> {
    this.isNoted = false;
    if ((await readNotedFrom(rows)) === height) rows.del(NOTED_KEY);
  }

  /** Deletes all notes of block `height`, which was processed in batches. Scans the whole epoch. */
  async eraseAll(rows: RowTransaction, height: number): Promise<void> {
    const prefix = CLAIM_PREFIX.version + u32Key(epochOf(this.window, height));
    const suffix = u32Key(height);
    for await (const [key] of rows.range({ gte: prefix, lt: prefixEnd(prefix) })) {
      if (!key.endsWith(suffix)) continue;
      rows.del(key);
      await rows.relieve();
    }
  }
}
