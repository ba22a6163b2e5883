/** The claim index against a naive model over 3,000 blocks, with reorganisations up to 100 deep. */
import { expect, it } from 'vitest';
import { ClaimIndexRun } from '../../../support/claimIndexRun.js';

const BLOCKS = 3000;
/** Number of blocks that the naive model stores: more than are disconnected at a time. */
const REMEMBERED = 150;

it('equals the naive model over a long history', { timeout: 1_800_000 }, async () => {
  const run = new ClaimIndexRun(3000);
  await run.open();
  try {
    for (let turns = 0; run.height < BLOCKS; turns++) {
      await run.mine(5);
      run.model.forget(REMEMBERED);
      if (turns % 10 === 0) await run.check(50);
      if (turns % 150 !== 149) continue;
      await run.reorganise(1 + run.life.random(100), 4);
      await run.check(100);
      await run.compareWithFreshBuild();
    }
    for (const [what, count] of Object.entries(run.seen)) expect(count, what).toBeGreaterThan(50);
  } finally {
    await run.close();
  }
});
