/**
 * Computes the target of the next block. This chain changes the target at every block. Source: lbrycrd lbry.cpp
 * `CalculateLbryNextWorkRequired`, pow.cpp `GetNextWorkRequired`.
 */
import { decodeCompact, encodeCompact } from './compactTarget.js';

/** Parameters of a network that determine the targets of its blocks. */
interface RetargetParams {
  readonly powLimit: bigint;
  readonly powLimitBits: number;
  readonly targetSpacingSec: number;
  readonly targetTimespanSec: number;
  readonly minDifficultyRange: { readonly minHeight: number; readonly maxHeight: number } | null;
  readonly noRetargeting: boolean;
}

/** Access to headers by numbers: ids in a header tree, or heights in a single chain. */
interface RetargetHeaders {
  heightOf(id: number): number;
  /** Returns the ancestor of a header at `height`, or `id` itself. */
  ancestorOf(id: number, height: number): number;
  timeOf(id: number): number;
  bitsOf(id: number): number;
}

const MASK_256 = (1n << 256n) - 1n;

/**
 * Returns the number of blocks between the two block times that a retarget compares: one on every network. Source:
 * `DifficultyAdjustmentInterval`.
 */
export function retargetIntervalBlocks(params: RetargetParams): number {
  return Math.trunc(params.targetTimespanSec / params.targetSpacingSec);
}

/**
 * Returns the compact target after a block with `parentBits` that was mined `actualTimespanSec` after the block one interval
 * before it. One eighth of the deviation from the target timespan is applied. The result is limited to 7/8 to 3/2 of the
 * timespan. Divisions truncate towards zero as in C.
 */
export function retarget(parentBits: number, actualTimespanSec: number, params: RetargetParams): number {
  if (params.noRetargeting) return parentBits;
  const span = params.targetTimespanSec;
  const smoothed = span + Math.trunc((actualTimespanSec - span) / 8);
  const shortest = span - Math.trunc(span / 8);
  const longest = span + Math.trunc(span / 2);
  const modulated = smoothed < shortest ? shortest : smoothed > longest ? longest : smoothed;
  const scaled = ((decodeCompact(parentBits).target * BigInt(modulated)) & MASK_256) / BigInt(span);
  return encodeCompact(scaled > params.powLimit ? params.powLimit : scaled);
}

/**
 * Returns the required compact target of a block after `parent` with the time `newTimeSec`. A negative `parent` means that
 * there is no parent (genesis block). On the test network, in a range of parent heights, a block may have the minimum
 * difficulty if it took more than twice the target spacing.
 */
export function nextWorkRequired(
  tree: RetargetHeaders,
  parent: number,
  newTimeSec: number,
  params: RetargetParams,
): number {
  if (parent < 0) return params.powLimitBits;
  const height = tree.heightOf(parent);
  const range = params.minDifficultyRange;
  if (range !== null && height >= range.minHeight && height < range.maxHeight) {
    if (newTimeSec > tree.timeOf(parent) + params.targetSpacingSec * 2) return params.powLimitBits;
  }
  const first = tree.ancestorOf(parent, height - Math.min(retargetIntervalBlocks(params), height));
  return retarget(tree.bitsOf(parent), tree.timeOf(parent) - tree.timeOf(first), params);
}
