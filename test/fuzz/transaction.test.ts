import { expect, it } from 'vitest';
import { fuzz } from './support/campaign.js';
import { transactionTarget } from './targets/transaction.js';

it('parses any bytes as a transaction with the same result in three parsers', async () => {
  const { outcomes } = await fuzz(transactionTarget, 5_000);
  expect(outcomes.get('accepted')).toBeGreaterThan(500);
  expect(outcomes.get('accepted in another form')).toBeGreaterThan(5);
  expect(outcomes.get('refused')).toBeGreaterThan(1_000);
});
