/** Consensus quirks of the reference, one by one. The recorded chains contain them too. */
import { describe, expect, it } from 'vitest';
import type { ClaimRules } from '../../../src/claimtrie/types.js';
import { HandChain } from '../../support/claimBlocks.js';

const RULES: ClaimRules = {
  originalExpiration: 5000,
  extendedExpiration: 6000,
  extendedExpirationForkHeight: 5000,
  normalizationForkHeight: 4000,
  takeoverWorkaroundMin: -1,
  takeoverWorkaroundMax: -1,
  allClaimsForkHeight: 4500,
  supportDelay: 'proportional',
};
const WORKAROUNDS: ClaimRules = { ...RULES, takeoverWorkaroundMin: 100, takeoverWorkaroundMax: 2000 };

describe('delay of a name that has lost its claims earlier in the block', () => {
  async function emptied(rules: ClaimRules, children: readonly string[]): Promise<number[]> {
    const chain = new HandChain(rules);
    const owner = chain.claim('a', 10);
    for (const name of children) chain.claim(name, 10);
    await chain.mineTo(640);
    chain.spend(owner);
    // A takeover activates the first claim at once. So the delay is measured in a block without a takeover.
    const [first, second] = [chain.claim('a', 20), chain.claim('a', 10)];
    await chain.mine();
    const { claims } = await chain.name('a');
    expect(claims.map((claim) => claim.claimId)).toEqual([first.claimId, second.claimId]);
    return claims.map((claim) => claim.validAtHeight);
  }

  it('is removed by the takeover, whatever its value was', async () => {
    expect(await emptied(RULES, ['ab'])).toEqual([641, 641]);
    expect(await emptied(WORKAROUNDS, ['ab'])).toEqual([641, 641]);
  });

  /** A block that spends and updates the owner causes no takeover, so delays apply. */
  async function delayed(rules: ClaimRules, children: readonly string[]): Promise<number[]> {
    const chain = new HandChain(rules);
    const owner = chain.claim('a', 1000);
    for (const name of children) chain.claim(name, 10);
    await chain.mineTo(640);
    chain.update(owner, 1000);
    chain.claim('a', 20);
    chain.claim('a', 10);
    await chain.mine();
    return chain.validHeights('a');
  }

  it('counts the previous ownership if the node was removed, and none if it still exists', async () => {
    expect(await delayed(RULES, [])).toEqual([641, 661, 661]);
    expect(await delayed(RULES, ['ab'])).toEqual([641, 661, 661]);
    expect(await delayed(RULES, ['ab', 'ac'])).toEqual([641, 641, 641]);
  });

  it('is zero once, with one child, while the removal workaround is active', async () => {
    expect(await delayed(WORKAROUNDS, [])).toEqual([641, 661, 661]);
    expect(await delayed(WORKAROUNDS, ['ab'])).toEqual([641, 641, 661]);
  });

  it('is zero once for the first query, also of an input without effect', async () => {
    const chain = new HandChain(WORKAROUNDS);
    const owner = chain.claim('a', 1000);
    chain.claim('ab', 10);
    await chain.mineTo(640);
    chain.update(owner, 1000);
    const strange = { ...owner, txid: Buffer.alloc(32, 7), coinHeight: 1 };
    chain.spend(strange);
    chain.claim('a', 20);
    await chain.mine();
    expect(await chain.validHeights('a')).toEqual([641, 661]);
  });
});

describe('takeover workaround', () => {
  /** Takeover height of `name` after a block in which a support of it is spent and its claim updated. */
  async function takeover(
    rules: ClaimRules,
    order: 'support first' | 'claim first',
    neighbour?: string,
  ): Promise<number> {
    const chain = new HandChain(rules);
    const owner = chain.claim('abc', 1000);
    const other = neighbour === undefined ? null : chain.claim(neighbour, 10);
    chain.claim('zzz', 10);
    await chain.mine();
    const support = chain.support(owner, 5);
    await chain.mineTo(640);
    if (other) chain.spend(other);
    if (order === 'support first') {
      chain.spend(support);
      chain.update(owner, 1000);
    } else {
      chain.update(owner, 1000);
      chain.spend(support);
    }
    await chain.mine();
    const name = await chain.name('abc');
    expect(name.claims).toHaveLength(1);
    return name.lastTakeoverHeight;
  }

  it('renews the takeover height of a name whose support is spent while its node is not loaded', async () => {
    expect(await takeover(WORKAROUNDS, 'support first')).toBe(641);
    expect(await takeover(WORKAROUNDS, 'claim first')).toBe(641);
  });

  it('does nothing outside its range', async () => {
    expect(await takeover(RULES, 'support first')).toBe(1);
    expect(await takeover({ ...WORKAROUNDS, takeoverWorkaroundMin: 641 }, 'support first')).toBe(1);
    expect(await takeover({ ...WORKAROUNDS, takeoverWorkaroundMax: 641 }, 'support first')).toBe(1);
  });

  it('does nothing in the block of the hash fork, which loads every node, except for an erased node', async () => {
    const forkAt = (allClaimsForkHeight: number): ClaimRules => ({ ...WORKAROUNDS, allClaimsForkHeight });
    expect(await takeover(forkAt(641), 'support first')).toBe(641);
    expect(await takeover(forkAt(642), 'support first')).toBe(1);
    expect(await takeover(forkAt(642), 'claim first')).toBe(641);
    expect(await takeover(forkAt(643), 'support first')).toBe(641);
  });

  it('does nothing when a neighbour below the same node was loaded before', async () => {
    expect(await takeover(WORKAROUNDS, 'support first', 'abd')).toBe(1);
    expect(await takeover(WORKAROUNDS, 'support first', 'zzy')).toBe(1);
    expect(await takeover(WORKAROUNDS, 'claim first', 'abd')).toBe(641);
  });

  it('does not change pending claims', async () => {
    const chain = new HandChain(WORKAROUNDS);
    const owner = chain.claim('abc', 1000);
    await chain.mine();
    const support = chain.support(owner, 5);
    await chain.mineTo(640);
    chain.claim('abc', 10);
    await chain.mine();
    chain.spend(support);
    chain.update(owner, 1000);
    await chain.mine();
    const name = await chain.name('abc');
    expect(name.lastTakeoverHeight).toBe(642);
    expect(name.claims.map((claim) => [claim.active, claim.validAtHeight])).toEqual([
      [true, 642],
      [false, 661],
    ]);
  });
});

describe('queue around the normalization fork', () => {
  it('does not find a pending item by its raw name that was queued under the normalized one', async () => {
    const chain = new HandChain({ ...RULES, normalizationForkHeight: 650 });
    chain.claim('Abc', 1000);
    await chain.mineTo(400);
    const update = chain.claim('Abc', 10);
    await chain.mine();
    expect((await chain.name('Abc')).claims).toHaveLength(2);
    await chain.mineTo(640);
    // Active at 641 + 20, above the fork, so it is queued under the normalized name "abc".
    const late = chain.claim('Abc', 20);
    await chain.mine();
    expect((await chain.name('abc')).claims.map((claim) => claim.validAtHeight)).toEqual([661]);
    // The spend at 642 computes the same height and finds the claim. The spend of an older output computes a lower height and
    // searches under the raw name.
    chain.spend(late);
    await chain.mine();
    expect((await chain.name('abc')).claims).toEqual([]);
    chain.spend(update);
    await chain.mine();
    expect((await chain.name('Abc')).claims).toHaveLength(1);
  });

  it('activates an item whose output was spent under another name', async () => {
    const chain = new HandChain({ ...RULES, normalizationForkHeight: 650 });
    const owner = chain.claim('Abc', 1000);
    await chain.mineTo(640);
    const late = chain.claim('Abc', 20);
    await chain.mine();
    // Without an owner, claims of the name have no delay. So the spend computes 641 and searches under the raw name.
    chain.spend(owner);
    await chain.mine();
    chain.spend(late);
    await chain.mine();
    await chain.mineTo(670);
    const { claims } = await chain.name('abc');
    expect(claims.map((claim) => [claim.active, claim.validAtHeight])).toEqual([[true, 661]]);
  });
});
