import { afterEach, describe, expect, it, vi } from 'vitest';
import { CoinSelector } from '../../../../../src/daemon/wallet/tx/coinSelection.js';
import { poolOf, type ListedCoin } from '../../../../support/utxoPool.js';

const coin = (effectiveAmount: bigint): ListedCoin => ({ effectiveAmount, height: 1 });
const selectorOf = (target: bigint, costOfChange: bigint): CoinSelector<ListedCoin> =>
  new CoinSelector(target, costOfChange, () => 0);

afterEach(() => {
  vi.restoreAllMocks();
});

const MAX_TRIES = 100_000;

/**
 * Branch and bound as lbry-sdk implements it, coin by coin. Returns the positions of the selected coins, and the number of tries.
 */
function byCoins(amounts: readonly bigint[], target: bigint, cost: bigint): [number[], number] {
  const sorted = amounts
    .map((amount, place) => ({ amount, place }))
    .sort((a, b) => Number(b.amount - a.amount));
  let available = amounts.reduce((sum, amount) => sum + amount, 0n);
  if (target > available) return [[], 0];
  let [value, bestWaste, tries] = [0n, cost, 0];
  let best: boolean[] = [];
  const taken: boolean[] = [];
  while (tries < MAX_TRIES) {
    tries++;
    if (value + available >= target && value <= target + cost) {
      if (value < target) {
        const at = taken.length;
        const { amount } = sorted[at]!;
        available -= amount;
        taken.push(taken[at - 1] !== false || amount !== sorted[at - 1]!.amount);
        if (taken[at]) value += amount;
        continue;
      }
      if (value - target <= bestWaste) [bestWaste, best] = [value - target, [...taken]];
    }
    while (taken.at(-1) === false) {
      taken.pop();
      available += sorted[taken.length]!.amount;
    }
    if (taken.length === 0) break;
    taken[taken.length - 1] = false;
    value -= sorted[taken.length - 1]!.amount;
  }
  return [sorted.filter((_, at) => best[at]).map(({ place }) => place), tries];
}

describe('choosing coins', () => {
  it('yields to other work', async () => {
    // Even amounts cannot add up to an odd target, so the search uses all its tries.
    const coins = Array.from({ length: 40 }, (_, n) => coin(BigInt(2 * n + 1000)));
    const selector = selectorOf(20_001n, 0n);
    // Each reading of the clock ends a slice.
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 1000));
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await selector.select(poolOf(coins), 'branch_and_bound');
    isDone = true;
    expect([selector.tries, selector.isExactMatch]).toEqual([MAX_TRIES, false]);
    expect(turns).toBeGreaterThan(40);
  });

  it('finds by amounts the same coins as a search coin by coin, with as many tries', async () => {
    let state = 7;
    const random = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((state / 2 ** 31) * below);
    };
    let found = 0;
    for (let round = 0; round < 600; round++) {
      const spread = 1 + random(30);
      // Some coins cost more to spend than they are worth.
      const amounts = Array.from({ length: random(14) }, () => BigInt(random(spread) * 50 - random(4) * 20));
      const target = BigInt(1 + random(900));
      const cost = BigInt(random(60));
      const selector = selectorOf(target, cost);
      const chosen = await selector.select(poolOf(amounts.map(coin)), 'branch_and_bound');
      const [places, tries] = byCoins(amounts, target, cost);
      expect(chosen.map(({ effectiveAmount }) => effectiveAmount)).toEqual(
        places.map((place) => amounts[place]),
      );
      if (places.length > 0) found++;
      if (amounts.length > 0) expect(selector.tries).toBe(tries);
    }
    expect(found).toBeGreaterThan(100);
  });

  it('reads few of many amounts', async () => {
    const coins = Array.from({ length: 5000 }, (_, n) => coin(BigInt(1000 + n)));
    const pool = poolOf(coins, 16);
    let read = 0;
    const counting = {
      ...pool,
      below: async (amount: bigint | null) => {
        const some = await pool.below(amount);
        read += some.length;
        return some;
      },
    };
    const chosen = await selectorOf(1500n, 0n).select(counting, 'standard');
    expect(chosen.map(({ effectiveAmount }) => effectiveAmount)).toEqual([1500n]);
    expect(read).toBeLessThan(600);
  });
});
