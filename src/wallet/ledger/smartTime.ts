/**
 * Smart times of transactions: they follow the order of arrival, even if block times do not. Source: lbrycrd
 * wallet/wallet.cpp `ComputeTimeSmart`.
 */
import type { Entry, EntrySequence } from './entry.js';

/** Times up to this far in the future are accepted. */
const TOLERATED_FUTURE_SEC = 300;

/** Time of creation or arrival of a transaction. Source: `GetTxTime`. */
export function timeSecOf(row: Entry['row']): number {
  return row.timeSmartSec === 0 ? row.timeReceivedSec : row.timeSmartSec;
}

/** Times of all items in the order, the latest position first. */
export function* latestTimes(
  ordered: EntrySequence,
  moves: readonly { readonly orderPos: number; readonly timeSec: number }[],
): Generator<number> {
  let m = moves.length - 1;
  for (let i = ordered.length - 1; i >= 0; i--) {
    const entry = ordered.at(i)!;
    for (; m >= 0 && moves[m]!.orderPos > entry.orderPos; m--) yield moves[m]!.timeSec;
    yield timeSecOf(entry.row);
  }
  for (; m >= 0; m--) yield moves[m]!.timeSec;
}

/**
 * The time of a transaction found in a block: the block's time, but not before the latest known transaction and not in the
 * future.
 */
export function smartTime(blockTimeSec: number, nowSec: number, latest: Iterable<number>): number {
  for (const timeSec of latest) {
    if (timeSec > nowSec + TOLERATED_FUTURE_SEC) continue;
    return Math.max(timeSec, Math.min(blockTimeSec, Math.max(nowSec, timeSec)));
  }
  return Math.max(0, Math.min(blockTimeSec, nowSec));
}
