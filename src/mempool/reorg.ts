/**
 * Updates the mempool after blocks were disconnected: their transactions return unless the new branch contains them, and
 * transactions that became invalid are removed. The chain must not change during the call. Source: lbrycrd validation.cpp
 * `UpdateMempoolForReorg`, txmempool.cpp `removeForReorg`, `removeRecursive`.
 */
import { COINBASE_MATURITY } from '../consensus/limits.js';
import { isCoinbase, parseTransaction, type Transaction } from '../primitives/transaction.js';
import { yieldIfDue } from '../scheduler/yield.js';
import { Reader } from '../util/reader.js';
import { acceptTransaction, type AcceptanceDeps } from './acceptance.js';
import type { DisconnectedTransaction } from './disconnectedTransactions.js';
import { txKeyOf, type PoolEntry } from './poolEntry.js';
import type { RemovalReason, TxPool } from './txPool.js';

/**
 * Removes a transaction and its descendants. If the transaction is not in the mempool, removes the transactions that spend
 * its outputs, with their descendants.
 */
export function removeRecursive(pool: TxPool, key: string, outputCount: number, reason: RemovalReason): void {
  const entry = pool.get(key);
  const roots = entry ? [entry] : pool.spendersOf(key, outputCount);
  pool.remove(pool.withDescendants(roots), reason);
}

/**
 * Returns the transactions of disconnected blocks to the mempool, beginning with the earliest. Resolves to those of their
 * entries that are in the mempool at the end.
 */
export async function returnDisconnected(
  deps: AcceptanceDeps,
  disconnected: readonly DisconnectedTransaction[],
): Promise<PoolEntry[]> {
  const { pool } = deps;
  const returned: PoolEntry[] = [];
  const outputCounts = new Map<PoolEntry, number>();
  let since = performance.now();
  for (const { key, bytes } of disconnected) {
    const tx = parseTransaction(new Reader(bytes));
    const accepted = !isCoinbase(tx) && (await acceptTransaction(deps, tx, { bypassLimits: true })).accepted;
    const entry = pool.get(key);
    if (!accepted) removeRecursive(pool, key, tx.outputs.length, 'reorg');
    else if (entry) {
      returned.push(entry);
      outputCounts.set(entry, tx.outputs.length);
    }
    since = await yieldIfDue(since);
  }
  // A returned transaction may have left the mempool again: another transaction may have replaced it, or it was removed
  // with an ancestor that could not return.
  const here = returned.filter((entry) => pool.get(entry.key) === entry);
  pool.linkChildren(here, (entry) => outputCounts.get(entry)!);
  return here;
}

/**
 * Removes transactions that can no longer be in the next block: those whose lock time is not reached, and those that spend a
 * missing or immature coinbase.
 */
export async function removeImpossible({ pool, view }: AcceptanceDeps): Promise<void> {
  const impossible: PoolEntry[] = [];
  let since = performance.now();
  for (const entry of [...pool.entries()]) {
    if (!(await isStillPossible(view, entry, pool))) impossible.push(entry);
    since = await yieldIfDue(since);
  }
  pool.remove(pool.withDescendants(impossible), 'reorg');
}

async function isStillPossible(
  view: AcceptanceDeps['view'],
  entry: PoolEntry,
  pool: TxPool,
): Promise<boolean> {
  if (!view.isFinal(entry)) return false;
  if (!view.areValid(entry.locks) && !(await renewLocks(view, entry))) return false;
  if (!view.areOpen(entry.locks)) return false;
  if (!entry.spendsCoinbase) return true;
  const confirmed = entry.spentKeys().filter((key) => !pool.has(txKeyOf(key)));
  return (await view.coins(confirmed)).every(
    (coin) => coin && !(coin.isCoinbase && view.nextHeight - coin.height < COINBASE_MATURITY),
  );
}

/** Computes the relative locks of an entry again. Returns false if one of its inputs is missing. */
async function renewLocks(view: AcceptanceDeps['view'], entry: PoolEntry): Promise<boolean> {
  const tx: Transaction = entry.parse();
  const coins = await view.coins(entry.spentKeys());
  if (coins.includes(null)) return false;
  entry.locks = view.lockPoints(tx, coins as Exclude<(typeof coins)[number], null>[]);
  return true;
}
