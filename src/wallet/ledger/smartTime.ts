/**
 * Times by which transactions are in the order in which they came, though blocks tell other times. Source: lbrycrd
 * wallet/wallet.cpp `ComputeTimeSmart`.
 */
import type { Entry, EntrySequence } from './entry.js';

/** Times so far in the future are taken for what they say. */
const TOLERATED_FUTURE_SEC = 300;

/** When a transaction was made or came, in the order of all. Source: `GetTxTime`. */
export function timeSecOf(row: Entry['row']): number {
  return row.timeSmartSec === 0 ? row.timeReceivedSec : row.timeSmartSec;
}

/** Times of all that has a place in the order, the latest place first. */
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

/** The time of a transaction that is found in a block: the block's, but not before what came last and not after now. */
export function smartTime(blockTimeSec: number, nowSec: number, latest: Iterable<number>): number {
  for (const timeSec of latest) {
    if (timeSec > nowSec + TOLERATED_FUTURE_SEC) continue;
    return Math.max(timeSec, Math.min(blockTimeSec, Math.max(nowSec, timeSec)));
  }
  return Math.max(0, Math.min(blockTimeSec, nowSec));
}
