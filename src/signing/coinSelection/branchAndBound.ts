/**
 * Coins that pay a target without change: a search for the set that wastes least. Source: `SelectCoinsBnB`, after M.
 * Erhardt, "An Evaluation of Coin Selection Strategies".
 */

/** A group with what spending it costs. */
export interface WeighedGroup {
  /** What remains of its value when its inputs are paid for; above 0. */
  readonly effectiveSat: bigint;
  /** What its inputs cost now, and what they would cost when there is time. */
  readonly feeSat: bigint;
  readonly longTermFeeSat: bigint;
}

/** The number of nodes of the tree that are visited at most. */
const MAX_TRIES = 100_000;

/**
 * The groups whose effective values sum up to at least the target and at most `toleranceSat` (the cost of change) more, with
 * the least waste found: the excess, and what their inputs cost more now than later. Null when there are none.
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
  // Waste only grows with each input while fees are above those of the long term.
  const growsWithInputs = pool[0]!.feeSat > pool[0]!.longTermFeeSat;

  /** Whether each group up to here is taken. */
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
      // With one like it left out already, taking this one gives nothing new.
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
    // The last that was taken is left out next.
    taken[taken.length - 1] = false;
    const last = pool[taken.length - 1]!;
    value -= last.effectiveSat;
    waste -= last.feeSat - last.longTermFeeSat;
  }
  const chosen = best;
  return chosen === null ? null : pool.filter((_, i) => chosen[i] === true);
}
