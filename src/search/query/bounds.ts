/**
 * Reduces the bounds of a range constraint to one lower and one upper bound. All given bounds must hold. Lists of bounds may
 * be long, and a database would compare each row with all of them.
 */
import type { Bound } from './searchQuery.js';

/**
 * Number of decimal places to which bounds are scaled before they are compared. The parser accepts fewer places
 * (`constraints.ts`).
 */
const PLACES = 50;

/** Returns a decimal number multiplied by ten to the power of `PLACES`. */
function scaled(decimal: string): bigint {
  const [whole, part = ''] = decimal.split('.') as [string, string?];
  return BigInt(whole + part.padEnd(PLACES, '0'));
}

/** Whether a bound is stricter than another bound in the same direction. */
function isTighter(bound: Bound, other: Bound): boolean {
  const [value, otherValue] = [scaled(bound.value), scaled(other.value)];
  if (value === otherValue) return bound.op.length < other.op.length;
  return bound.op.startsWith('>') ? value > otherValue : value < otherValue;
}

/** Returns the strictest bound of each direction. The result is in the order of `bounds`. */
export function tightestBounds(bounds: readonly Bound[]): Bound[] {
  const tightest = new Map<string, Bound>();
  for (const bound of bounds) {
    const direction = bound.op[0]!;
    const best = tightest.get(direction);
    if (best === undefined || isTighter(bound, best)) tightest.set(direction, bound);
  }
  return [...tightest.values()].sort((a, b) => bounds.indexOf(a) - bounds.indexOf(b));
}
