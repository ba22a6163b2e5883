/**
 * Days of plots: numbers of days since 1970-01-01, by the estimated times of blocks.
 * Source: lbry-sdk lbry/wallet/database.py `get_txo_plot`.
 */
import { estimatedTimeSec } from '../base/blockTimes.js';
import { badValue } from '../base/daemonError.js';
import type { PlotRange } from '../ledger/txoQuery.js';

const DAY_SEC = 86_400;
const DAY_MS = 86_400_000;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Day number of the block at a height. Heights below 1 (unconfirmed) count as the first block. */
export function dayOf(height: number): number {
  return Math.floor(estimatedTimeSec(Math.max(1, height))! / DAY_SEC);
}

/** Formats a day (number of days since 1970-01-01) as `YYYY-MM-DD`. */
export const dayText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

function readDay(text: string): number {
  const day = DAY.test(text) ? Date.parse(`${text}T00:00:00Z`) / DAY_MS : NaN;
  // A date such as 31 February would be parsed as a day of the next month, so the text is compared with the formatted
  // result.
  if (Number.isNaN(day) || dayText(day) !== text) throw badValue(`'${text}' is not a valid day: YYYY-MM-DD.`);
  return day;
}

/**
 * Range of a plot. It starts at the given first day, or a number of days before `today`. It ends at the given last day, or
 * after a number of days; otherwise it has no end.
 */
export function plotRangeOf(
  given: {
    readonly daysBack: number;
    readonly startDay: string | undefined;
    readonly daysAfter: number | undefined;
    readonly endDay: string | undefined;
  },
  today: number,
): PlotRange {
  if (given.startDay === undefined) return { fromDay: today - given.daysBack };
  const fromDay = readDay(given.startDay);
  if (given.endDay !== undefined) return { fromDay, toDay: readDay(given.endDay) };
  return given.daysAfter === undefined ? { fromDay } : { fromDay, toDay: fromDay + given.daysAfter };
}
