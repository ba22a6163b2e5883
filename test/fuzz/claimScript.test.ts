import { expect, it } from 'vitest';
import { fuzz } from './support/campaign.js';
import { claimScriptTarget } from './targets/claimScript.js';

it('recognizes the same claim prefixes in all implementations', async () => {
  const { outcomes } = await fuzz(claimScriptTarget, 6_000);
  for (const kind of ['none', 'claim', 'support', 'support with metadata', 'update']) {
    expect(outcomes.get(kind), kind).toBeGreaterThan(100);
  }
});
