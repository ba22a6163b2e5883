/**
 * Compares searches with a naive model over a random chain: claims of every kind, channels that change their keys or are
 * abandoned, reposts, supports, names with equal normalization, lists of channels that censor, and reorganisations of up to 100
 * blocks. After each reorganisation, claim index and search index must equal new ones. By default, the same tenth of the run is
 * executed each time. LBCNODE_FULL=1 runs 3,000 blocks and 20,000 searches with a new seed. LBCNODE_SEARCH_SEED repeats a run.
 */
import { describe, expect, it } from 'vitest';
import { ClaimSearchRun } from '../../support/claimSearchRun.js';
import { searchBackends } from '../../support/searchBackends.js';

const full = process.env['LBCNODE_FULL'] === '1';
const seed = Number(process.env['LBCNODE_SEARCH_SEED'] ?? (full ? Date.now() % 2 ** 31 : 2016));
const BLOCKS = full ? 3000 : 300;
const SEARCHES = full ? 20_000 : 2000;
/** Blocks between searches, and between reorganisations. */
const SEARCHED_EVERY = 5;
const REORGANISED_EVERY = 80;
/** Number of blocks that the naive model stores: more than are disconnected at a time. */
const REMEMBERED = 150;

describe.each(searchBackends)('search in $name', (backend) => {
  it(`equals loops over arrays for ${SEARCHES} searches`, { timeout: 7_200_000 }, async () => {
    console.log(`LBCNODE_SEARCH_SEED=${seed}`);
    const run = new ClaimSearchRun(seed, backend);
    await run.open();
    try {
      const start = run.height;
      const due = () => Math.ceil((SEARCHES * (run.height - start)) / (BLOCKS - start));
      for (let turn = 1; run.height < BLOCKS; turn++) {
        await run.mine(5);
        run.model.forget(REMEMBERED);
        if (turn % SEARCHED_EVERY === 0) {
          // The index processes some blocks one by one, and others several at a time.
          await run.sync();
          await run.search(Math.max(0, due() - run.found.searches));
        }
        if (turn % REORGANISED_EVERY !== 0) continue;
        const depth = 1 + run.life.random(100);
        await run.reorganise(Math.min(depth, run.height - run.firstClaims + 1), 4);
        await run.search(20);
        await run.compareWithFreshBuilds();
      }
      await run.sync();
      await run.search(Math.max(0, SEARCHES - run.found.searches));
      await run.compareWithFreshBuilds();
      expect(run.found.searches).toBeGreaterThanOrEqual(SEARCHES);
      expect(run.found.withHits).toBeGreaterThan(SEARCHES / 2);
      expect(run.found.documents).toBeGreaterThan(50);
      if (full) expect(run.found.censored).toBeGreaterThan(0);
    } finally {
      await run.close();
    }
  });
});
