/**
 * Selects coins that pay a target without change: searches for the set with the least waste. Source: `SelectCoinsBnB`, after
 * M. Erhardt, "An Evaluation of Coin Selection Strategies".
 */

/** A group of coins, with the fee for spending it. */
export interface WeighedGroup {
  /** The group's value minus the fee for its inputs; above 0. */
  readonly effectiveSat: bigint;
  /** Fee for the group's inputs at the current rate (`feeSat`) and at the long-term rate (`longTermFeeSat`). */
  readonly feeSat: bigint;
  readonly longTermFeeSat: bigint;
}

/** Maximum number of nodes of the search tree that the search visits. */
const MAX_TRIES = 100_000;

/**
 * The groups whose effective values sum up to at least the target and exceed it by at most `toleranceSat` (the cost of
 * change), with the least waste found. Waste is the excess, plus the fee for the inputs now minus their fee at the long-term
 * rate. Null if no such set is found.
 */
export function branchAndBound<G extends WeighedGroup>(
  groups: readonly G[],
  targetSat: bigint,
  toleranceSat: bigint,
): G[] | null {
  const pool = [...groups].sort((a, b) =>
    a.effectiveSat === b.effectiveSat ? 0 : a.effectiveSat > b.effectiveSat ? -1 : 1,
  );
  let available = pool.reduce((sum, { effectiveSat }) => sum + effectiveSat, 0n);
  if (pool.length === 0 || available < targetSat) return null;
  // While current fees are above the long-term fees, each further input adds waste, so a worse set can be abandoned.
  const growsWithInputs = pool[0]!.feeSat > pool[0]!.longTermFeeSat;

  /** Whether group i is included in the current set, by index i. */
  const taken: boolean[] = [];
  let value = 0n;
  let waste = 0n;
  let best: boolean[] | null = null;
  let leastWaste: bigint | null = null;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    let isDone = false;
    if (
      value + available < targetSat ||
      value > targetSat + toleranceSat ||
      (growsWithInputs && leastWaste !== null && waste > leastWaste)
    ) {
      isDone = true;
    } else if (value >= targetSat) {
      const total = waste + (value - targetSat);
      if (leastWaste === null || total <= leastWaste) {
        best = [...taken];
        leastWaste = total;
      }
      isDone = true;
    }
    if (!isDone) {
      const next = pool[taken.length]!;
      const before = pool[taken.length - 1];
      available -= next.effectiveSat;
      // If an equal group was already left out at this point, including this group gives the same set as before.
      const isEqualToSkipped =
        taken[taken.length - 1] === false &&
        before?.effectiveSat === next.effectiveSat &&
        before.feeSat === next.feeSat;
      taken.push(!isEqualToSkipped);
      if (isEqualToSkipped) continue;
      value += next.effectiveSat;
      waste += next.feeSat - next.longTermFeeSat;
      continue;
    }
    while (taken[taken.length - 1] === false) {
      taken.pop();
      available += pool[taken.length]!.effectiveSat;
    }
    if (taken.length === 0) break;
    // Backtracks: excludes the group that was included last.
    taken[taken.length - 1] = false;
    const last = pool[taken.length - 1]!;
    value -= last.effectiveSat;
    waste -= last.feeSat - last.longTermFeeSat;
  }
  const chosen = best;
  return chosen === null ? null : pool.filter((_, i) => chosen[i] === true);
}
