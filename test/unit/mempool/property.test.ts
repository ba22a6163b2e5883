import { afterEach, describe, expect, it } from 'vitest';
import { CROWDED, drive, SMALL_BLOCK_WEIGHT } from './drive.js';
import { PoolWorld } from './support.js';

const STEPS = 150;

describe('the mempool under random traffic', () => {
  let world: PoolWorld;
  afterEach(() => world.close());

  it('stays consistent without a limit', async () => {
    world = await PoolWorld.open(130);
    const tally = await drive(world, 1, STEPS);
    expect(tally['accepted']).toBeGreaterThan(STEPS / 8);
    expect(tally['removed: block']).toBeGreaterThan(0);
    expect(tally['claims']).toBeGreaterThan(0);
  });

  it('stays consistent and within its limits when it is full', async () => {
    world = await PoolWorld.open(130, CROWDED, SMALL_BLOCK_WEIGHT);
    const tally = await drive(world, 2, STEPS);
    expect(tally['accepted']).toBeGreaterThan(STEPS / 16);
    expect(tally['removed: sizelimit']).toBeGreaterThan(0);
  });
});
