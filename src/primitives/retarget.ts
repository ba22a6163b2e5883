/**
 * Computes the target of the next block: this chain changes it at every block.
 * Source: lbrycrd lbry.cpp `CalculateLbryNextWorkRequired`, pow.cpp `GetNextWorkRequired`.
 */
import { decodeCompact, encodeCompact } from './compactTarget.js';

/** The network parameters that determine the targets. */
interface RetargetParams {
  readonly powLimit: bigint;
  readonly powLimitBits: number;
  readonly targetSpacingSec: number;
  readonly targetTimespanSec: number;
  readonly minDifficultyRange: { readonly minHeight: number; readonly maxHeight: number } | null;
  readonly noRetargeting: boolean;
}

/** Headers by non-negative numbers: ids of a header tree, or the heights of one chain. */
interface RetargetHeaders {
  heightOf(id: number): number;
  /** The ancestor (or `id` itself) at that height. */
  ancestorOf(id: number, height: number): number;
  timeOf(id: number): number;
  bitsOf(id: number): number;
}

const MASK_256 = (1n << 256n) - 1n;

/**
 * Number of blocks between the two times that a retarget compares: one on every network. Source:
 * `DifficultyAdjustmentInterval`.
 */
export function retargetIntervalBlocks(params: RetargetParams): number {
  return Math.trunc(params.targetTimespanSec / params.targetSpacingSec);
}

/**
 * The bits after a block with `parentBits` that came `actualTimespanSec` after the block one interval before it. An eighth
 * of the deviation is applied, limited to 7/8 to 3/2 of the timespan; divisions truncate towards zero as in C.
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
 * The required bits of a block after `parent` with the time `newTimeSec`; a negative `parent` means none. On the test
 * network there is a range of parent heights after which a block that took more than twice the spacing may have minimum
 * difficulty.
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
