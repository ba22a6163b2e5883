/** The fork blocks that change every name, with some thousand names in a real database. */
import { describe, expect, it } from 'vitest';
import { FORK_RULES, ForkRun } from '../../../support/forkBlocks.js';

/** More than one batch of the fork. */
const NAMES = 5000;
const FORK = 10;

describe('fork blocks over a database', () => {
  for (const fork of ['normalization', 'hash form'] as const) {
    it(`connect, disconnect and connect again: ${fork}`, async () => {
      const rules =
        fork === 'normalization'
          ? { ...FORK_RULES, normalizationForkHeight: FORK }
          : { ...FORK_RULES, allClaimsForkHeight: FORK + 1 };
      const run = new ForkRun(rules);
      await run.open();
      try {
        const before = await run.grow(NAMES, FORK - 1);
        const digest = await run.digest();
        const roots: string[] = [];
        await run.cross(
          async (root) => {
            roots.push(root);
            expect(root).toBe(await run.rootFromNames(fork === 'hash form'));
          },
          async (root) => {
            expect(root).toBe(before);
            expect(await run.digest()).toBe(digest);
          },
        );
        expect(roots[0]).toBe(roots[1]);
        expect(roots[0]).not.toBe(before);
      } finally {
        await run.close();
      }
    });
  }
});
