import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_MONEY } from '../../../../src/consensus/limits.js';
import { FeeFilters, type FeeFilterOptions } from '../../../../src/net/relay/feeFilters.js';
import { FeeRounder } from '../../../../src/net/relay/feeRounder.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { PartHost, type FakePeer } from '../../../support/fakePeer.js';
import { EntryMempool, RELAY, seededRandom, TestClock } from './support.js';

const OPTIONS: FeeFilterOptions = { ...RELAY, sendsFeeFilters: true, minRelayFeeRatePerKb: 1000n };

describe('steps of fee rates', () => {
  it('are 0 and then a tenth apart, the lower one twice as often', () => {
    const rounder = new FeeRounder(1000n, seededRandom(2));
    const answers = (rate: bigint, count: number): Map<bigint, number> => {
      const tally = new Map<bigint, number>();
      for (let i = 0; i < count; i++) {
        const answer = rounder.round(rate);
        tally.set(answer, (tally.get(answer) ?? 0) + 1);
      }
      return tally;
    };
    expect([...answers(0n, 100).keys()]).toEqual([0n]);
    expect([...answers(1n, 100).keys()].sort()).toEqual([0n, 500n]);
    // 500 × 1.1⁷ and 500 × 1.1⁸.
    const tally = answers(1000n, 3000);
    expect([...tally.keys()].sort()).toEqual([1071n, 974n].sort());
    expect(tally.get(974n)! / 3000).toBeGreaterThan(0.62);
    expect(tally.get(974n)! / 3000).toBeLessThan(0.71);
    expect([...answers(10n ** 12n, 100).keys()]).toEqual([9170997n]);
  });
});

describe('fee filters', () => {
  let clock: TestClock;
  let mempool: EntryMempool;
  let fees: FeeFilters;
  let host: PartHost;

  function make(options: FeeFilterOptions = OPTIONS): void {
    fees = new FeeFilters(options, { mempool, random: seededRandom(), log: SILENT_LOGGER });
    host = new PartHost([fees]);
  }

  beforeEach(() => {
    clock = new TestClock();
    mempool = new EntryMempool();
    make();
  });

  function sent(peer: FakePeer): bigint[] {
    host.tick(clock.ms, peer);
    return peer.take('feefilter').map(({ feeRatePerKb }) => feeRatePerKb);
  }

  it('are sent at once, then every ten minutes on average if they have changed', () => {
    const peer = host.connect();
    expect(sent(peer)).toEqual([1000n]);
    clock.advance(3600);
    expect(sent(peer)).toEqual([]);
    mempool.rollingRate = 20_000n;
    const gaps: number[] = [];
    for (let waited = 0; gaps.length < 200; waited++) {
      clock.advance(1);
      if (sent(peer).length === 0) continue;
      gaps.push(waited);
      waited = 0;
      // The change is too small for an early message, and large enough for another rounded value.
      mempool.rollingRate = 44_000n - mempool.rollingRate;
    }
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
    expect(mean).toBeGreaterThan(500);
    expect(mean).toBeLessThan(700);
  });

  it('are sent within five minutes after a large rise', () => {
    for (let seed = 0; seed < 20; seed++) {
      const peer = host.connect();
      expect(sent(peer)).toEqual([1000n]);
      clock.advance(1);
      mempool.rollingRate = 1_000_000n;
      let waited = 0;
      for (let reported: bigint[] = []; reported.length === 0; reported = sent(peer)) {
        clock.advance(1);
        waited++;
      }
      expect(waited).toBeLessThanOrEqual(302);
      mempool.rollingRate = 0n;
      peer.disconnect('done');
    }
  });

  it('are sent within five minutes after a large fall', () => {
    for (let seed = 0; seed < 20; seed++) {
      mempool.rollingRate = 1_000_000n;
      const peer = host.connect();
      expect(sent(peer)).toHaveLength(1);
      mempool.rollingRate = 500_000n;
      let waited = 0;
      for (let reported: bigint[] = []; reported.length === 0; reported = sent(peer)) {
        clock.advance(1);
        waited++;
      }
      expect(waited).toBeLessThanOrEqual(302);
      peer.disconnect('done');
    }
  });

  it('are never below the minimum relay fee', () => {
    make({ ...OPTIONS, minRelayFeeRatePerKb: 5000n });
    expect(sent(host.connect())).toEqual([5000n]);
  });

  it('are not sent to old peers, nor if disabled, nor to peers whose transactions are relayed anyway', () => {
    expect(sent(host.connect({ protocolVersion: 70_012 }))).toEqual([]);
    expect(sent(host.connect({ isWhitelisted: true }))).toEqual([]);
    make({ ...OPTIONS, whitelistForceRelay: false });
    expect(sent(host.connect({ isWhitelisted: true }))).toEqual([1000n]);
    make({ ...OPTIONS, sendsFeeFilters: false });
    expect(sent(host.connect())).toEqual([]);
  });

  it('of peers are stored if they are amounts', async () => {
    const peer = host.connect();
    const tell = (feeRatePerKb: bigint): Promise<void> => host.deliver(peer, 'feefilter', { feeRatePerKb });
    expect(fees.rateOf(peer)).toBe(0n);
    await tell(4321n);
    expect(fees.rateOf(peer)).toBe(4321n);
    expect(host.describe(peer)).toEqual({ minFeeFilterRatePerKb: 4321n });
    await tell(-1n);
    await tell(MAX_MONEY + 1n);
    expect(fees.rateOf(peer)).toBe(4321n);
    await tell(MAX_MONEY);
    expect(fees.rateOf(peer)).toBe(MAX_MONEY);
    peer.disconnect('done');
    expect(fees.rateOf(peer)).toBe(0n);
  });
});
