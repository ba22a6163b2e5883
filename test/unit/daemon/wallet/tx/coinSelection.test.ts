import { describe, expect, it } from 'vitest';
import { CoinSelector, type Coin } from '../../../../../src/daemon/wallet/tx/coinSelection.js';

const coin = (effectiveAmount: bigint): Coin => ({ effectiveAmount, height: 1 });

describe('choosing coins', () => {
  it('pauses at least every few thousand tries', () => {
    // Even amounts never make up an odd target: all is tried that may be.
    const coins = Array.from({ length: 40 }, (_, n) => coin(BigInt(2 * n + 1000)));
    const selector = new CoinSelector<Coin>(20_001n, 0n, () => 0);
    const work = selector.select(coins, 'branch_and_bound');
    let pauses = 0;
    while (work.next().done !== true) pauses++;
    expect([selector.tries, selector.isExactMatch]).toEqual([100_000, false]);
    expect(pauses).toBeGreaterThan(40);
  });
});
