import { beforeEach, describe, expect, it } from 'vitest';
import type { CoinValue } from '../../../../src/native/binding.js';
import { KnownTransactions } from '../../../../src/net/relay/knownTransactions.js';
import { toLatin1, type Bytes } from '../../../../src/util/bytes.js';
import { numberedHash, seededRandom } from './support.js';

const hash = numberedHash(1);

describe('transactions that are not requested', () => {
  const chain = { tip: 1 };
  const pool = new Set<string>();
  const orphans = new Set<string>();
  const coins = new Map<string, CoinValue>();
  let known: KnownTransactions;

  beforeEach(() => {
    chain.tip = 1;
    for (const set of [pool, orphans, coins]) set.clear();
    known = new KnownTransactions({
      reader: { chain, cachedCoin: (outPoint: Bytes) => coins.get(toLatin1(outPoint)) ?? null },
      mempool: { hasKey: (key) => pool.has(key) },
      orphans,
      random: seededRandom(),
    });
  });

  it('are in the mempool or wait for parents', () => {
    expect(known.alreadyHave(hash)).toBe(false);
    pool.add(toLatin1(hash));
    expect(known.alreadyHave(hash)).toBe(true);
    pool.clear();
    orphans.add(toLatin1(hash));
    expect(known.alreadyHave(hash)).toBe(true);
  });

  it.each([0, 1])('are confirmed, with output %i in the cache', (n) => {
    coins.set(`${toLatin1(hash)}${String.fromCharCode(n)}\0\0\0`, {} as CoinValue);
    expect(known.alreadyHave(hash)).toBe(true);
    expect(known.alreadyHave(numberedHash(2))).toBe(false);
  });

  it('were refused under the current tip', () => {
    known.noteRejected(hash, 1);
    expect(known.isRejected(hash)).toBe(true);
    expect(known.alreadyHave(hash)).toBe(true);
    chain.tip = 2;
    expect(known.alreadyHave(hash)).toBe(false);
    expect(known.isRejected(hash)).toBe(false);
  });

  it('were not refused under an old tip', () => {
    const { tip } = known;
    chain.tip = 2;
    known.noteRejected(hash, tip);
    expect(known.isRejected(hash)).toBe(false);
    known.noteRejected(hash, known.tip);
    expect(known.isRejected(hash)).toBe(true);
  });

  it('include the last 120,000 refusals, with few false positives', () => {
    for (let i = 0; i < 125_000; i++) known.noteRejected(numberedHash(i), 1);
    let forgotten = 0;
    for (let i = 5000; i < 125_000; i += 7) if (!known.isRejected(numberedHash(i))) forgotten++;
    expect(forgotten).toBe(0);
    let mistaken = 0;
    for (let i = 125_000; i < 140_000; i++) if (known.isRejected(numberedHash(i))) mistaken++;
    expect(mistaken).toBeLessThan(3);
  });
});
