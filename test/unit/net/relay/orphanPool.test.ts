import { beforeEach, describe, expect, it } from 'vitest';
import { ChainEvents, type ConnectedBlock } from '../../../../src/chain/chainEvents.js';
import type { Peer } from '../../../../src/net/messageHandler.js';
import { OrphanPool, type Orphan } from '../../../../src/net/relay/orphanPool.js';
import { parseBlockView } from '../../../../src/primitives/blockView.js';
import {
  formatTransaction,
  transactionWeight,
  txid,
  type Transaction,
} from '../../../../src/primitives/transaction.js';
import { toLatin1 } from '../../../../src/util/bytes.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { Writer } from '../../../../src/util/writer.js';
import { FakePeer } from '../../../support/fakePeer.js';
import { OPEN_SCRIPT, spend } from '../../../support/testChain.js';
import { numberedHash, numberedTx, seededRandom, TestClock } from './support.js';

describe('orphans', () => {
  let clock: TestClock;
  let events: ChainEvents;
  let pool: OrphanPool;
  const peer = new FakePeer();

  beforeEach(() => {
    clock = new TestClock();
    events = new ChainEvents();
    pool = make(100);
  });

  function make(maxCount: number): OrphanPool {
    const deps = { events, random: seededRandom(), nowSec: clock.nowSec, log: SILENT_LOGGER };
    return new OrphanPool({ maxCount }, deps);
  }

  function orphan(tx: Transaction, from: Peer = peer): Orphan {
    const bytes = Buffer.from(formatTransaction(tx));
    return { key: toLatin1(txid(tx)), bytes, weight: transactionWeight(tx), peer: from };
  }

  function spending(...prevouts: readonly [number, number][]): Transaction {
    const inputs = prevouts.map(([number, n]) => ({ txid: numberedHash(number), n }));
    return spend(inputs, [{ value: 1n, script: OPEN_SCRIPT }]);
  }

  function connect(...transactions: Transaction[]): void {
    const writer = new Writer().raw(Buffer.alloc(112)).compactSize(transactions.length);
    for (const tx of transactions) writer.raw(formatTransaction(tx));
    const raw = writer.finish();
    events.emit('blockConnected', { raw, parsed: parseBlockView(raw) } as unknown as ConnectedBlock);
  }

  it('are found by their inputs, each once', () => {
    const both = orphan(spending([1, 0], [1, 2]));
    const other = orphan(spending([1, 2], [2, 0]));
    const beyond = orphan(spending([1, 3]));
    for (const one of [both, other, beyond]) expect(pool.add(one)).toBe(true);
    const parent = toLatin1(numberedHash(1));
    const keys = (count: number): string[] => pool.spendersOf(parent, count).map(({ key }) => key);
    expect(keys(1)).toEqual([both.key]);
    expect(keys(3)).toEqual([both.key, other.key]);
    expect(keys(4)).toEqual([both.key, other.key, beyond.key]);
    expect(pool.remove(both.key)).toBe(true);
    expect(pool.remove(both.key)).toBe(false);
    expect(keys(4)).toEqual([other.key, beyond.key]);
    expect(pool.has(both.key)).toBe(false);
  });

  it('are stored once', () => {
    const one = orphan(spending([1, 0]));
    expect(pool.add(one)).toBe(true);
    expect(pool.add(one)).toBe(false);
    expect(pool.size).toBe(1);
  });

  it('are limited in number: a random one is evicted, not always the newest or the oldest', () => {
    const all = Array.from({ length: 1000 }, (_, i) => orphan(numberedTx(i)));
    for (const one of all) {
      pool.add(one);
      expect(pool.size).toBeLessThanOrEqual(100);
    }
    const left = all.map(({ key }, i) => (pool.has(key) ? i : -1)).filter((i) => i >= 0);
    expect(left).toHaveLength(100);
    expect(left[0]).toBeLessThan(900);
    expect(left.filter((i) => i < 100).length).toBeLessThan(5);
    expect(left.filter((i) => i < 900).length).toBeGreaterThan(10);
    const none = make(0);
    none.add(all[0]!);
    expect(none.size).toBe(0);
  });

  it('are limited in size', () => {
    const big = numberedTx(1);
    big.outputs[0]!.script = Buffer.alloc(99_930);
    expect(transactionWeight(big)).toBeGreaterThan(399_900);
    expect(pool.add(orphan(big))).toBe(true);
    big.outputs[0]!.script = Buffer.alloc(99_960);
    expect(transactionWeight(big)).toBeGreaterThan(400_000);
    expect(pool.add(orphan(big))).toBe(false);
  });

  it('are removed after twenty minutes, at checks every five', () => {
    const first = orphan(numberedTx(1));
    const second = orphan(numberedTx(2));
    pool.add(first);
    clock.advance(60);
    pool.add(second);
    clock.advance(19 * 60 + 1);
    // The first one has expired. It is removed by the check that the next `add` runs.
    pool.add(orphan(numberedTx(3)));
    expect([pool.has(first.key), pool.has(second.key)]).toEqual([false, true]);
    clock.advance(60);
    pool.add(orphan(numberedTx(4)));
    expect(pool.has(second.key)).toBe(true);
    clock.advance(5 * 60);
    pool.add(orphan(numberedTx(5)));
    expect(pool.has(second.key)).toBe(false);
    expect(pool.size).toBe(3);
  });

  it('are removed with the peer that sent them', () => {
    const other = new FakePeer();
    for (let i = 0; i < 10; i++) pool.add(orphan(numberedTx(i), i % 2 === 0 ? peer : other));
    pool.removeOf(other);
    expect(pool.size).toBe(5);
    pool.removeOf(peer);
    expect(pool.size).toBe(0);
    expect(pool.spendersOf(toLatin1(numberedHash(0)), 1)).toEqual([]);
  });

  it('are removed by a block that contains them or spends the same', () => {
    const held = spending([1, 0], [2, 0]);
    const conflicting = spending([3, 0], [4, 0]);
    const untouched = spending([4, 1]);
    for (const tx of [held, conflicting, untouched]) pool.add(orphan(tx));
    connect(numberedTx(77), held, spending([4, 0]));
    expect([held, conflicting, untouched].map((tx) => pool.has(toLatin1(txid(tx))))).toEqual([
      false,
      false,
      true,
    ]);
    pool.close();
    connect(untouched);
    expect(pool.size).toBe(1);
  });
});
