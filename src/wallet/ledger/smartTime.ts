/**
 * Computes the smart times of transactions. Smart times follow the order of arrival, even if block times do not. Source:
 * lbrycrd wallet/wallet.cpp `ComputeTimeSmart`.
 */
import type { Entry, EntrySequence } from './entry.js';

/**
 * Number of seconds by which the time of a known transaction may be in the future. A later time is ignored when a smart time
 * is computed.
 */
const TOLERATED_FUTURE_SEC = 300;

/** The displayed time of a transaction: its smart time, or the time of its arrival. Source: `GetTxTime`. */
export function timeSecOf(row: Entry['row']): number {
  return row.timeSmartSec === 0 ? row.timeReceivedSec : row.timeSmartSec;
}

/** Yields the times of all transactions and moves (between accounts), the latest in the order first. */
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
 * The smart time of a transaction that was found in a block: the block's time, but not before the time of the latest known
 * transaction and not in the future.
 */
export function smartTime(blockTimeSec: number, nowSec: number, latest: Iterable<number>): number {
  for (const timeSec of latest) {
    if (timeSec > nowSec + TOLERATED_FUTURE_SEC) continue;
    return Math.max(timeSec, Math.min(blockTimeSec, Math.max(nowSec, timeSec)));
  }
  return Math.max(0, Math.min(blockTimeSec, nowSec));
}
