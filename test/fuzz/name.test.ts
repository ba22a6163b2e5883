import { expect, it } from 'vitest';
import { fuzz } from './support/campaign.js';
import { nameTarget } from './targets/name.js';

it('normalizes any name', async () => {
  const { outcomes } = await fuzz(nameTarget, 6_000);
  for (const outcome of ['invalid UTF-8', 'ASCII', 'unchanged', 'changed']) {
    expect(outcomes.get(outcome), outcome).toBeGreaterThan(50);
  }
});
