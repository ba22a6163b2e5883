/**
 * Consensus view of the header tree: headers are numbers, so a table of columns can implement it. Defines the interface and
 * the median time; the store decides how headers are stored.
 */
import { assert } from '../util/assert.js';

/** Number of a header in the tree, not negative. The owner of the tree assigns the number, which never changes. */
export type HeaderId = number;

/** Stands for "no header", for example as the parent of the genesis block. */
export const NO_HEADER = -1;

export interface HeaderTree {
  heightOf(id: HeaderId): number;
  /** Returns the parent of a header; `NO_HEADER` for the genesis block. */
  parentOf(id: HeaderId): HeaderId;
  /** The ancestor (or `id` itself) at `height`; `NO_HEADER` when `height` is negative or above the header's own. */
  ancestorOf(id: HeaderId, height: number): HeaderId;
  timeOf(id: HeaderId): number;
  bitsOf(id: HeaderId): number;
  /** Signed 32-bit. */
  versionOf(id: HeaderId): number;
  /** Median time past of the block and its ten ancestors, in seconds; `medianTimePast` computes it. */
  medianTimeOf(id: HeaderId): number;
}

/** Number of blocks over which the median time is taken. Source: `CBlockIndex::nMedianTimeSpan`. */
export const MEDIAN_TIME_SPAN = 11;

/** Returns the upper median of `times`, which may be in any order and must contain at least one time. Sorts `times` in place. */
export function medianTime(times: number[]): number {
  assert(times.length > 0, 'a median needs a time');
  return times.sort((a, b) => a - b)[times.length >> 1]!;
}

/** Median time past of a block: over itself and up to ten ancestors. Source: `CBlockIndex::GetMedianTimePast`, BIP113. */
export function medianTimePast(tree: Pick<HeaderTree, 'timeOf' | 'parentOf'>, id: HeaderId): number {
  const times: number[] = [];
  for (let at = id; at !== NO_HEADER && times.length < MEDIAN_TIME_SPAN; at = tree.parentOf(at)) {
    times.push(tree.timeOf(at));
  }
  return medianTime(times);
}
