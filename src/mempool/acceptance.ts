/**
 * Accepts a transaction to the mempool: runs the checks in the order of the reference, and inserts the transaction. The
 * rules themselves are in the module `consensus` and in this folder. The tip must not change during the call, so callers run
 * it within a task of `chain/chainQueue.ts`. Source: lbrycrd validation.cpp `AcceptToMemoryPoolWorker`.
 */
import { checkTransaction } from '../consensus/checkTransaction.js';
import { checkTxInputs } from '../consensus/checkTxInputs.js';
import { reject, type ValidationError } from '../consensus/reject.js';
import { transactionSigopCost } from '../consensus/sigopCost.js';
import { strippedSize, weightOf, witnessSize } from '../consensus/txSize.js';
import { sha256d } from '../crypto/hash.js';
import { hasWitness, isCoinbase, writeTransaction, type Transaction } from '../primitives/transaction.js';
import { formatTransactionInSlices, sha256dInSlices, txidInSlices } from '../primitives/transactionSlices.js';
import { nextSlice } from '../scheduler/yield.js';
import { STANDARD_SCRIPT_VERIFY_FLAGS } from '../script/flags.js';
import { fromLatin1, hashToHex, toLatin1, type Bytes } from '../util/bytes.js';
import { inSlices } from '../scheduler/slices.js';
import type { Slices } from '../util/slices.js';
import { Writer } from '../util/writer.js';
import type { ChainView, SeenCoin } from './chainView.js';
import { feeAtRate } from './feeRate.js';
import type { FeeEstimator } from './fees/feeEstimator.js';
import type { MempoolOptions } from './mempoolOptions.js';
import { findAncestors } from './packageLimits.js';
import {
  areInputsStandard,
  checkStandard,
  isWitnessStandard,
  MAX_STANDARD_TX_SIGOPS_COST,
  virtualSize,
} from './policy.js';
import { PoolEntry, spentKeysOf } from './poolEntry.js';
import { checkReplacement, findConflicts } from './replacement.js';
import type { TxPool } from './txPool.js';
import { verifyTransaction } from './verifyTransaction.js';

export interface AcceptOptions {
  /** Whether to ignore minimum fees and the size limit of the mempool, as for transactions of disconnected blocks. */
  readonly bypassLimits?: boolean;
  /** Maximum fee in satoshis. A higher fee is treated as a mistake. No limit if 0 or absent. */
  readonly maxFeeSat?: bigint;
  /** Whether only the verdict is needed. In this case nothing is added to the mempool. */
  readonly testOnly?: boolean;
  /** Time of arrival in seconds since 1970; by default the current time. */
  readonly acceptTimeSec?: number;
  /** Returns whether a transaction (by its key) must be refused, because the block that is being connected contains it. */
  readonly except?: (key: string) => boolean;
}

export interface AcceptVerdict {
  /** Whether the transaction was accepted, or would have been accepted with `testOnly`. */
  readonly accepted: boolean;
  /**
   * Reason for the rejection. Null if the transaction was accepted, or if it was rejected only because its inputs are
   * unknown.
   */
  readonly error: ValidationError | null;
  /** Whether the transaction spends outputs that neither the chain nor the mempool has. It may be valid nevertheless. */
  readonly missingInputs: boolean;
  /** Txids of the transactions that the accepted transaction replaced. */
  readonly replaced: readonly Bytes[];
}

export interface AcceptanceDeps {
  readonly pool: TxPool;
  readonly view: ChainView;
  readonly options: MempoolOptions;
  readonly fees: FeeEstimator;
  readonly nowSec: () => number;
  /** Minimum fee rate, in satoshis per 1,000 virtual bytes, which rises when transactions are removed from a full mempool. */
  readonly rollingFeeRatePerKb: () => bigint;
  /** Removes expired transactions, and then the lowest-paying ones until the mempool is within its size limit. */
  readonly limitSize: () => void;
  /** Called with the entry of an accepted transaction that stays in the mempool. */
  /** `coins` are the coins that the transaction spends, in the order of its inputs. */
  readonly onAccepted: (entry: PoolEntry, coins: readonly SeenCoin[]) => void;
}

/** A new transaction with the values that can be computed without the chain. */
export interface Newcomer {
  readonly tx: Transaction;
  readonly bytes: Buffer;
  readonly key: string;
  readonly wtxKey: string;
  readonly weight: number;
}

export function prepare(tx: Transaction): Newcomer {
  const stripped = strippedSize(tx);
  const size = stripped + witnessSize(tx);
  const bytes = ownMemory(serialize(tx, size, true));
  const wtxKey = toLatin1(sha256d(bytes));
  const key = size === stripped ? wtxKey : toLatin1(sha256d(serialize(tx, stripped, false)));
  return { tx, bytes, key, wtxKey, weight: weightOf(stripped, size) };
}

/** Prepares a transaction of any size, and yields to the event loop in between. */
export function* prepareInSlices(tx: Transaction): Slices<Newcomer> {
  const stripped = strippedSize(tx);
  const bytes = ownMemory(yield* formatTransactionInSlices(tx));
  const wtxKey = toLatin1(yield* sha256dInSlices(bytes));
  const key = bytes.length === stripped ? wtxKey : toLatin1(yield* txidInSlices(tx));
  return { tx, bytes, key, wtxKey, weight: weightOf(stripped, bytes.length) };
}

function serialize(tx: Transaction, sizeBytes: number, withWitness: boolean): Buffer {
  const writer = new Writer(sizeBytes);
  writeTransaction(writer, tx, withWitness);
  return writer.finish();
}

/** Copies the bytes to a new buffer. A view would keep the whole underlying buffer in memory. */
function ownMemory(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}

/** Number of inputs, outputs and witness items of a transaction above which the checks yield to the event loop. Arbitrary. */
const PARTS_AT_ONCE = 1000;

function partsOf({ inputs, outputs }: Transaction): number {
  return inputs.reduce((sum, { witness }) => sum + 1 + witness.length, outputs.length);
}

const MISSING: AcceptVerdict = { accepted: false, error: null, missingInputs: true, replaced: [] };

function refused(error: ValidationError): AcceptVerdict {
  return { accepted: false, error, missingInputs: false, replaced: [] };
}

/** Checks a transaction and adds it to the mempool, unless it is only tested. */
export async function acceptTransaction(
  deps: AcceptanceDeps,
  tx: Transaction,
  accept: AcceptOptions = {},
): Promise<AcceptVerdict> {
  const { pool, view, options } = deps;
  const shape = checkTransaction(tx) ?? (isCoinbase(tx) ? reject('coinbase') : null);
  if (shape) return refused(shape);
  const unusual = options.requireStandard ? checkStandard(tx, options.standard) : null;
  if (unusual) return refused(unusual);
  const hasFinalSequences = tx.inputs.every((input) => input.sequence === 0xffffffff);
  if (!view.isFinal({ lockTime: tx.lockTime, hasFinalSequences })) return refused(reject('non-final'));
  const isLarge = partsOf(tx) > PARTS_AT_ONCE;
  if (isLarge) await nextSlice();
  const newcomer = isLarge ? await inSlices(prepareInSlices(tx)) : prepare(tx);
  // A transaction of the block that is being connected must not count as a new transaction for the fee estimates.
  if (accept.except?.(newcomer.key) === true) return refused(reject('txn-already-known'));
  if (pool.has(newcomer.key)) return refused(reject('txn-already-in-mempool'));
  if (isLarge) await nextSlice();
  const spentKeys = spentKeysOf(newcomer.bytes);
  const { conflicts, error: conflict } = findConflicts(pool, spentKeys, options.allowsReplacement);
  if (conflict) return refused(conflict);

  if (isLarge) await nextSlice();
  const coins = await view.coins(spentKeys);
  if (coins.includes(null)) return isKnown(view, newcomer) ? refused(reject('txn-already-known')) : MISSING;
  const made = makeEntry(deps, newcomer, coins as SeenCoin[], accept);
  if ('error' in made) return refused(made.error);
  const { entry } = made;
  const fees = checkFees(deps, entry, accept);
  if (fees) return refused(fees);

  const { ancestors, problem } = findAncestors(pool.parentsOf(spentKeys), entry.sizeBytes, options.limits);
  if (problem !== null) return refused(reject('too-long-mempool-chain', { debug: problem }));
  for (const ancestor of ancestors) {
    if (!conflicts.includes(ancestor)) continue;
    const debug = `${hashToHex(entry.txid)} spends conflicting transaction ${hashToHex(ancestor.txid)}`;
    return refused(reject('bad-txns-spends-conflicting-tx', { debug }));
  }
  let replaced: ReadonlySet<PoolEntry> = new Set();
  if (conflicts.length > 0) {
    const replacement = {
      key: entry.key,
      spentKeys,
      modifiedFeeSat: entry.feeSat + pool.deltaOf(entry.key),
      sizeBytes: entry.sizeBytes,
    };
    const verdict = checkReplacement(pool, replacement, conflicts, options.incrementalFeeRatePerKb);
    if (verdict.error) return refused(verdict.error);
    replaced = verdict.replaced;
  }

  const scripts = await verifyTransaction(newcomer, coins as SeenCoin[], entry.sigopsCost);
  if (scripts) return refused(scripts);
  const verdict = {
    accepted: true,
    error: null,
    missingInputs: false,
    replaced: [...replaced].map(({ txid }) => txid),
  };
  if (accept.testOnly) return verdict;
  pool.remove(replaced, 'replaced');
  const tellsOfFees =
    replaced.size === 0 && ancestors.size === 0 && !accept.bypassLimits && view.isCurrent(deps.nowSec());
  pool.add(entry, ancestors);
  deps.fees.entered(entry, tellsOfFees);
  if (!accept.bypassLimits) {
    deps.limitSize();
    if (!pool.has(entry.key)) return refused(reject('mempool full'));
  }
  deps.onAccepted(entry, coins as SeenCoin[]);
  return verdict;
}

/**
 * Whether the transaction is known to be in the chain. As in the reference, only the coin cache is searched, which is
 * synchronous.
 */
function isKnown(view: ChainView, { key, tx }: Newcomer): boolean {
  const outPoint = fromLatin1(`${key}\0\0\0\0`);
  return tx.outputs.some((_, n) => {
    outPoint.writeUInt32LE(n, 32);
    return view.reader.cachedCoin(outPoint) !== null;
  });
}

/**
 * Runs the checks that need the spent coins but execute no scripts, including the count of signature operations. Returns the
 * entry for the mempool.
 */
function makeEntry(
  { view, options, nowSec }: AcceptanceDeps,
  { tx, bytes, key, wtxKey, weight }: Newcomer,
  coins: readonly SeenCoin[],
  accept: AcceptOptions,
): { entry: PoolEntry } | { error: ValidationError } {
  const locks = view.lockPoints(tx, coins);
  if (!view.areOpen(locks)) return { error: reject('non-BIP68-final') };
  const inputs = checkTxInputs(tx, coins, view.nextHeight);
  if (inputs.error) return { error: inputs.error };
  const scripts = coins.map((coin) => coin.script);
  if (options.requireStandard && !areInputsStandard(tx, scripts)) {
    return { error: reject('bad-txns-nonstandard-inputs') };
  }
  if (options.requireStandard && hasWitness(tx) && !isWitnessStandard(tx, scripts)) {
    return { error: reject('bad-witness-nonstandard') };
  }
  const sigopsCost = transactionSigopCost(tx, (i) => scripts[i]!, STANDARD_SCRIPT_VERIFY_FLAGS);
  const entry = new PoolEntry({
    key,
    wtxKey,
    bytes,
    tx,
    weight,
    sizeBytes: virtualSize(weight, sigopsCost, options.bytesPerSigop),
    sigopsCost,
    feeSat: inputs.feeSat,
    timeSec: accept.acceptTimeSec ?? nowSec(),
    height: view.nextHeight - 1,
    spendsCoinbase: coins.some((coin) => coin.isCoinbase),
    locks,
  });
  if (sigopsCost > MAX_STANDARD_TX_SIGOPS_COST) {
    return { error: reject('bad-txns-too-many-sigops', { debug: String(sigopsCost) }) };
  }
  return { entry };
}

/** Checks that the fee is high enough and not so high that it must be a mistake. */
function checkFees(
  { pool, options, rollingFeeRatePerKb }: AcceptanceDeps,
  entry: PoolEntry,
  accept: AcceptOptions,
): ValidationError | null {
  if (!accept.bypassLimits) {
    const paidSat = entry.feeSat + pool.deltaOf(entry.key);
    const rollingSat = feeAtRate(rollingFeeRatePerKb(), entry.sizeBytes);
    if (rollingSat > 0n && paidSat < rollingSat) {
      return reject('mempool min fee not met', { debug: `${paidSat} < ${rollingSat}` });
    }
    const relaySat = feeAtRate(options.minRelayFeeRatePerKb, entry.sizeBytes);
    if (paidSat < relaySat) return reject('min relay fee not met', { debug: `${paidSat} < ${relaySat}` });
  }
  const maxFeeSat = accept.maxFeeSat ?? 0n;
  if (maxFeeSat === 0n || entry.feeSat <= maxFeeSat) return null;
  return reject('absurdly-high-fee', { debug: `${entry.feeSat} > ${maxFeeSat}` });
}
