import { expect, it } from 'vitest';
import { fuzz } from './support/campaign.js';
import { recordedChainBlocks } from './support/vectors.js';
import { blockTarget } from './targets/block.js';

it('parses any bytes as a block with the same result in three parsers', async () => {
  const { outcomes } = await fuzz(blockTarget(recordedChainBlocks(1, 40)), 2_000);
  expect(outcomes.get('accepted')).toBeGreaterThan(100);
  expect(outcomes.get('refused')).toBeGreaterThan(500);
});
