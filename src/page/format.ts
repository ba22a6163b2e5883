/** Formats numbers, amounts, sizes and times for pages, in English and in UTC. */
import { durationText } from './age.js';

const INTEGER = new Intl.NumberFormat('en');
const THREE_DIGITS = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

/**
 * Formats an integer with thousands separators. For small numbers the formatter is not called, because it takes longer than
 * the rest of a table cell.
 */
export const integerText = (value: number): string =>
  Number.isInteger(value) && value >= 0 && value < 1000 ? String(value) : INTEGER.format(value);

/** An amount in LBC. If a double would round it, a string with its decimal digits. */
export type Lbc = number | string;

/** Formats an amount in LBC with all its decimals, but with at least two. */
export function amountText(lbc: Lbc): string {
  const digits = typeof lbc === 'string' ? lbc.replace('-', '') : Math.abs(lbc).toFixed(8);
  const [whole = '0', decimals = ''] = digits.split('.');
  const shown = decimals.replace(/0+$/, '').padEnd(2, '0');
  return `${Number(lbc) < 0 ? '−' : ''}${whole.length > 3 ? INTEGER.format(BigInt(whole)) : whole}.${shown}`;
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

export function sizeText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  for (; value >= 1000 && unit < UNITS.length - 1; unit++) value /= 1000;
  return `${unit === 0 ? INTEGER.format(value) : THREE_DIGITS.format(value)} ${UNITS[unit]}`;
}

const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E'] as const;

/** Formats a number with an SI prefix: `3.21 T`. */
export function prefixedText(number: number, unit = ''): string {
  let [value, prefix] = [number, 0];
  for (; value >= 1000 && prefix < PREFIXES.length - 1; prefix++) value /= 1000;
  return `${value !== 0 && value < 0.001 ? value.toExponential(2) : THREE_DIGITS.format(value)} ${PREFIXES[prefix]}${unit}`.trim();
}

/** Formats a time as `2026-11-27 18:20:05 UTC`. */
export const timeText = (timeSec: number): string =>
  Number.isFinite(timeSec) && Math.abs(timeSec) < 8.64e12
    ? new Date(timeSec * 1000).toISOString().replace('T', ' ').replace('.000Z', ' UTC')
    : String(timeSec);

/** `2026-11-27`. */
export const dateText = (timeSec: number): string => timeText(timeSec).slice(0, 10);

export const isoTime = (timeSec: number): string => new Date(timeSec * 1000).toISOString();

/** Formats the approximate duration of a number of blocks: `≈ 9 hours`. */
export const blocksText = (blocks: number, spacingSec: number): string =>
  `≈ ${durationText(Math.max(1, blocks) * spacingSec)}`;

/** Formats a count with its noun: `3 claims`, `1 claim`. */
export const countText = (count: number, noun: string, plural = `${noun}s`): string =>
  `${INTEGER.format(count)} ${count === 1 ? noun : plural}`;

const ORDINALS = new Intl.PluralRules('en', { type: 'ordinal' });
const SUFFIXES: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd', other: 'th' };

/** `1st`, `22nd`. */
export const placeText = (place: number): string =>
  `${INTEGER.format(place)}${SUFFIXES[ORDINALS.select(place)]}`;
