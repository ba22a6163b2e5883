import { expect, it } from 'vitest';
import { fuzz } from './support/campaign.js';
import { recordedChainBlocks } from './support/vectors.js';
import { blockTarget } from './targets/block.js';
import { transactionTarget } from './targets/transaction.js';

it('parses any bytes as a block with the same result in three parsers', async () => {
  const seeds = [1, 2, 3, 4, 5].flatMap((chain) => recordedChainBlocks(chain, 20));
  expect((await fuzz(blockTarget(seeds), 150_000)).outcomes.get('accepted')).toBeGreaterThan(0);
});

it('parses any bytes as a transaction with the same result in three parsers', async () => {
  expect((await fuzz(transactionTarget, 300_000)).outcomes.get('accepted')).toBeGreaterThan(0);
});
