/** The claim store against the naive model: random lives across every fork, with reorganisations. */
import { describe, expect, it } from 'vitest';
import { liveAndCompare, SMALL_RULES } from '../../../support/claimComparison.js';

describe('claim store and naive model', () => {
  for (const [name, rules] of Object.entries(SMALL_RULES)) {
    it(`agree on random lives, ${name}`, async () => {
      let disconnected = 0;
      for (const seed of [7919, 15838]) disconnected += await liveAndCompare(seed, rules, 280);
      expect(disconnected).toBeGreaterThan(20);
    });
  }

  it('agree on hot names, whose history has snapshots', async () => {
    const names = ['ab', 'Ab', 'abc'].map((name) => Buffer.from(name));
    const rules = SMALL_RULES['forks as on main']!;
    expect(await liveAndCompare(31, rules, 280, names)).toBeGreaterThan(5);
  });
});
