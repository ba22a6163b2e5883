import { expect, it } from 'vitest';
import { fuzz } from './support/campaign.js';
import { claimValueTarget } from './targets/claimValue.js';

it('decodes values or refuses them, and encodes what they mean', async () => {
  const { outcomes } = await fuzz(claimValueTarget, 6_000);
  for (const outcome of [
    'refused',
    'version 0 with JSON',
    'version 1 with JSON',
    'version 1 signed with JSON',
    'version 2 with JSON',
    'version 2 signed with JSON',
    'version 2 without JSON',
  ])
    expect(outcomes.get(outcome), outcome).toBeGreaterThan(30);
});
