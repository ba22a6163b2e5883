/**
 * 200 bit flips, truncations and kills at random times. No wrong byte is played, saved or served, and one fetch repairs each
 * corrupt blob.
 */
import { afterEach, expect, it } from 'vitest';
import { CorruptionRun } from '../support/corruptionRun.js';

const ROUNDS = 200;
const SEED = Number(process.env['LBCNODE_SEED'] ?? Date.now() % 1_000_000);

let run: CorruptionRun;
afterEach(() => run.close());

it(`plays, saves and serves no wrong byte after ${ROUNDS} corruptions and kills`, async () => {
  console.log(`LBCNODE_SEED=${SEED}`);
  run = new CorruptionRun(SEED);
  await run.open();
  for (let round = 0; round < ROUNDS; round++) await run.round();
  console.log(JSON.stringify(run.report));
  const { flips, truncations, kills, wrongBytes, healed, faults } = run.report;
  expect({ wrongBytes, healed, faults }).toEqual({ wrongBytes: 0, healed: ROUNDS, faults: [] });
  expect(flips + truncations + kills).toBe(ROUNDS);
});
