/** Compares the claim store with the naive model: random operations across every fork, with reorganisations. */
import { describe, expect, it } from 'vitest';
import { crossForks } from '../../../support/forkLife.js';
import { LIFE_NAMES } from '../../../support/claimLife.js';
import { liveAndCompare, SMALL_RULES } from '../../../support/claimComparison.js';
import { IS_LONG } from '../../../support/long.js';

/** Number of blocks of a history. All forks are below height 231. */
const BLOCKS = IS_LONG ? 280 : 245;

/** Checks that a history had reorganisations of more than `blocks` blocks in all, and a name with many items that changed. */
function expectLife(life: { disconnected: number; renewed: number }, blocks: number): void {
  expect(life.disconnected).toBeGreaterThan(blocks);
  expect(life.renewed).toBeGreaterThan(0);
}

describe('claim store and naive model', () => {
  for (const [name, rules] of Object.entries(SMALL_RULES)) {
    it(`agree on a random history, ${name}`, async () => {
      expectLife(await liveAndCompare(7919, rules, BLOCKS), 10);
    });
  }

  it('agree on blocks of forks', async () => {
    expect((await crossForks(1, IS_LONG ? 300 : 150)).chains).toBeGreaterThan(IS_LONG ? 30 : 15);
  });

  for (const fetchedPercent of IS_LONG ? [0, 50] : [0]) {
    it(`agree if ${fetchedPercent} % of the rows are prefetched`, async () => {
      const rules = SMALL_RULES['forks as on regtest']!;
      expectLife(await liveAndCompare(6067, rules, BLOCKS, LIFE_NAMES, fetchedPercent), 10);
    });
  }

  it('agree on hot names, whose history has snapshots', async () => {
    const names = ['ab', 'Ab', 'abc'].map((name) => Buffer.from(name));
    const rules = SMALL_RULES['forks as on main']!;
    expectLife(await liveAndCompare(31, rules, BLOCKS, names), 5);
  });
});
