/**
 * Checks the limits for chains of unconfirmed transactions for a new transaction. Source: Core txmempool.cpp
 * `CalculateMemPoolAncestors`.
 */
import { hashToHex } from '../util/bytes.js';
import { compareByKey, type PoolEntry } from './poolEntry.js';

/** Limits of unconfirmed ancestors and descendants. Counts and sizes include the transaction itself. */
export interface PackageLimits {
  /** `-limitancestorcount`. */
  readonly ancestorCount: number;
  /** Maximum size in bytes of a transaction with its ancestors (`-limitancestorsize`). */
  readonly ancestorSizeBytes: number;
  /** `-limitdescendantcount`. */
  readonly descendantCount: number;
  /** Maximum size in bytes of a transaction with its descendants (`-limitdescendantsize`). */
  readonly descendantSizeBytes: number;
}

export type Ancestry =
  | { readonly ancestors: ReadonlySet<PoolEntry>; readonly problem: null }
  | { readonly ancestors: null; readonly problem: string };

function exceeded(problem: string): Ancestry {
  return { ancestors: null, problem };
}

/**
 * Finds the unconfirmed ancestors of a new transaction with these parents, or the limit that the transaction exceeds.
 * Ancestors are visited in the order of their txids, so that the error text equals the reference's if several limits are
 * exceeded.
 */
export function findAncestors(
  parents: readonly PoolEntry[],
  sizeBytes: number,
  limits: PackageLimits,
): Ancestry {
  const ancestors = new Set<PoolEntry>();
  if (parents.length === 0) return { ancestors, problem: null };
  if (parents.length + 1 > limits.ancestorCount) {
    return exceeded(`too many unconfirmed parents [limit: ${limits.ancestorCount}]`);
  }
  const waiting = new Set(parents);
  let totalSizeBytes = sizeBytes;
  while (waiting.size > 0) {
    let next: PoolEntry | null = null;
    for (const entry of waiting) if (next === null || compareByKey(entry, next) < 0) next = entry;
    const entry = next!;
    waiting.delete(entry);
    ancestors.add(entry);
    totalSizeBytes += entry.sizeBytes;
    if (entry.descendantSizeBytes + sizeBytes > limits.descendantSizeBytes) {
      return exceeded(
        `exceeds descendant size limit for tx ${hashToHex(entry.txid)} [limit: ${limits.descendantSizeBytes}]`,
      );
    }
    if (entry.descendantCount + 1 > limits.descendantCount) {
      return exceeded(
        `too many descendants for tx ${hashToHex(entry.txid)} [limit: ${limits.descendantCount}]`,
      );
    }
    if (totalSizeBytes > limits.ancestorSizeBytes) {
      return exceeded(`exceeds ancestor size limit [limit: ${limits.ancestorSizeBytes}]`);
    }
    for (const parent of entry.parents) if (!ancestors.has(parent)) waiting.add(parent);
    if (entry.parents.length > 0 && waiting.size + ancestors.size + 1 > limits.ancestorCount) {
      return exceeded(`too many unconfirmed ancestors [limit: ${limits.ancestorCount}]`);
    }
  }
  return { ancestors, problem: null };
}
