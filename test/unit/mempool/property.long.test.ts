/** The mempool's invariants over 5,000 steps: random transactions, replacements, claims, blocks and reorganisations. */
import { afterEach, describe, expect, it } from 'vitest';
import { CROWDED, drive, SMALL_BLOCK_WEIGHT } from './drive.js';
import { PoolWorld } from './support.js';

const STEPS = 2500;
/** `MEMPOOL_SEED` repeats a run or selects another one. */
const SEED = Number(process.env['MEMPOOL_SEED'] ?? 1);

describe('the mempool under long random traffic', () => {
  let world: PoolWorld;
  afterEach(() => world.close());

  it('stays consistent without a limit', async () => {
    world = await PoolWorld.open(130);
    const tally = await drive(world, 10 * SEED, STEPS);
    console.log(tally);
    expect(tally['accepted']).toBeGreaterThan(STEPS / 8);
    for (const kind of [
      'removed: block',
      'removed: conflict',
      'removed: replaced',
      'removed: reorg',
      'claims',
    ]) {
      expect(tally[kind], kind).toBeGreaterThan(0);
    }
  });

  it('stays consistent and within its limits when it is full', async () => {
    world = await PoolWorld.open(130, CROWDED, SMALL_BLOCK_WEIGHT);
    const tally = await drive(world, 10 * SEED + 1, STEPS);
    console.log(tally);
    expect(tally['accepted']).toBeGreaterThan(STEPS / 16);
    for (const kind of ['removed: sizelimit', 'removed: expiry', 'disconnected', 'claims']) {
      expect(tally[kind], kind).toBeGreaterThan(0);
    }
  });
});
