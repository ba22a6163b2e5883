/** Compares the claim store with the naive model, with many seeds. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { liveAndCompare, SMALL_RULES } from '../../../support/claimComparison.js';

describe('claim store and naive model, at length', () => {
  for (const [name, rules] of Object.entries(SMALL_RULES)) {
    it(`agree on fifteen random histories, ${name}`, async () => {
      let [disconnected, renewed] = [0, 0];
      for (let seed = 1; seed <= 15; seed++) {
        const life = await liveAndCompare(seed * 104729, rules, 300);
        disconnected += life.disconnected;
        renewed += life.renewed;
        await setImmediate();
      }
      expect(disconnected).toBeGreaterThan(150);
      // Only names with many items are renewed. Some histories have no such names.
      expect(renewed).toBeGreaterThan(0);
    });
  }
});
