/**
 * Decides when a transaction may enter a block: absolute lock times and BIP68 relative ones.
 * Source: Core consensus/tx_verify.cpp `IsFinalTx`, `CalculateSequenceLocks`, `EvaluateSequenceLocks`.
 */
import { SEQUENCE_FINAL } from '../primitives/transaction.js';
import { LOCKTIME_THRESHOLD } from '../script/script.js';

/** BIP68: a sequence with this bit is not a lock. */
export const SEQUENCE_LOCKTIME_DISABLE_FLAG = 0x80000000;
/** BIP68: with this bit, a lock counts units of 512 seconds instead of blocks. */
export const SEQUENCE_LOCKTIME_TYPE_FLAG = 1 << 22;
export const SEQUENCE_LOCKTIME_MASK = 0xffff;
/** BIP68: one time unit is 2^9 = 512 seconds. */
const SEQUENCE_LOCKTIME_GRANULARITY = 9;

/** The fields of a transaction that determine its locks. */
export interface LockedTransaction {
  readonly version: number;
  readonly lockTime: number;
  readonly inputs: readonly { readonly sequence: number }[];
}

/**
 * Whether the transaction may be in a block at `height`. The cutoff is the block's time, or from BIP113 on the median time
 * past of its parent.
 */
export function isFinalTransaction(tx: LockedTransaction, height: number, cutoffTimeSec: number): boolean {
  if (tx.lockTime === 0) return true;
  if (tx.lockTime < (tx.lockTime < LOCKTIME_THRESHOLD ? height : cutoffTimeSec)) return true;
  return tx.inputs.every((input) => input.sequence === SEQUENCE_FINAL);
}

/** The last height and the last median time (in seconds) at which the transaction is still locked; -1 without a lock. */
export interface SequenceLocks {
  minHeight: number;
  minTimeSec: number;
}

/** Whether BIP68 applies to a transaction of this version (signed; compared as unsigned). */
export function versionHasSequenceLocks(version: number): boolean {
  return version >>> 0 >= 2;
}

/**
 * Computes the combined locks of all inputs. Must be called only if BIP68 is active. `coinHeights[i]` is the height of the
 * output that input i spends (for an output in the mempool: the next height). `medianTimeAt(height)` returns the median time
 * past of the ancestor at that height.
 */
export function calculateSequenceLocks(
  tx: LockedTransaction,
  coinHeights: ArrayLike<number>,
  medianTimeAt: (height: number) => number,
): SequenceLocks {
  const locks: SequenceLocks = { minHeight: -1, minTimeSec: -1 };
  if (!versionHasSequenceLocks(tx.version)) return locks;
  for (let i = 0; i < tx.inputs.length; i++) {
    const { sequence } = tx.inputs[i]!;
    if ((sequence & SEQUENCE_LOCKTIME_DISABLE_FLAG) !== 0) continue;
    const coinHeight = coinHeights[i]!;
    const amount = sequence & SEQUENCE_LOCKTIME_MASK;
    if ((sequence & SEQUENCE_LOCKTIME_TYPE_FLAG) !== 0) {
      const coinTimeSec = medianTimeAt(Math.max(coinHeight - 1, 0));
      const lastSec = coinTimeSec + (amount << SEQUENCE_LOCKTIME_GRANULARITY) - 1;
      locks.minTimeSec = Math.max(locks.minTimeSec, lastSec);
    } else {
      locks.minHeight = Math.max(locks.minHeight, coinHeight + amount - 1);
    }
  }
  return locks;
}

/** Whether the locks permit a block at `height` whose parent has this median time past. */
export function sequenceLocksOpen(
  locks: SequenceLocks,
  height: number,
  parentMedianTimeSec: number,
): boolean {
  return locks.minHeight < height && locks.minTimeSec < parentMedianTimeSec;
}
