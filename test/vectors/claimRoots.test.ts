/** The claim root of every block of the recorded chains, across all forks and reorganisations. */
import { describe, expect, it } from 'vitest';
import { CHAIN_RULES, ClaimChain, MAIN_RULES, recordedLines } from '../support/claimChain.js';

describe('claim roots of the recorded chains', () => {
  for (const number of [1, 2, 3, 4, 5]) {
    const lines = recordedLines(`chains/${number}/blocks.hex.gz`);
    it.skipIf(lines === null)(`chain ${number}`, async () => {
      const chain = new ClaimChain(CHAIN_RULES[number]!);
      for (const line of lines!) await chain.add(Buffer.from(line, 'hex'));
      expect(chain.connected).toBeGreaterThan(1200);
      console.log(
        `chain ${number}: ${chain.connected} connected, ${chain.disconnected} disconnected, ${chain.milliseconds.toFixed(0)} ms in connect`,
      );
    });
  }

  const main = recordedLines('mainnet/blocks-0-434.hex.gz');
  it.skipIf(main === null)('mainnet to block 434', async () => {
    const chain = new ClaimChain(MAIN_RULES);
    for (const line of main!) await chain.add(Buffer.from(line, 'hex'));
    expect(chain.tipNode.height).toBe(434);
    expect(chain.connected).toBe(435);
  });
});
