/**
 * Reduces the bounds of a range, which must all hold, to one lower and one upper bound. Lists of bounds may be long, and a
 * database would compare each row with all of them. Pure.
 */
import type { Bound } from './searchQuery.js';

/** More decimal places than any bound has (`constraints.ts`). */
const PLACES = 50;

/** A decimal number times ten to the power of `PLACES`. */
function scaled(decimal: string): bigint {
  const [whole, part = ''] = decimal.split('.') as [string, string?];
  return BigInt(whole + part.padEnd(PLACES, '0'));
}

/** Whether a bound is stricter than another one in the same direction. */
function isTighter(bound: Bound, other: Bound): boolean {
  const [value, otherValue] = [scaled(bound.value), scaled(other.value)];
  if (value === otherValue) return bound.op.length < other.op.length;
  return bound.op.startsWith('>') ? value > otherValue : value < otherValue;
}

/** The strictest bounds, in the given order. */
export function tightestBounds(bounds: readonly Bound[]): Bound[] {
  const tightest = new Map<string, Bound>();
  for (const bound of bounds) {
    const direction = bound.op[0]!;
    const best = tightest.get(direction);
    if (best === undefined || isTighter(bound, best)) tightest.set(direction, bound);
  }
  return [...tightest.values()].sort((a, b) => bounds.indexOf(a) - bounds.indexOf(b));
}
