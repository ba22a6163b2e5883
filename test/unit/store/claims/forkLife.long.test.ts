/** Blocks with many operations around each fork, compared with the naive model. 200,000 fork blocks in full size. */
import { expect, it } from 'vitest';
import { crossForks } from '../../../support/forkLife.js';

const isFull = process.env['LBCNODE_FULL'] === '1';
const FORK_BLOCKS = isFull ? 200_000 : 2000;
/** Only for what hangs. */
const HANG_MS = isFull ? 4 * 3_600_000 : 300_000;

it(
  `claim store and naive model agree on ${FORK_BLOCKS} blocks of forks`,
  async () => {
    const { chains } = await crossForks(Number(process.env['FORK_SEED'] ?? 1), FORK_BLOCKS);
    console.log(`${FORK_BLOCKS} blocks of forks in ${chains} chains`);
    expect(chains).toBeGreaterThan(FORK_BLOCKS / 10);
  },
  HANG_MS,
);
