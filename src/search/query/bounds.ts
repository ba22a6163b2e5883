/**
 * Bounds of a range that must all hold come down to one from below and one from above. Lists of them may be long, and a
 * database would compare each row with every one. Pure.
 */
import type { Bound } from './searchQuery.js';

/** More places than any bound has (`constraints.ts`). */
const PLACES = 50;

/** A decimal number times ten to `PLACES`. */
function scaled(decimal: string): bigint {
  const [whole, part = ''] = decimal.split('.') as [string, string?];
  return BigInt(whole + part.padEnd(PLACES, '0'));
}

/** Whether a bound leaves out what another one of its direction lets pass. */
function isTighter(bound: Bound, other: Bound): boolean {
  const [value, otherValue] = [scaled(bound.value), scaled(other.value)];
  if (value === otherValue) return bound.op.length < other.op.length;
  return bound.op.startsWith('>') ? value > otherValue : value < otherValue;
}

/** The bounds that decide, in the order in which they were given. */
export function tightestBounds(bounds: readonly Bound[]): Bound[] {
  const tightest = new Map<string, Bound>();
  for (const bound of bounds) {
    const direction = bound.op[0]!;
    const best = tightest.get(direction);
    if (best === undefined || isTighter(bound, best)) tightest.set(direction, bound);
  }
  return [...tightest.values()].sort((a, b) => bounds.indexOf(a) - bounds.indexOf(b));
}
