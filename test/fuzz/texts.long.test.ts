import { expect, it } from 'vitest';
import { fuzz } from './support/campaign.js';
import { commandLineTarget, configTarget } from './targets/config.js';
import { jsonTarget, rpcBodyTarget } from './targets/rpcBody.js';

it('parses JSON as the runtime does, and loses nothing', async () => {
  const { outcomes } = await fuzz(jsonTarget, 200_000);
  expect(outcomes.get('value')).toBeGreaterThan(0);
  expect(outcomes.get('half of a pair let through')).toBeUndefined();
});

it('answers any body with well-formed JSON-RPC', async () => {
  expect((await fuzz(rpcBodyTarget, 200_000)).outcomes.get('result')).toBeGreaterThan(0);
});

it('reads any text as a configuration file, or refuses it by line', async () => {
  expect((await fuzz(configTarget, 100_000)).outcomes.get('options')).toBeGreaterThan(0);
});

it('reads any words as a command line, or refuses them', async () => {
  expect((await fuzz(commandLineTarget, 100_000)).outcomes.get('options')).toBeGreaterThan(0);
});
