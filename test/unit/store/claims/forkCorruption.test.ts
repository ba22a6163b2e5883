/** Rows of the claim trie that are missing before, at and after each fork: the roots of blocks are the same. */
import { expect, it } from 'vitest';
import { crossForks } from '../../../support/forkLife.js';

const FORK_BLOCKS = 200;

it('rebuilds missing nodes of the trie around forks, and agrees with the naive model', async () => {
  const { removed, repairs } = await crossForks(Number(process.env['FORK_SEED'] ?? 1), FORK_BLOCKS, true);
  expect(removed).toBeGreaterThan(FORK_BLOCKS);
  expect(repairs).toBeGreaterThan(removed / 10);
});
