import { expect, it } from 'vitest';
import { fuzz } from './support/campaign.js';
import { claimFactsTarget } from './targets/claimFacts.js';

it('reads the same facts of a value as decoding does', async () => {
  const isFull = process.env['LBCNODE_FULL'] === '1';
  const { outcomes } = await fuzz(claimFactsTarget, isFull ? 100_000 : 5000);
  for (const outcome of ['refused', 'no kind', 'stream', 'channel', 'collection', 'repost'])
    expect(outcomes.get(outcome) ?? 0, outcome).toBeGreaterThan(30);
});
