/**
 * Replacement of unconfirmed transactions by one that pays more (BIP125). Source: lbrycrd validation.cpp
 * `AcceptToMemoryPoolWorker`.
 */
import { formatMoney } from '../consensus/limits.js';
import { reject, type ValidationError } from '../consensus/reject.js';
import type { Transaction } from '../primitives/transaction.js';
import { fromLatin1, hashToHex } from '../util/bytes.js';
import { feeAtRate, feeRateOf, formatFeeRate } from './feeRate.js';
import { compareByKey, txKeyOf, type PoolEntry } from './poolEntry.js';
import type { TxPool } from './txPool.js';

/** Maximum sequence number that signals replaceability. Source: `MAX_BIP125_RBF_SEQUENCE`. */
const MAX_REPLACEABLE_SEQUENCE = 0xfffffffd;
/** Maximum number of transactions that one transaction may replace. A descendant counts each time that it is reached. */
const MAX_REPLACED = 100;

/** Whether a transaction itself signals that it can be replaced. Source: `SignalsOptInRBF`. */
export function signalsReplacement(tx: Transaction): boolean {
  return tx.inputs.some((input) => input.sequence <= MAX_REPLACEABLE_SEQUENCE);
}

/**
 * Finds the unconfirmed transactions that spend one of the outpoints, sorted by txid. Returns an error if one of these
 * transactions may not be replaced.
 */
export function findConflicts(
  pool: TxPool,
  spentKeys: readonly string[],
  allowsReplacement: boolean,
): { conflicts: readonly PoolEntry[]; error: ValidationError | null } {
  const conflicts = new Set<PoolEntry>();
  for (const outPoint of spentKeys) {
    const spender = pool.spenderOf(outPoint);
    if (!spender || conflicts.has(spender)) continue;
    if (!allowsReplacement || !signalsReplacement(spender.parse())) {
      return { conflicts: [], error: reject('txn-mempool-conflict') };
    }
    conflicts.add(spender);
  }
  return { conflicts: [...conflicts].sort(compareByKey), error: null };
}

export interface Replacement {
  readonly key: string;
  readonly spentKeys: readonly string[];
  readonly modifiedFeeSat: bigint;
  readonly sizeBytes: number;
}

export type ReplacementVerdict =
  | { readonly error: ValidationError; readonly replaced: null }
  | { readonly error: null; readonly replaced: ReadonlySet<PoolEntry> };

function refused(error: ValidationError): ReplacementVerdict {
  return { error, replaced: null };
}

function insufficientFee(debug: string): ReplacementVerdict {
  return refused(reject('insufficient fee', { debug }));
}

/**
 * Checks that the new transaction pays enough for the transactions that it replaces. Returns the replaced transactions with
 * their descendants.
 */
export function checkReplacement(
  pool: TxPool,
  tx: Replacement,
  conflicts: readonly PoolEntry[],
  incrementalRatePerKb: bigint,
): ReplacementVerdict {
  const hash = hashToHex(fromLatin1(tx.key));
  const newRate = feeRateOf(tx.modifiedFeeSat, tx.sizeBytes);
  const parentsOfConflicts = new Set<string>();
  let count = 0;
  for (const conflict of conflicts) {
    const oldRate = feeRateOf(conflict.modifiedFeeSat, conflict.sizeBytes);
    if (newRate <= oldRate) {
      return insufficientFee(
        `rejecting replacement ${hash}; new feerate ${formatFeeRate(newRate)} <= old feerate ${formatFeeRate(oldRate)}`,
      );
    }
    for (const outPoint of conflict.spentKeys()) parentsOfConflicts.add(txKeyOf(outPoint));
    count += conflict.descendantCount;
  }
  if (count > MAX_REPLACED) {
    // The error text ends with a line break, as in the reference.
    const debug = `rejecting replacement ${hash}; too many potential replacements (${count} > ${MAX_REPLACED})\n`;
    return refused(reject('too many potential replacements', { debug }));
  }
  const replaced = pool.withDescendants(conflicts);
  let conflictingFeesSat = 0n;
  for (const entry of replaced) conflictingFeesSat += entry.modifiedFeeSat;

  const added = tx.spentKeys.findIndex((outPoint) => {
    const parent = txKeyOf(outPoint);
    return !parentsOfConflicts.has(parent) && pool.has(parent);
  });
  if (added >= 0) {
    const debug = `replacement ${hash} adds unconfirmed input, idx ${added}`;
    return refused(reject('replacement-adds-unconfirmed', { debug }));
  }
  if (tx.modifiedFeeSat < conflictingFeesSat) {
    return insufficientFee(
      `rejecting replacement ${hash}, less fees than conflicting txs; ${formatMoney(tx.modifiedFeeSat)} < ${formatMoney(conflictingFeesSat)}`,
    );
  }
  const addedFeesSat = tx.modifiedFeeSat - conflictingFeesSat;
  const relayFeeSat = feeAtRate(incrementalRatePerKb, tx.sizeBytes);
  if (addedFeesSat < relayFeeSat) {
    return insufficientFee(
      `rejecting replacement ${hash}, not enough additional fees to relay; ${formatMoney(addedFeesSat)} < ${formatMoney(relayFeeSat)}`,
    );
  }
  return { error: null, replaced };
}
