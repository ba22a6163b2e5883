/** The claim index against a naive model, over a random chain with reorganisations, and against itself built again. */
import { expect, it } from 'vitest';
import { ClaimIndexRun } from '../../../support/claimIndexRun.js';

it('equals the naive model, and its rows equal a fresh build after every reorganisation', async () => {
  const run = new ClaimIndexRun(16);
  await run.open();
  try {
    while (run.height < 300) {
      await run.mine(4);
      if (run.height % 10 === 0) await run.check(30);
      if (![163, 240, 275].includes(run.height)) continue;
      await run.reorganise(1 + run.life.random(run.height === 240 ? 100 : 12), 3);
      await run.check(50);
      await run.compareWithFreshBuild();
    }
    for (const [what, count] of Object.entries(run.seen)) expect(count, what).toBeGreaterThan(10);
  } finally {
    await run.close();
  }
});

it('counts the supports of the same spelling only, before the normalization fork', async () => {
  const run = new ClaimIndexRun(13);
  await run.open();
  try {
    while (run.height < 140) {
      await run.mine(5);
      await run.checkTrending();
    }
    expect(run.model.claims.length).toBeGreaterThan(10);
  } finally {
    await run.close();
  }
});
