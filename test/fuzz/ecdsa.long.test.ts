/**
 * The signature fuzz test. LBCNODE_FULL=1 selects the size of the nightly run; `LBCNODE_FUZZ_RUNS` and `LBCNODE_FUZZ_SEED` set
 * other sizes and seeds.
 */
import { expect, it } from 'vitest';
import { native } from '../differential/support.js';
import { fuzz } from './support/campaign.js';
import { ecdsaTarget } from './targets/ecdsa.js';

const INPUTS = process.env['LBCNODE_FULL'] === '1' ? 200_000 : 10_000;

it.skipIf(!native)('verifies any signature alike in libsecp256k1 and @noble/secp256k1', async () => {
  const { outcomes } = await fuzz(ecdsaTarget(native!.ecdsa), INPUTS);
  const count = [...outcomes.values()].reduce((total, some) => total + some, 0);
  expect(outcomes.get('valid')).toBeGreaterThan(count / 4);
  expect(outcomes.get('invalid')).toBeGreaterThan(count / 10);
});
