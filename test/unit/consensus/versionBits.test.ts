import { describe, expect, it } from 'vitest';
import { NO_HEADER } from '../../../src/consensus/headerTree.js';
import { VersionBits, versionSignals, type ThresholdState } from '../../../src/consensus/versionBits.js';
import { mainParams } from '../../../src/params/main.js';
import { ALWAYS_ACTIVE, NO_TIMEOUT, type NetworkParams } from '../../../src/params/network.js';
import { regtestParams } from '../../../src/params/regtest.js';
import { MemoryHeaders } from './support/memoryHeaders.js';

const PERIOD = 10;
const THRESHOLD = 7;
const SIGNAL = 0x20000001;
const PLAIN = 0x20000000;

function paramsWith(startTimeSec: bigint, timeoutSec: bigint): NetworkParams {
  return {
    ...regtestParams,
    minerConfirmationWindow: PERIOD,
    ruleChangeActivationThreshold: THRESHOLD,
    deployments: { ...regtestParams.deployments, csv: { bit: 0, startTimeSec, timeoutSec } },
    segwitHeight: 15,
  };
}

/** A chain of `versions.length` blocks whose median times equal ten times their height. */
class Chain {
  readonly tree = new MemoryHeaders();
  tip = NO_HEADER;

  /** Adds blocks whose times are ten seconds apart. */
  mine(count: number, version: number): this {
    for (let i = 0; i < count; i++) {
      const height = this.tip === NO_HEADER ? 0 : this.tree.heightOf(this.tip) + 1;
      this.tip = this.tree.add(this.tip, { timeSec: height * 10, version });
    }
    return this;
  }

  /** The tree with the time of a block as its median time, which makes the tables below readable. */
  get view() {
    const { tree } = this;
    return {
      heightOf: (id: number) => tree.heightOf(id),
      parentOf: (id: number) => tree.parentOf(id),
      ancestorOf: (id: number, height: number) => tree.ancestorOf(id, height),
      versionOf: (id: number) => tree.versionOf(id),
      medianTimeOf: (id: number) => tree.timeOf(id),
    };
  }

  /** The state for each height from 0 to the one after the tip, computed with an empty cache and with a filled one. */
  states(params: NetworkParams): ThresholdState[] {
    const warm = new VersionBits(params, this.view);
    const states: ThresholdState[] = [];
    for (let height = 0; height <= this.tree.heightOf(this.tip) + 1; height++) {
      const parent = this.tree.ancestorOf(this.tip, height - 1);
      const state = warm.state('csv', parent);
      expect(new VersionBits(params, this.view).state('csv', parent)).toBe(state);
      states.push(state);
    }
    return states;
  }
}

const runs = (states: ThresholdState[]): [ThresholdState, number][] => {
  const out: [ThresholdState, number][] = [];
  for (const state of states) {
    const last = out[out.length - 1];
    if (last && last[0] === state) last[1]++;
    else out.push([state, 1]);
  }
  return out;
};

describe('deployment states', () => {
  it('go from defined to active when enough signal', () => {
    const chain = new Chain().mine(10, PLAIN).mine(7, SIGNAL).mine(3, PLAIN).mine(20, PLAIN);
    expect(runs(chain.states(paramsWith(0n, NO_TIMEOUT)))).toEqual([
      ['defined', 10],
      ['started', 10],
      ['locked_in', 10],
      ['active', 11],
    ]);
  });

  it('stay started one signal short, and do not add up over periods', () => {
    const chain = new Chain().mine(10, PLAIN).mine(6, SIGNAL).mine(4, PLAIN).mine(4, PLAIN).mine(6, SIGNAL);
    expect(runs(chain.states(paramsWith(0n, NO_TIMEOUT)))).toEqual([
      ['defined', 10],
      ['started', 21],
    ]);
  });

  it('start with the first period whose parent has the start time', () => {
    // The last block before the window at 30 has the time 290.
    const chain = new Chain().mine(40, PLAIN);
    expect(runs(chain.states(paramsWith(290n, NO_TIMEOUT)))).toEqual([
      ['defined', 30],
      ['started', 11],
    ]);
    expect(runs(chain.states(paramsWith(291n, NO_TIMEOUT)))).toEqual([
      ['defined', 40],
      ['started', 1],
    ]);
  });

  it('fail at the timeout, even with all signals in that period', () => {
    const chain = new Chain().mine(10, PLAIN).mine(10, PLAIN).mine(20, SIGNAL);
    expect(runs(chain.states(paramsWith(0n, 290n)))).toEqual([
      ['defined', 10],
      ['started', 20],
      ['failed', 11],
    ]);
    expect(runs(chain.states(paramsWith(0n, 300n)))).toEqual([
      ['defined', 10],
      ['started', 20],
      ['locked_in', 10],
      ['active', 1],
    ]);
  });

  it('fail without ever starting when both times passed', () => {
    const chain = new Chain().mine(20, SIGNAL);
    expect(runs(chain.states(paramsWith(50n, 60n)))).toEqual([
      ['defined', 10],
      ['failed', 11],
    ]);
  });

  it('can be active from genesis', () => {
    const params = paramsWith(ALWAYS_ACTIVE, NO_TIMEOUT);
    const chain = new Chain().mine(3, PLAIN);
    const bits = new VersionBits(params, chain.view);
    expect(bits.state('csv', NO_HEADER)).toBe('active');
    expect(bits.sinceHeight('csv', chain.tip)).toBe(0);
  });

  it('belong to their branch', () => {
    const chain = new Chain().mine(10, PLAIN);
    const fork = chain.tip;
    const params = paramsWith(0n, NO_TIMEOUT);
    const bits = new VersionBits(params, chain.view);
    chain.mine(10, SIGNAL);
    const signalled = chain.tip;
    chain.tip = fork;
    chain.mine(10, PLAIN);
    expect(bits.state('csv', signalled)).toBe('locked_in');
    expect(bits.state('csv', chain.tip)).toBe('started');
  });
});

describe('since and statistics', () => {
  const params = paramsWith(0n, NO_TIMEOUT);

  it('return the first height of the state', () => {
    const chain = new Chain().mine(10, PLAIN).mine(10, PLAIN).mine(10, SIGNAL).mine(25, PLAIN);
    const bits = new VersionBits(params, chain.view);
    const sinceAt = (height: number): number =>
      bits.sinceHeight('csv', chain.tree.ancestorOf(chain.tip, height));
    expect([5, 8].map(sinceAt)).toEqual([0, 0]);
    expect([9, 15, 28].map(sinceAt)).toEqual([10, 10, 10]);
    expect([29, 35].map(sinceAt)).toEqual([30, 30]);
    expect([39, 54].map(sinceAt)).toEqual([40, 40]);
  });

  it('count the current period only', () => {
    const chain = new Chain().mine(10, SIGNAL).mine(2, SIGNAL).mine(3, PLAIN);
    const bits = new VersionBits(params, chain.view);
    const at = (height: number) => bits.statistics('csv', chain.tree.ancestorOf(chain.tip, height));
    expect(at(9)).toEqual({ period: 10, threshold: 7, elapsed: 0, count: 0, possible: true });
    expect(at(11)).toEqual({ period: 10, threshold: 7, elapsed: 2, count: 2, possible: true });
    expect(at(14)).toEqual({ period: 10, threshold: 7, elapsed: 5, count: 2, possible: true });
    chain.mine(1, PLAIN);
    expect(at(15)).toEqual({ period: 10, threshold: 7, elapsed: 6, count: 2, possible: false });
    expect(bits.statistics('csv', NO_HEADER)).toEqual({
      period: 10,
      threshold: 7,
      elapsed: 0,
      count: 0,
      possible: false,
    });
  });
});

describe('segwit', () => {
  it('is determined by height: failed before it, active from it on, and failed for genesis at any height', () => {
    const chain = new Chain().mine(20, PLAIN);
    const bits = new VersionBits(paramsWith(0n, NO_TIMEOUT), chain.view);
    const stateOf = (height: number): ThresholdState =>
      bits.state('segwit', chain.tree.ancestorOf(chain.tip, height - 1));
    expect([1, 14, 15, 16].map(stateOf)).toEqual(['failed', 'failed', 'active', 'active']);
    const early = new VersionBits({ ...regtestParams, segwitHeight: 0 }, chain.view);
    expect(early.state('segwit', NO_HEADER)).toBe('failed');
    expect(early.isActive('segwit', 0)).toBe(true);
  });

  it('shows the height of its BIP9 state, which has no effect', () => {
    const tree = new MemoryHeaders();
    let tip = NO_HEADER;
    // The first 2,016 blocks are before the start of the deployment, the later ones after its timeout.
    for (let height = 0; height < 6048; height++) {
      tip = tree.add(tip, { timeSec: height < 2016 ? 1_500_000_000 : 1_600_000_000, version: PLAIN });
    }
    const bits = new VersionBits(mainParams, tree);
    expect(bits.state('segwit', tip)).toBe('failed');
    expect(bits.sinceHeight('segwit', tip)).toBe(4032);
    expect(new VersionBits(regtestParams, tree).sinceHeight('segwit', tip)).toBe(0);
  });
});

describe('block versions', () => {
  it('signal with the top bits 001 only', () => {
    expect(versionSignals(0x20000001, 0)).toBe(true);
    expect(versionSignals(0x20000001, 1)).toBe(false);
    expect(versionSignals(0x30000000, 28)).toBe(true);
    for (const version of [1, 0x60000001, 0x40000001, -1, 0xa0000001 | 0])
      expect(versionSignals(version, 0)).toBe(false);
  });

  it('are computed from the deployments that started or locked in', () => {
    const chain = new Chain().mine(10, PLAIN);
    const params = paramsWith(0n, NO_TIMEOUT);
    const bits = new VersionBits(params, chain.view);
    expect(bits.computeBlockVersion(NO_HEADER)).toBe(0x20000000);
    expect(bits.computeBlockVersion(chain.tip)).toBe(0x30000001);
    chain.mine(10, SIGNAL);
    expect(bits.computeBlockVersion(chain.tip)).toBe(0x30000001);
    chain.mine(10, PLAIN);
    expect(bits.computeBlockVersion(chain.tip)).toBe(0x30000000);
    expect([bits.mask('testdummy'), bits.mask('csv'), bits.mask('segwit')]).toEqual([1 << 28, 1, 2]);
  });

  it('without a deployment are detected', () => {
    const chain = new Chain().mine(10, PLAIN).mine(10, 0x20000010).mine(10, PLAIN);
    const bits = new VersionBits(paramsWith(0n, NO_TIMEOUT), chain.view);
    const at = (height: number) => chain.tree.ancestorOf(chain.tip, height);
    expect(bits.unknownBitState(4, at(18))).toBe('started');
    expect(bits.unknownBitState(4, at(19))).toBe('locked_in');
    expect(bits.unknownBitState(4, at(29))).toBe('active');
    expect(bits.unknownBitState(5, at(29))).toBe('started');
    expect(bits.unexpectedVersions(at(29))).toBe(10);
    expect(bits.unexpectedVersions(at(9))).toBe(0);
    // A bit that this node signals is not unknown.
    const ours = new Chain().mine(10, PLAIN).mine(20, SIGNAL);
    const own = new VersionBits(paramsWith(0n, NO_TIMEOUT), ours.view);
    expect(own.unknownBitState(0, ours.tree.ancestorOf(ours.tip, 19))).toBe('started');
  });

  it('are those that are unexpected in the period of a block', () => {
    const chain = new Chain().mine(135, SIGNAL);
    const bits = new VersionBits(paramsWith(0n, NO_TIMEOUT), chain.view);
    const at = (height: number) => chain.tree.ancestorOf(chain.tip, height);
    const isUnexpected = Array.from({ length: 135 }, (_, height) =>
      Number((SIGNAL & ~bits.computeBlockVersion(height === 0 ? NO_HEADER : at(height - 1))) !== 0),
    );
    expect(isUnexpected.slice(0, 40).join('')).toBe('1'.repeat(10) + '0'.repeat(20) + '1'.repeat(10));
    for (let height = 0; height < 135; height++) {
      const last = isUnexpected.slice(Math.max(0, height - 99), height + 1);
      expect(bits.unexpectedVersions(at(height)), `height ${height}`).toBe(last.reduce((a, b) => a + b));
    }
  });
});
