import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildClaimPrefix, buildSupportPrefix } from '../../../../src/script/claimScript.js';
import { coinControl, type CoinControl } from '../../../../src/wallet/spending/coinControl.js';
import {
  claimNameFee,
  discardRate,
  minimumFee,
  minimumRate,
  requiredRate,
} from '../../../../src/wallet/spending/feeRates.js';
import { FakeNode } from '../support/fakeNode.js';
import { openTestWallet, type TestWallet } from '../support/openWallet.js';

let node: FakeNode;
let opened: TestWallet;
const open = async (options = {}): Promise<void> => {
  opened = await openTestWallet(node, { keypoolSize: 1, ...options });
};
beforeEach(() => {
  node = new FakeNode();
  node.mineEmpty(1);
});
afterEach(() => opened.close());

const rate = (said: Partial<CoinControl> = {}): bigint =>
  minimumRate(opened.wallet, coinControl(opened.wallet, said)).ratePerKb;

describe('the rate of a transaction', () => {
  it('is the given one, then the target, then settxfee, then the estimate, then the fallback', async () => {
    await open();
    expect(rate()).toBe(20_000n);
    node.estimate = (target) => BigInt(target) * 10_000n;
    expect(rate()).toBe(60_000n);
    opened.wallet.payTxFeeRatePerKb = 7000n;
    expect(rate()).toBe(7000n);
    expect(rate({ confirmTarget: 3 })).toBe(30_000n);
    expect(rate({ confirmTarget: 3, feeRatePerKb: 5000n })).toBe(5000n);
  });

  it('is never below the required rate, unless it is given', async () => {
    await open({ minTxFeeRatePerKb: 4000n });
    expect(requiredRate(opened.wallet)).toBe(4000n);
    expect(rate({ feeRatePerKb: 5n })).toBe(4000n);
    expect(rate({ feeRatePerKb: 5n, overridesMinimum: true })).toBe(5n);
    // The mempool's minimum only applies to estimated fee rates.
    node.rates.mempoolMin = 50_000n;
    expect(rate()).toBe(50_000n);
    opened.wallet.payTxFeeRatePerKb = 7000n;
    expect(rate()).toBe(7000n);
  });

  it('is conservative unless the transaction is replaceable, or as given', async () => {
    await open();
    node.estimate = (_target, conservative) => (conservative ? 2_000n : 1_500n);
    expect(rate()).toBe(2_000n);
    expect(rate({ signalsReplacement: true })).toBe(1_500n);
    expect(rate({ signalsReplacement: true, feeMode: 'CONSERVATIVE' })).toBe(2_000n);
    expect(rate({ feeMode: 'ECONOMICAL' })).toBe(1_500n);
  });

  it('is unknown without estimate and fallback', async () => {
    await open({ fallbackFeeRatePerKb: 0n });
    const { wallet } = opened;
    expect(minimumRate(wallet, coinControl(wallet))).toEqual({ ratePerKb: 0n, isUnknown: true });
  });

  it('limits fees to -maxtxfee, and determines the dust threshold of change', async () => {
    await open({ maxTxFeeSat: 3000n });
    const { wallet } = opened;
    expect(minimumFee(wallet, 100, { ratePerKb: 20_000n, isUnknown: false })).toBe(2000n);
    expect(minimumFee(wallet, 200, { ratePerKb: 20_000n, isUnknown: false })).toBe(3000n);
    expect(discardRate(wallet)).toBe(10_000n);
    node.estimate = (target) => (target === 1008 ? 5000n : 0n);
    expect(discardRate(wallet)).toBe(5000n);
    node.estimate = () => 1n;
    expect(discardRate(wallet)).toBe(3000n);
  });

  it('excludes the cost of names of new claims', async () => {
    await open();
    const name = Buffer.from('four');
    const id = Buffer.alloc(20);
    const claim = { value: 1n, script: buildClaimPrefix(name, Buffer.from('x')) };
    const support = { value: 1n, script: buildSupportPrefix(name, id) };
    expect(claimNameFee([claim, support, claim, { value: 1n, script: Buffer.of(0x51) }])).toBe(1_600_000n);
  });
});
