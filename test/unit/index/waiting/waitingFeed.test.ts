/** Mempool claims in memory: they leave with their transactions, their memory has a limit, and their order does not matter. */
import { afterEach, describe, expect, it } from 'vitest';
import { WaitingClaims } from '../../../../src/index/waiting/waitingClaims.js';
import { WaitingFeed } from '../../../../src/index/waiting/waitingFeed.js';
import { waitingBytes, type IndexedTransaction } from '../../../../src/index/waiting/waitingOutputs.js';
import { waitingService } from '../../../../src/node/services/waitingService.js';
import { regtestParams } from '../../../../src/params/regtest.js';
import { txid, type Transaction } from '../../../../src/primitives/transaction.js';
import {
  buildClaimPrefix,
  buildSupportPrefix,
  buildUpdatePrefix,
  claimIdOf,
} from '../../../../src/script/claimScript.js';
import { concatBytes, toLatin1, type Bytes } from '../../../../src/util/bytes.js';
import { randomOf } from '../../../support/claimLife.js';
import { OPEN_SCRIPT } from '../../../support/testChain.js';
import { coinsOf, PoolWorld, spendCoins, type Coin } from '../../mempool/support.js';

const EMPTY = Buffer.from('00', 'hex');
const claimScript = (name: string): Bytes =>
  concatBytes(buildClaimPrefix(Buffer.from(name), EMPTY), OPEN_SCRIPT);
const claim = (coin: Coin, name: string, feeSat = 1000n): Transaction =>
  spendCoins([coin], feeSat, { script: claimScript(name) });
const idOf = (tx: Transaction): string => toLatin1(claimIdOf(txid(tx), 0));

describe('beside a mempool', () => {
  let world: PoolWorld;
  afterEach(() => world.close());

  function follow(maxBytes: number): { feed: WaitingFeed; warnings: string[] } {
    const warnings: string[] = [];
    const shown = { params: regtestParams, maxBytes, warn: (text: string) => void warnings.push(text) };
    return { feed: waitingService(world.mempool, shown).feed!, warnings };
  }

  it('a claim that a full mempool evicts is not returned any more, with its update', async () => {
    world = await PoolWorld.open(112, { maxUsageBytes: 10_000 });
    const { feed } = follow(1_000_000);
    const removed: string[] = [];
    feed.follow({ added: () => undefined, removed: (id) => void removed.push(id) });
    const poor = claim(await world.coinbase(1), 'poor', 200n);
    await world.mustAccept(poor);
    const id = claimIdOf(txid(poor), 0);
    const update = spendCoins(coinsOf(poor), 200n, {
      script: concatBytes(buildUpdatePrefix(Buffer.from('poor'), id, EMPTY), OPEN_SCRIPT),
    });
    await world.mustAccept(update);
    expect(feed.claims.of(toLatin1(id))).toMatchObject({ isUpdate: true, txid: toLatin1(txid(update)) });
    const rich: Transaction[] = [];
    for (let height = 3; height <= 12; height++) {
      const tx = claim(await world.coinbase(height), `rich-${height}`, BigInt(height) * 10_000n);
      rich.push(tx);
      await world.mustAccept(tx);
    }
    expect(world.mempool.entry(txid(poor))).toBeNull();
    expect(feed.claims.of(toLatin1(id))).toBeNull();
    expect(feed.claims.ofName('poor')).toEqual([]);
    expect(removed).toEqual(expect.arrayContaining([poor, update].map((tx) => toLatin1(txid(tx)))));
    for (const tx of rich)
      expect(feed.claims.of(idOf(tx)) !== null).toBe(world.mempool.entry(txid(tx)) !== null);
  });

  it('claims beyond the memory limit are not returned, which is logged once', async () => {
    world = await PoolWorld.open(112);
    const probe = new WaitingFeed(regtestParams, Infinity);
    const first = claim(await world.coinbase(1), 'name-1');
    probe.add({ txid: txid(first), entryTimeSec: 1 }, first, [OPEN_SCRIPT], [1n]);
    const [one] = probe.claims.all();
    const { feed, warnings } = follow(3 * waitingBytes(one!));
    const all = [first];
    for (let height = 2; height <= 6; height++)
      all.push(claim(await world.coinbase(height), `name-${height}`));
    for (const tx of all) await world.mustAccept(tx);
    expect(all.map((tx) => feed.claims.of(idOf(tx)) !== null)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(warnings).toEqual([
      'The mempool has more claims than searches and resolve can include; the others appear when they are confirmed',
    ]);
    // Transactions that a block removes free places for new claims.
    world.chain.timeSec += 3600;
    await world.mineMempool();
    expect(feed.claims.size).toBe(0);
    const later = claim(await world.coinbase(7), 'later');
    await world.mustAccept(later);
    expect(feed.claims.of(idOf(later))).not.toBeNull();
  });
});

describe('in any order', () => {
  /** All answers about the claims of a mempool, without the order of arrival. */
  function facts(claims: WaitingClaims, ids: readonly string[], names: readonly string[]): object {
    return {
      size: claims.size,
      claims: ids.map((id) => claims.of(id)?.point ?? null),
      origins: ids.map((id) => claims.originOf(id)?.point ?? null),
      names: names.map((name) => claims.ofName(name).map(({ point }) => point)),
      supports: ids.map((id) => names.map((name) => claims.supportsOf(id, name))),
      spent: ids.map((id) => [...claims.spentReposts(id), ...claims.spentInChannel(id)].sort()),
    };
  }

  it('additions and removals give the state of a mempool with the rest', () => {
    const random = randomOf(20_261_128);
    const names = ['a', 'b', 'c'];
    const transactions: IndexedTransaction[] = [];
    const feed = new WaitingFeed(regtestParams, Infinity);
    feed.follow({ added: (transaction) => void transactions.push(transaction), removed: () => undefined });
    const ids: string[] = [];
    const tips: { claimId: Bytes; name: string; coin: Coin; script: Bytes }[] = [];
    for (let n = 0; n < 300; n++) {
      const kind = tips.length === 0 ? 0 : random(3);
      const tip = tips[random(Math.max(1, tips.length))]!;
      const name = kind === 0 ? names[random(names.length)]! : tip.name;
      const spent =
        kind === 1 ? tip : { coin: { txid: Buffer.alloc(32, n), n, value: 10n ** 8n }, script: OPEN_SCRIPT };
      const prefix = [
        () => buildClaimPrefix(Buffer.from(name), EMPTY),
        () => buildUpdatePrefix(Buffer.from(name), tip.claimId, EMPTY),
        () => buildSupportPrefix(Buffer.from(name), tip.claimId),
      ][kind]!();
      const script = concatBytes(prefix, OPEN_SCRIPT);
      const tx = spendCoins([spent.coin], BigInt(1 + random(1000)), { script });
      feed.add({ txid: txid(tx), entryTimeSec: n }, tx, [spent.script], [spent.coin.value]);
      const [coin] = coinsOf(tx);
      if (kind === 0) {
        const claimId = claimIdOf(txid(tx), 0);
        ids.push(toLatin1(claimId));
        tips.push({ claimId, name, coin: coin!, script });
      } else if (kind === 1) Object.assign(tip, { coin, script });
    }
    expect(transactions).toHaveLength(300);
    const walked = new WaitingClaims();
    const present = new Set<IndexedTransaction>();
    for (let step = 0; step < 2000; step++) {
      const transaction = transactions[random(transactions.length)]!;
      if (present.delete(transaction)) walked.remove(transaction.txid);
      else {
        present.add(transaction);
        walked.add(transaction);
      }
    }
    // A mempool has what a transaction spends before the transaction.
    for (const transaction of transactions) if (present.has(transaction)) walked.remove(transaction.txid);
    expect(facts(walked, ids, names)).toEqual(facts(new WaitingClaims(), ids, names));
    for (const transaction of transactions) walked.add(transaction);
    expect(facts(walked, ids, names)).toEqual(facts(feed.claims, ids, names));
    // The transactions of a disconnected block arrive after the mempool transactions that spend their outputs.
    const reversed = new WaitingClaims();
    for (const transaction of [...transactions].reverse()) reversed.add(transaction);
    expect(facts(reversed, ids, names)).toEqual(facts(feed.claims, ids, names));
  });
});
