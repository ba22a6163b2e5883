import { expect, it } from 'vitest';
import { fuzz } from './support/campaign.js';
import { scriptTarget } from './targets/script.js';

it('ends every script with a verdict, within the limits, and additional flags only restrict it', async () => {
  const { outcomes } = await fuzz(scriptTarget, 5_000);
  expect(outcomes.get('OK')).toBeGreaterThan(200);
  expect(outcomes.size).toBeGreaterThan(25);
});
