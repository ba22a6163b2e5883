/**
 * What the trie's nodes were at past blocks: for each slot that a block changed, what it was before. Hashes only, kept
 * for a window of blocks and dropped by whole epochs behind it.
 */
import { NO_SLOTS, SlotCursor } from '../../claimtrie/slots.js';
import type { TrieNode } from '../../claimtrie/trieNode.js';
import type { NodeChange } from '../../claimtrie/workTrie.js';
import { u32Key } from '../keys.js';
import { prefixEnd, type RowReader, type RowTransaction } from '../rows.js';
import { CLAIM_PREFIX, DROPPED_KEY, versionKey, type Generation } from './claimKeys.js';
import { formatVersionRow } from './nodeRow.js';
import { RowDecoder, RowEncoder } from './rowCodec.js';

/** Blocks of an epoch: what is dropped at once. Arbitrary, a fraction of the default window. */
const EPOCH_BLOCKS = 1024;

const encoder = new RowEncoder();

/** Number of past blocks for which name proofs are answered, or all. */
export type ProofWindow = number | 'all';

export function epochOf(window: ProofWindow, height: number): number {
  return window === 'all' ? 0 : Math.floor(height / EPOCH_BLOCKS);
}

/** The first epoch that proofs need when the tip is at `tipHeight`. */
export function firstEpoch(window: ProofWindow, tipHeight: number): number {
  return window === 'all' ? 0 : Math.max(0, Math.floor((tipHeight - window) / EPOCH_BLOCKS));
}

/** The first block of an epoch. */
export function epochStart(epoch: number): number {
  return epoch * EPOCH_BLOCKS;
}

/**
 * Notes, in the block with which an epoch falls behind the window, that it may be dropped from now on. The note
 * outlives a reorganisation: what is gone does not come back with a lower tip.
 */
export async function noteDropped(rows: RowTransaction, window: ProofWindow, height: number): Promise<void> {
  const first = firstEpoch(window, height);
  if (first === 0 || first === firstEpoch(window, height - 1)) return;
  if ((await readDropped(rows)) < first) rows.put(DROPPED_KEY, encoder.number(first).finish());
}

/** Epochs below this one may have been dropped. */
async function readDropped(rows: RowReader): Promise<number> {
  const row = await rows.get(DROPPED_KEY);
  return row ? new RowDecoder(row).number() : 0;
}

/** The oldest block for which proofs are answered when the tip is at `tipHeight`. */
export async function oldestProvable(
  rows: RowReader,
  window: ProofWindow,
  tipHeight: number,
): Promise<number> {
  if (window === 'all') return 0;
  return Math.min(tipHeight, Math.max(tipHeight - window, (await readDropped(rows)) * EPOCH_BLOCKS));
}

/** Keys of the epochs from `from` up to but not including `to`. */
export function versionsOf(from: number, to: number): { gte: string; lt: string } {
  return { gte: CLAIM_PREFIX.version + u32Key(from), lt: CLAIM_PREFIX.version + u32Key(to) };
}

/**
 * Calls `note` for each slot of `before` that `after` has not, or has otherwise, and without a slot for those that only
 * `after` has.
 */
function changedSlots(
  before: TrieNode | null,
  after: TrieNode | null,
  note: (firstByte: number, before: SlotCursor | null) => void,
): void {
  if (before?.slots === after?.slots) return;
  const old = new SlotCursor();
  const now = new SlotCursor();
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

export class VersionWriter {
  readonly window: ProofWindow;

  constructor(window: ProofWindow) {
    this.window = window;
  }

  /** Notes what block `height` changes. `again`: an earlier batch of the block may have noted a slot already. */
  async write(
    rows: RowTransaction,
    generation: Generation,
    height: number,
    changes: readonly NodeChange[],
    again: boolean,
  ): Promise<void> {
    const epoch = epochOf(this.window, height);
    const keys: string[] = [];
    const values: Buffer[] = [];
    for (const { path, before, after } of changes) {
      changedSlots(before, after, (firstByte, slot) => {
        keys.push(versionKey(epoch, generation, path, firstByte, height));
        values.push(formatVersionRow(slot));
      });
    }
    const known = again ? await rows.getMany(keys) : [];
    keys.forEach((key, i) => {
      if (!known[i]) rows.put(key, values[i]!);
    });
  }

  /** Forgets what block `height` changed, given the changes that take it back. */
  erase(rows: RowTransaction, generation: Generation, height: number, changes: readonly NodeChange[]): void {
    const epoch = epochOf(this.window, height);
    for (const { path, before, after } of changes) {
      changedSlots(before, after, (firstByte) => {
        rows.del(versionKey(epoch, generation, path, firstByte, height));
      });
    }
  }

  /** The same for a block that was taken in batches: looks through the whole epoch. */
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
