/**
 * Checks the consistency of the whole mempool (`-checkmempool`, and the property test): no output is spent twice, every
 * parent and every input exists, every sum is right. An inconsistency is a bug and throws an error. Source: Core
 * txmempool.cpp `CTxMemPool::check`.
 */
import { checkTxInputs } from '../consensus/checkTxInputs.js';
import { assert } from '../util/assert.js';
import { yieldIfDue } from '../scheduler/yield.js';
import { hashToHex } from '../util/bytes.js';
import type { ChainView, SeenCoin } from './chainView.js';
import { compareByKey, LINK_USAGE_BYTES, txKeyOf, type PoolEntry } from './poolEntry.js';
import type { TxPool } from './txPool.js';

function same(a: Iterable<PoolEntry>, b: Iterable<PoolEntry>): boolean {
  const [x, y] = [[...a].sort(compareByKey), [...b].sort(compareByKey)];
  return x.length === y.length && x.every((entry, i) => entry === y[i]);
}

interface Sums {
  count: number;
  sizeBytes: number;
  feesSat: bigint;
  sigopsCost: number;
}

function sumsOver(entries: Iterable<PoolEntry>): Sums {
  const sums: Sums = { count: 0, sizeBytes: 0, feesSat: 0n, sigopsCost: 0 };
  for (const entry of entries) {
    sums.count++;
    sums.sizeBytes += entry.sizeBytes;
    sums.feesSat += entry.modifiedFeeSat;
    sums.sigopsCost += entry.sigopsCost;
  }
  return sums;
}

function checkSums(pool: TxPool, entry: PoolEntry, name: string): void {
  const up = sumsOver([entry, ...pool.ancestorsOf(entry)]);
  assert(
    up.count === entry.ancestorCount &&
      up.sizeBytes === entry.ancestorSizeBytes &&
      up.feesSat === entry.ancestorFeesSat &&
      up.sigopsCost === entry.ancestorSigopsCost,
    `the sums over the ancestors of ${name} are wrong`,
  );
  const down = sumsOver(pool.withDescendants([entry]));
  assert(
    down.count === entry.descendantCount &&
      down.sizeBytes === entry.descendantSizeBytes &&
      down.feesSat === entry.descendantFeesSat,
    `the sums over the descendants of ${name} are wrong`,
  );
}

/** Throws an `AssertionError` at the first inconsistency. The chain must not change during the call. */
export async function checkInvariants(pool: TxPool, view: ChainView): Promise<void> {
  let since = performance.now();
  let [sizeBytes, feesSat, usageBytes, spends] = [0, 0n, 0, 0];
  for (const entry of pool.entries()) {
    const name = hashToHex(entry.txid);
    const tx = entry.parse();
    const spentKeys = entry.spentKeys();
    assert(same(entry.parents, pool.parentsOf(spentKeys)), `the parents of ${name} are wrong`);
    assert(
      same(entry.children, pool.spendersOf(entry.key, tx.outputs.length)),
      `the children of ${name} are wrong`,
    );
    for (const key of spentKeys) {
      assert(pool.spenderOf(key) === entry, `${name} spends what another transaction spends`);
    }
    const coins = await view.coins(spentKeys);
    assert(!coins.includes(null), `${name} spends what does not exist`);
    const { error, feeSat } = checkTxInputs(tx, coins as SeenCoin[], view.nextHeight);
    assert(!error && feeSat === entry.feeSat, `${name} can not be in the next block`);
    assert(
      entry.spendsCoinbase || !(coins as SeenCoin[]).some((coin) => coin.isCoinbase),
      `${name} spends a coinbase and does not know`,
    );
    for (const key of spentKeys) {
      assert(txKeyOf(key) !== entry.key, `${name} spends itself`);
    }
    checkSums(pool, entry, name);
    sizeBytes += entry.sizeBytes;
    feesSat += entry.feeSat;
    usageBytes += entry.usageBytes + (entry.parents.length + entry.children.length) * LINK_USAGE_BYTES;
    spends += spentKeys.length;
    since = await yieldIfDue(since);
  }
  for (const [, spender] of pool.spentOutPoints()) {
    assert(pool.get(spender.key) === spender, 'an outpoint is spent by a transaction that is not here');
    spends--;
  }
  assert(spends === 0, 'more outpoints are spent than transactions spend');
  assert(sizeBytes === pool.totalSizeBytes && feesSat === pool.totalFeeSat, 'the totals are wrong');
  assert(pool.usageBytes - usageBytes === pool.deltaUsageBytes, 'the memory is miscounted');
}
