/** The first corruptions of `neverWrongByte.long.test.ts`. */
import { afterEach, expect, it } from 'vitest';
import { CorruptionRun } from '../support/corruptionRun.js';

const ROUNDS = 16;
const SEED = 1;

let run: CorruptionRun;
afterEach(() => run.close());

it(`plays, saves and serves no wrong byte after ${ROUNDS} corruptions and kills`, async () => {
  run = new CorruptionRun(SEED);
  await run.open();
  for (let round = 0; round < ROUNDS; round++) await run.round();
  const { flips, truncations, kills, wrongBytes, healed, faults } = run.report;
  expect({ wrongBytes, healed, faults }).toEqual({ wrongBytes: 0, healed: ROUNDS, faults: [] });
  expect([flips > 0, truncations > 0, kills > 0]).toEqual([true, true, true]);
});
