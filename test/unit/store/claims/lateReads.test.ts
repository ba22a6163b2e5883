/** Rows that a block uses and that were not prefetched are read when they are used. */
import { describe, expect, it } from 'vitest';
import type { ClaimRules } from '../../../../src/claimtrie/types.js';
import { HandChain, PAST_FORKS } from '../../../support/claimBlocks.js';

const FORK = 250;
const AT_FORK: ClaimRules = { ...PAST_FORKS, normalizationForkHeight: FORK, allClaimsForkHeight: 350 };

describe('the block of the normalization fork', () => {
  it('inserts a name below a leaf that the block only read', async () => {
    const chain = new HandChain(AT_FORK);
    const owner = chain.claim('ba', 10);
    chain.claim('bAc', 10);
    await chain.mineTo(FORK - 2);
    const support = chain.support(owner, 5);
    await chain.mine();
    chain.spend(support);
    await chain.mine();
    expect((await chain.name('bac')).claims).toHaveLength(1);
  });
});
