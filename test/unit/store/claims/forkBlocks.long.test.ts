/** The fork blocks that change every name, with 200,000 names: right results and bounded memory. */
import { describe, expect, it } from 'vitest';
import { FORK_RULES, ForkRun } from '../../../support/forkBlocks.js';

const NAMES = 200_000;
const FORK = 120;
/** Additional memory of a fork block: the rows of a transaction that are not spilled, and a batch of names. */
const EXTRA_MB = 300;

describe('fork blocks with 200,000 names', () => {
  for (const fork of ['normalization', 'hash form'] as const) {
    it(fork, async () => {
      const rules =
        fork === 'normalization'
          ? { ...FORK_RULES, normalizationForkHeight: FORK }
          : { ...FORK_RULES, allClaimsForkHeight: FORK + 1 };
      const run = new ForkRun(rules);
      await run.open();
      try {
        const before = await run.grow(NAMES, FORK - 1);
        const digest = await run.digest();
        const figures = await run.cross(
          async (root) => {
            expect(root).toBe(await run.rootFromNames(fork === 'hash form'));
          },
          async (root) => {
            expect(root).toBe(before);
            expect(await run.digest()).toBe(digest);
          },
        );
        console.log(
          `${fork}, ${NAMES} names: connected in ${figures.connectSec.toFixed(1)} s, disconnected in ${figures.disconnectSec.toFixed(1)} s, again in ${figures.reconnectSec.toFixed(1)} s, ${figures.extraMb.toFixed(0)} MB more memory`,
        );
        expect(figures.extraMb).toBeLessThan(EXTRA_MB);
      } finally {
        await run.close();
      }
    });
  }
});
