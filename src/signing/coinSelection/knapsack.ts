/** Selects coins that pay a target with change: tries random sums near the target. Source: `KnapsackSolver`. */
import { shuffle, type Chance } from './random.js';

/** `MIN_CHANGE_SAT`: change amount that the selection aims at. `MIN_FINAL_CHANGE_SAT`: minimum change after fees. */
export const MIN_CHANGE_SAT = 1_000_000n;
export const MIN_FINAL_CHANGE_SAT = MIN_CHANGE_SAT / 2n;

const ROUNDS = 1000;

interface Valued {
  readonly valueSat: bigint;
}

/**
 * Selects groups that pay the target, if possible with a change of at least `MIN_CHANGE_SAT`. Null if the funds are
 * insufficient.
 */
export function knapsack<G extends Valued>(
  targetSat: bigint,
  groups: readonly G[],
  chance: Chance,
): G[] | null {
  let larger: G | null = null;
  const smaller: G[] = [];
  let sumSat = 0n;
  for (const group of shuffle([...groups], chance)) {
    const { valueSat } = group;
    if (valueSat === targetSat) return [group];
    if (valueSat < targetSat + MIN_CHANGE_SAT) {
      smaller.push(group);
      sumSat += valueSat;
    } else if (larger === null || valueSat < larger.valueSat) larger = group;
  }
  if (sumSat === targetSat) return smaller;
  if (sumSat < targetSat) return larger === null ? null : [larger];

  smaller.sort((a, b) => (a.valueSat === b.valueSat ? 0 : a.valueSat > b.valueSat ? -1 : 1));
  let best = nearSum(smaller, sumSat, targetSat, chance);
  if (best.sumSat !== targetSat && sumSat >= targetSat + MIN_CHANGE_SAT) {
    best = nearSum(smaller, sumSat, targetSat + MIN_CHANGE_SAT, chance);
  }
  const leavesLittleChange = best.sumSat !== targetSat && best.sumSat < targetSat + MIN_CHANGE_SAT;
  if (larger !== null && (leavesLittleChange || larger.valueSat <= best.sumSat)) return [larger];
  return smaller.filter((_, i) => best.taken[i] === 1);
}

/**
 * Searches at random for a set of groups whose sum exceeds the target as little as possible. Sums are doubles. If doubles
 * would not be exact, larger units are used: values are rounded down and the target is rounded up. Source:
 * `ApproximateBestSubset`.
 */
function nearSum(
  groups: readonly Valued[],
  totalSat: bigint,
  targetSat: bigint,
  chance: Chance,
): { taken: Uint8Array; sumSat: bigint } {
  let unit = 1n;
  while (totalSat / unit > BigInt(Number.MAX_SAFE_INTEGER)) unit *= 2n;
  const values = Float64Array.from(groups, ({ valueSat }) => Number(valueSat / unit));
  const target = Number((targetSat + unit - 1n) / unit);
  const count = values.length;
  const least = values[count - 1] ?? 0;
  const taken = new Uint8Array(count);
  let best = new Uint8Array(count).fill(1);
  let bestSum = Number(totalSat / unit);
  for (let round = 0; round < ROUNDS && bestSum !== target; round++) {
    taken.fill(0);
    let sum = 0;
    let isReached = false;
    // The first pass includes about half of the groups at random. The second pass includes groups that were left out.
    for (let pass = 0; pass < 2 && !isReached; pass++) {
      for (let i = 0; i < count; i++) {
        if (pass === 0 ? !chance.flip() : taken[i] === 1) continue;
        sum += values[i]!;
        taken[i] = 1;
        if (sum < target) continue;
        isReached = true;
        if (sum < bestSum) {
          bestSum = sum;
          best = taken.slice();
        }
        sum -= values[i]!;
        taken[i] = 0;
        // Values are in descending order, so that the remaining values cannot give a better sum.
        if (sum + least >= bestSum) break;
      }
    }
  }
  const sumSat = groups.reduce((sum, { valueSat }, i) => (best[i] === 1 ? sum + valueSat : sum), 0n);
  return { taken: best, sumSat };
}
