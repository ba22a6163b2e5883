import { expect, it } from 'vitest';
import { fuzz } from './support/campaign.js';
import { jsonTarget, rpcBodyTarget } from './targets/rpcBody.js';

it('parses JSON as the runtime does, and loses nothing', async () => {
  const { outcomes } = await fuzz(jsonTarget, 6_000);
  for (const outcome of ['refused', 'value', 'half of a pair']) {
    expect(outcomes.get(outcome), outcome).toBeGreaterThan(5);
  }
  expect(outcomes.get('half of a pair let through')).toBeUndefined();
});

it('answers any body with well-formed JSON-RPC', async () => {
  const { outcomes } = await fuzz(rpcBodyTarget, 6_000);
  for (const outcome of [
    'result',
    'batch',
    'no answer',
    'error -1',
    'error -3',
    'error -8',
    'error -32600',
    'error -32601',
    'error -32700',
  ]) {
    expect(outcomes.get(outcome), outcome).toBeGreaterThan(5);
  }
});
