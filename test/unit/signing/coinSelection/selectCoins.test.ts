import { describe, expect, it } from 'vitest';
import { CoinGroup, type CoinStanding } from '../../../../src/signing/coinSelection/coinGroup.js';
import { FastChance } from '../../../../src/signing/coinSelection/random.js';
import {
  selectCoins,
  type ExactPayment,
  type SelectionOptions,
} from '../../../../src/signing/coinSelection/selectCoins.js';

const CENT = 1_000_000n;
const chance = new FastChance(Buffer.from('a seed of sixteen'));
const OPTIONS: SelectionOptions = {
  spendsUnconfirmedChange: true,
  maxAncestors: 25,
  maxDescendants: 25,
  rejectsLongChains: false,
};
const CONFIRMED: CoinStanding = { depth: 6, isFromMe: false, ancestors: 0, descendants: 0 };

interface Coin {
  valueSat: bigint;
  inputSizeBytes: number;
}
const coin = (cents: number, inputSizeBytes = 148): Coin => ({
  valueSat: BigInt(cents) * CENT,
  inputSizeBytes,
});
const group = (one: Coin, standing: Partial<CoinStanding> = {}): CoinGroup<Coin> =>
  CoinGroup.of(one, { ...CONFIRMED, ...standing });
const exact = (changes: Partial<ExactPayment> = {}): ExactPayment => ({
  feeFor: (sizeBytes) => BigInt(sizeBytes) * 3n,
  longTermFeeFor: (sizeBytes) => BigInt(sizeBytes),
  costOfChangeSat: 500n,
  baseFeeSat: 100n,
  ...changes,
});
const select = (
  groups: CoinGroup<Coin>[],
  cents: number,
  payment: ExactPayment | null = null,
  options: Partial<SelectionOptions> = {},
) => selectCoins(groups, BigInt(cents) * CENT, { ...OPTIONS, ...options }, payment, chance);

describe('selectCoins', () => {
  it('prefers coins with six confirmations, then other confirmed coins, then own change', () => {
    const deep = coin(5);
    const shallow = coin(5);
    const change = coin(5);
    const groups = [
      group(change, { depth: 0, isFromMe: true, ancestors: 1, descendants: 1 }),
      group(shallow, { depth: 1 }),
      group(deep),
    ];
    expect(select(groups, 5)!.coins).toEqual([deep]);
    expect(new Set(select(groups, 10)!.coins)).toEqual(new Set([deep, shallow]));
    expect(select(groups, 15)!.valueSat).toBe(15n * CENT);
    expect(select(groups, 15, null, { spendsUnconfirmedChange: false })).toBeNull();
    expect(select(groups, 16)).toBeNull();
  });

  it('never selects unconfirmed outputs of others', () => {
    expect(select([group(coin(5), { depth: 0, isFromMe: false, ancestors: 1 })], 1)).toBeNull();
  });

  it('selects long chains of unconfirmed transactions last, or not at all', () => {
    const groups = [group(coin(5), { depth: 0, isFromMe: true, ancestors: 30, descendants: 30 })];
    expect(select(groups, 5)!.coins).toHaveLength(1);
    expect(select(groups, 5, null, { rejectsLongChains: true })).toBeNull();
  });

  it('sums the ancestors of a group, and uses its longest chain of descendants', () => {
    const pair = new CoinGroup<Coin>();
    pair.add(coin(1), { depth: 0, isFromMe: true, ancestors: 2, descendants: 3 });
    pair.add(coin(2), { depth: 4, isFromMe: true, ancestors: 3, descendants: 1 });
    const limits = { minDepthMine: 0, minDepthTheirs: 1 };
    expect(pair.isEligible({ ...limits, maxAncestors: 5, maxDescendants: 3 })).toBe(true);
    expect(pair.isEligible({ ...limits, maxAncestors: 4, maxDescendants: 3 })).toBe(false);
    expect(pair.isEligible({ ...limits, maxAncestors: 5, maxDescendants: 2 })).toBe(false);
    expect(pair.isEligible({ ...limits, minDepthMine: 1, maxAncestors: 5, maxDescendants: 3 })).toBe(false);
    pair.add(coin(3), { depth: 3, isFromMe: false, ancestors: 0, descendants: 0 });
    expect(pair.isEligible({ ...limits, maxAncestors: 5, maxDescendants: 3 })).toBe(false);
    expect(pair.valueSat).toBe(6n * CENT);
  });

  it('includes the fees of the inputs and of the rest of the transaction in an exact match', () => {
    const one = { valueSat: CENT + 3n * 148n + 100n, inputSizeBytes: 148 };
    expect(select([group(one), group(coin(30))], 1, exact())!.coins).toEqual([one]);
    const less = { ...one, valueSat: one.valueSat - 1n };
    expect(select([group(less), group(coin(30))], 1, exact())).toBeNull();
    const more = { ...one, valueSat: one.valueSat + 501n };
    expect(select([group(more), group(coin(30))], 1, exact())).toBeNull();
  });

  it('excludes coins that are worth less than the fee of their input', () => {
    const dust = { valueSat: 400n, inputSizeBytes: 148 };
    expect(select([group(dust)], 0, exact({ baseFeeSat: 1n }))).toBeNull();
    const pair = new CoinGroup<Coin>();
    const good = { valueSat: CENT + 3n * 148n + 100n, inputSizeBytes: 148 };
    pair.add(dust, CONFIRMED);
    pair.add(good, CONFIRMED);
    expect(select([pair], 1, exact())!.coins).toEqual([good]);
  });
});
