/**
 * Formats durations and ages, on the server and in the browser. Does not use `Intl`, because it takes time when the browser loads a
 * page.
 */

const STEPS: readonly (readonly [seconds: number, unit: string])[] = [
  [365 * 86_400, 'year'],
  [30 * 86_400, 'month'],
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
];

/** Formats a duration in the largest unit that fits, such as `3 days`. */
export function durationText(seconds: number): string {
  const [step, unit] = STEPS.find(([length]) => Math.abs(seconds) >= length) ?? STEPS.at(-1)!;
  const count = Math.round(Math.abs(seconds) / step);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** Maximum number of seconds by which a block's time may be in the future. Source: lbrycrd chain.h `MAX_FUTURE_BLOCK_TIME`. */
const FUTURE_SEC = 7200;

/** Formats a time relative to the current time: `2 minutes ago`, or `in 3 hours` for a future time. */
export function agoText(timeSec: number, nowSec: number): string {
  const age = nowSec - timeSec;
  if (age < 1 && age > -FUTURE_SEC) return 'just now';
  return age >= 0 ? `${durationText(age)} ago` : `in ${durationText(age)}`;
}
