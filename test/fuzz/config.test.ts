import { expect, it } from 'vitest';
import { fuzz } from './support/campaign.js';
import { commandLineTarget, configTarget } from './targets/config.js';

it('reads any text as a configuration file, or refuses it by line', async () => {
  const { outcomes } = await fuzz(configTarget, 3_000);
  for (const outcome of ['no configuration', 'refused', 'options'])
    expect(outcomes.get(outcome), outcome).toBeGreaterThan(50);
});

it('reads any words as a command line, or refuses them', async () => {
  const { outcomes } = await fuzz(commandLineTarget, 3_000);
  for (const outcome of ['refused', 'options']) expect(outcomes.get(outcome), outcome).toBeGreaterThan(50);
});
