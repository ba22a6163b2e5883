/** A list of coins for coin selection. */
import type { Coin, UtxoPool } from '../../src/daemon/wallet/tx/utxoPool.js';

export interface ListedCoin extends Coin {
  readonly height: number;
}

/** A UTXO pool over a list. `below` returns at most `atOnce` amounts. */
export function poolOf<C extends ListedCoin>(coins: readonly C[], atOnce = 3): UtxoPool<C> {
  const sumOf = (some: readonly C[]): bigint =>
    some.reduce((sum, { effectiveAmount }) => sum + effectiveAmount, 0n);
  const amounts = (some: readonly C[]): bigint[] =>
    [...new Set(some.map(({ effectiveAmount }) => effectiveAmount))].sort((a, b) => (a < b ? 1 : -1));
  const having = (amount: bigint): C[] => coins.filter(({ effectiveAmount }) => effectiveAmount === amount);
  return {
    sum: () => Promise.resolve(sumOf(coins)),
    above(amount) {
      const some = coins.filter(({ effectiveAmount }) => effectiveAmount > amount);
      return Promise.resolve({ count: some.length, amounts: amounts(some).length, sum: sumOf(some) });
    },
    below(amount) {
      const some = amounts(coins).filter((one) => amount === null || one < amount);
      return Promise.resolve(
        some.slice(0, atOnce).map((one) => ({ effectiveAmount: one, count: having(one).length })),
      );
    },
    leastFrom: (amount) => Promise.resolve(amounts(coins).findLast((one) => one >= amount) ?? null),
    take: ({ effectiveAmount, count }) => Promise.resolve(having(effectiveAmount).slice(0, count)),
    all: () => Promise.resolve(coins),
    confirmed: () =>
      poolOf(
        coins.filter(({ height }) => height > 0),
        atOnce,
      ),
  };
}
