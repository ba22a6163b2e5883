import { describe, expect, it } from 'vitest';
import type { Chain } from '../../../../src/chain/chain.js';
import { PartitionWatch, probability } from '../../../../src/net/sync/partitionWatch.js';
import { NO_HEADER } from '../../../../src/store/files/headerTable.js';

const HOUR = 3600;
const SPACING = 150;

/** A chain that consists only of times, and a watch for partitions. */
class World {
  now = 1_700_000_000;
  isInitial = false;
  readonly reported: string[] = [];
  private readonly times = [this.now - 30 * 24 * HOUR];
  readonly watch: PartitionWatch;

  constructor({ mineBlocksOnDemand = false, hasHistory = true } = {}) {
    const { times } = this;
    for (let ago = 8 * HOUR; hasHistory && ago >= 0; ago -= SPACING) times.push(this.now - ago);
    const headers = {
      timeSec: (id: number) => times[id]!,
      prev: (id: number) => (id === 0 ? NO_HEADER : id - 1),
    };
    const index = {
      headers,
      get bestHeader() {
        return times.length - 1;
      },
    };
    const chain = { isInitialDownload: () => this.isInitial, index } as unknown as Chain;
    this.watch = new PartitionWatch(
      { targetSpacingSec: SPACING, mineBlocksOnDemand },
      { chain, nowSec: () => this.now, warn: (message) => this.reported.push(message) },
    );
  }

  /** Advances the time in steps of at most `SPACING`, with a block every `everySec` seconds and a check after each step. */
  pass(sec: number, everySec = Infinity): void {
    const end = this.now + sec;
    while (this.now < end) {
      this.now = Math.min(end, this.now + Math.min(everySec, SPACING));
      if (everySec < Infinity) this.times.push(this.now);
      this.watch.check();
    }
  }
}

describe('the probability of a number of blocks', () => {
  it('follows the Poisson distribution', () => {
    expect(probability(0, 2)).toBeCloseTo(Math.exp(-2), 12);
    expect(probability(3, 2)).toBeCloseTo((8 / 6) * Math.exp(-2), 12);
    let sum = 0;
    for (let count = 0; count < 400; count++) sum += probability(count, 96);
    expect(sum).toBeCloseTo(1, 9);
  });
});

describe('the operator', () => {
  it('gets no warning at the expected rate of blocks', () => {
    const world = new World();
    world.pass(8 * HOUR, SPACING);
    expect(world.reported).toEqual([]);
    expect(world.watch.warning).toBe('');
  });

  it('is warned of too few blocks once a day, until the rate is normal again', () => {
    const world = new World();
    world.pass(4 * HOUR);
    expect(world.reported).toHaveLength(1);
    expect(world.reported[0]).toMatch(/^Warning: only [0-9]+ blocks in the last 4 hours, 96 expected\./);
    expect(world.watch.warning).toMatch(/^Warning: only 0 blocks/);
    world.pass(19 * HOUR);
    expect(world.reported).toHaveLength(1);
    world.pass(4 * HOUR);
    expect(world.reported).toHaveLength(2);
    world.pass(4 * HOUR, SPACING);
    expect(world.watch.warning).toBe('');
  });

  it('is warned of too many blocks', () => {
    const world = new World();
    world.pass(2 * HOUR, SPACING / 4);
    expect(world.reported).toHaveLength(1);
    expect(world.watch.warning).toMatch(
      /^Warning: [0-9]+ blocks .* Another party may be mining against the network\.$/,
    );
  });

  it('gets no warning in the first hour, during the initial download, and on test networks', () => {
    const young = new World({ hasHistory: false });
    young.pass(HOUR - 2 * SPACING);
    expect(young.reported).toEqual([]);
    young.pass(HOUR);
    expect(young.reported).toHaveLength(1);
    const initial = new World({ hasHistory: false });
    initial.isInitial = true;
    initial.pass(8 * HOUR);
    expect(initial.reported).toEqual([]);
    const regtest = new World({ mineBlocksOnDemand: true, hasHistory: false });
    regtest.pass(8 * HOUR);
    expect(regtest.reported).toEqual([]);
  });
});
