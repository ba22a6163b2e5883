import { describe, expect, it } from 'vitest';
import { replay } from './support/replay.js';
import { shared } from './support/node.js';

describe('recorded chains of the reference', () => {
  for (const number of [1, 2, 3, 4, 5]) {
    const chain = shared(`conformance/chains/${number}`);
    it.runIf(chain)(`chain ${number} gives the recorded answers`, async () => {
      const outcome = await replay({ chain: chain! });
      expect(outcome.differences).toEqual([]);
      console.log(`chain ${number}: ${outcome.blocks} verdicts and ${outcome.answers} answers agree`);
    });

    it.runIf(chain)(`chain ${number} survives kill -9 every 100 blocks`, async () => {
      const outcome = await replay({ chain: chain!, killEvery: 100 });
      expect(outcome.differences).toEqual([]);
      expect(outcome.restarts).toBeGreaterThan(10);
      console.log(`chain ${number}: ${outcome.restarts} kills, ${outcome.answers} answers agree`);
    });

    it.runIf(chain)(`chain ${number} agrees without the native addon`, async () => {
      const outcome = await replay({ chain: chain!, env: { LBCNODE_NATIVE: '0' }, askEvery: 4 });
      expect(outcome.differences).toEqual([]);
      console.log(
        `chain ${number} without the addon: ${outcome.blocks} verdicts and ${outcome.answers} answers agree`,
      );
    });
  }
});
