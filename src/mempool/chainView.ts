/**
 * View of the chain for a transaction that would be in the next block: the coins of chain and mempool, and the lock times.
 * Source: Core `CCoinsViewMemPool`, validation.cpp `CheckFinalTx`, `CheckSequenceLocks`.
 */
import type { ChainReader } from '../chain/chainReader.js';
import type { SpentCoin } from '../consensus/checkTxInputs.js';
import {
  calculateSequenceLocks,
  SEQUENCE_LOCKTIME_DISABLE_FLAG,
  sequenceLocksOpen,
  versionHasSequenceLocks,
} from '../consensus/lockTime.js';
import type { CoinValue } from '../native/binding.js';
import { LOCKTIME_THRESHOLD } from '../script/script.js';
import type { Transaction } from '../primitives/transaction.js';
import { NO_HEADER } from '../store/files/headerTable.js';
import { fromLatin1 } from '../util/bytes.js';
import { whenResolved, type MaybePromise } from '../util/maybePromise.js';
import { NO_LOCKS, txKeyOf, type LockPoints, type PoolEntry } from './poolEntry.js';
import type { TxPool } from './txPool.js';

/** Height that stands for "in the mempool" in a coin created by a mempool transaction. Source: `MEMPOOL_HEIGHT`. */
const MEMPOOL_HEIGHT = 0x7fffffff;

/** Maximum age of the tip in seconds at which transactions are used for fee estimates. Source: `MAX_FEE_ESTIMATION_TIP_AGE`. */
const MAX_FEE_ESTIMATION_TIP_AGE_SEC = 3 * 60 * 60;

/** An unspent output of the chain, or of a mempool transaction. */
export interface SeenCoin extends SpentCoin {
  readonly script: CoinValue['script'];
  readonly amount: bigint;
}

export class ChainView {
  readonly reader: ChainReader;
  private readonly pool: TxPool;

  constructor(reader: ChainReader, pool: TxPool) {
    this.reader = reader;
    this.pool = pool;
  }

  /** Height of the block that would contain the transaction. */
  get nextHeight(): number {
    return this.reader.chain.height + 1;
  }

  /** Median time past of the tip, in seconds since 1970. */
  get medianTimeSec(): number {
    const { active } = this.reader.chain.index;
    return active.medianTimeOf(active.tip);
  }

  /** Whether the node is in sync, so that new transactions can be used for fee estimates. Source: `IsCurrentForFeeEstimation`. */
  isCurrent(nowSec: number): boolean {
    const { chain } = this.reader;
    const { headers, bestHeader } = chain.index;
    if (chain.isInitialDownload()) return false;
    if (headers.timeSec(chain.tip) < nowSec - MAX_FEE_ESTIMATION_TIP_AGE_SEC) return false;
    return chain.height >= headers.height(bestHeader) - 1;
  }

  /**
   * Coins of the outpoints, in order; null for a missing coin. A mempool transaction takes precedence over coins of the
   * chain with the same txid.
   */
  async coins(spentKeys: readonly string[]): Promise<(SeenCoin | null)[]> {
    const made = new Map<PoolEntry, Transaction>();
    const found = spentKeys.map((key) => {
      const parent = this.pool.get(txKeyOf(key));
      return parent ? madeCoin(parent, key, made) : this.chainCoin(key);
    });
    return Promise.all(found);
  }

  /** Unspent output of the chain; null if there is none. The result is synchronous if the output is cached. */
  private chainCoin(key: string): MaybePromise<SeenCoin | null> {
    const outPoint = fromLatin1(key);
    const cached = this.reader.cachedCoin(outPoint);
    return cached ? seen(cached) : whenResolved(this.reader.coin(outPoint), (coin) => coin && seen(coin));
  }

  /** Whether the transaction's absolute lock time allows it in the next block. Source: `CheckFinalTx`. */
  isFinal({ lockTime, hasFinalSequences }: Pick<PoolEntry, 'lockTime' | 'hasFinalSequences'>): boolean {
    if (lockTime === 0 || hasFinalSequences) return true;
    return lockTime < (lockTime < LOCKTIME_THRESHOLD ? this.nextHeight : this.medianTimeSec);
  }

  /**
   * Computes the height and the time until which relative lock times lock the transaction. `coins` are the outputs that its
   * inputs spend.
   */
  lockPoints(tx: Transaction, coins: readonly SpentCoin[]): LockPoints {
    const isLocked = versionHasSequenceLocks(tx.version);
    if (!isLocked || tx.inputs.every((input) => (input.sequence & SEQUENCE_LOCKTIME_DISABLE_FLAG) !== 0)) {
      return NO_LOCKS;
    }
    const { active } = this.reader.chain.index;
    const { nextHeight } = this;
    // A coin that a mempool transaction created counts as if it were confirmed in the next block.
    const heights = coins.map(({ height }) => (height === MEMPOOL_HEIGHT ? nextHeight : height));
    const locks = calculateSequenceLocks(tx, heights, (height) => active.medianTimeOf(active.at(height)));
    const highest = heights.reduce((max, height) => (height < nextHeight ? Math.max(max, height) : max), 0);
    return { ...locks, block: active.at(highest) };
  }

  /** Whether computed lock points are still valid after a change of the chain. Source: `TestLockPointValidity`. */
  areValid(locks: LockPoints): boolean {
    return locks.block === NO_HEADER || this.reader.chain.index.active.contains(locks.block);
  }

  areOpen(locks: LockPoints): boolean {
    return sequenceLocksOpen(locks, this.nextHeight, this.medianTimeSec);
  }
}

function seen({ amount, script, heightCode }: CoinValue): SeenCoin {
  return { value: amount, amount, script, height: heightCode >>> 1, isCoinbase: (heightCode & 1) !== 0 };
}

function madeCoin(parent: PoolEntry, key: string, made: Map<PoolEntry, Transaction>): SeenCoin | null {
  let tx = made.get(parent);
  if (!tx) made.set(parent, (tx = parent.parse()));
  const output = tx.outputs[fromLatin1(key).readUInt32LE(32)];
  if (!output) return null;
  const { value, script } = output;
  return { value, amount: value, script, height: MEMPOOL_HEIGHT, isCoinbase: false };
}
