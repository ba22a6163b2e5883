/** The claim index against a naive model, over a random chain with reorganisations, and against itself built again. */
import { expect, it } from 'vitest';
import { endedKey, ID_LENGTH, PAST_KEY } from '../../../../src/index/claims/claimIndexKeys.js';
import { parseEndedRow, readKnownPast } from '../../../../src/index/claims/claimPast.js';
import { PastWalk } from '../../../../src/index/claims/pastWalk.js';
import { itemKey } from '../../../../src/store/claims/rows/claimKeys.js';
import { prefixEnd } from '../../../../src/store/rows/rows.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { ClaimIndexRun, indexRows } from '../../../support/claimIndexRun.js';

/** In an index of an older version, a walk adds the rows of claims that one block created and spent. */
async function writesFleetingAgain({ chain }: ClaimIndexRun): Promise<void> {
  const { store, chain: opened } = chain.opened;
  const whole = await indexRows(chain);
  const prefix = endedKey('').slice(0, -ID_LENGTH);
  let dropped = 0;
  for (const [key, row] of await store.getRange({ gte: prefix, lt: prefixEnd(prefix), limit: 10_000 })) {
    const { name, since, point } = parseEndedRow(row);
    if ((await store.get(itemKey(name, since, point))) !== undefined) continue;
    store.del(key);
    dropped++;
  }
  expect(dropped).toBeGreaterThan(0);
  store.put(PAST_KEY, Buffer.alloc(0));
  expect(await readKnownPast(store)).toEqual({ ended: false, series: true });
  expect(await new PastWalk({ chain: opened, isSynced: () => true, log: SILENT_LOGGER }).walk()).toBe(true);
  expect(await readKnownPast(store)).toEqual({ ended: true, series: true });
  expect(await indexRows(chain)).toEqual(whole);
}

it('equals the naive model, and its rows equal a fresh build after every reorganisation', async () => {
  const run = new ClaimIndexRun(16);
  await run.open();
  try {
    while (run.height < 300) {
      await run.mine(4);
      if (run.height % 10 === 0) await run.check(30);
      if (![163, 240, 275].includes(run.height)) continue;
      await run.reorganise(1 + run.life.random(run.height === 240 ? 100 : 12), 3);
      await run.check(50);
      await run.compareWithFreshBuild();
    }
    for (const [what, count] of Object.entries(run.seen)) expect(count, what).toBeGreaterThan(10);
    await writesFleetingAgain(run);
  } finally {
    await run.close();
  }
});

it('counts the supports of the same spelling only, before the normalization fork', async () => {
  const run = new ClaimIndexRun(13);
  await run.open();
  try {
    while (run.height < 140) {
      await run.mine(5);
      await run.checkTrending();
    }
    expect(run.model.claims.length).toBeGreaterThan(10);
  } finally {
    await run.close();
  }
});
