import { expect, it } from 'vitest';
import { fuzz } from './support/campaign.js';
import { addressTarget, scriptTextTarget } from './targets/scriptText.js';

it('formats any script as text and finds its destinations', async () => {
  const { outcomes } = await fuzz(scriptTextTarget, 6_000);
  for (const type of ['claim', 'multisig', 'nonstandard', 'nulldata', 'pubkey', 'pubkeyhash', 'scripthash']) {
    expect(outcomes.get(type), type).toBeGreaterThan(10);
  }
});

it('reads any text as an address or a key, or refuses it', async () => {
  const { outcomes } = await fuzz(addressTarget, 3_000);
  for (const type of ['no base58', 'pubkeyhash', 'witness_unknown', 'key']) {
    expect(outcomes.get(type), type).toBeGreaterThan(10);
  }
});
