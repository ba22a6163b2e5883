/**
 * The mempool: transactions that may be in the next block. Follows the chain, lets transactions in, keeps within its
 * bounds, and answers questions. The parts are in files of their own; here they meet.
 *
 * Order: letting in and reorganising run in the chain's queue, so that the chain stands still meanwhile. What the chain
 * tells by events is taken at once; what a reorganisation gives back is looked at in the chain's own hook, before the
 * new tip is announced and before whoever handed the block in gets an answer.
 */
import type { ChainReader } from '../chain/chainReader.js';
import type { ConnectedBlock } from '../chain/chainEvents.js';
import { TX_OUTPUT_COUNT, TX_STRIDE } from '../primitives/blockLayout.js';
import { prevoutAt, txidAt } from '../primitives/blockView.js';
import { INPUT_STRIDE, TX_FIRST_INPUT, TX_INPUT_COUNT } from '../primitives/blockLayout.js';
import { parseTransaction, type Transaction } from '../primitives/transaction.js';
import { hashToHex, toLatin1, type Bytes } from '../util/bytes.js';
import type { Logger } from '../util/logging.js';
import { Reader } from '../util/reader.js';
import {
  acceptTransaction,
  type AcceptanceDeps,
  type AcceptOptions,
  type AcceptVerdict,
} from './acceptance.js';
import { selectTransactions } from './blockSelection.js';
import { ChainView } from './chainView.js';
import { checkInvariants } from './checkInvariants.js';
import { DisconnectedTransactions } from './disconnectedTransactions.js';
import { feeRateOf } from './feeRate.js';
import type { MempoolOptions } from './mempoolOptions.js';
import type {
  BlockCandidate,
  BlockLimits,
  BlockSource,
  MempoolEntry,
  MempoolReader,
} from './mempoolReader.js';
import { MempoolFiles } from './mempoolFiles.js';
import type { PoolEntry } from './poolEntry.js';
import { removeImpossible, removeRecursive, returnDisconnected } from './reorg.js';
import { RollingFee } from './rollingFee.js';
import { TxPool, type RemovalReason } from './txPool.js';

export interface MempoolDeps {
  readonly reader: ChainReader;
  /** The clock, without the peers' correction. */
  readonly nowSec: () => number;
  readonly log: Logger;
}

export interface MempoolListener {
  /** A transaction was let in. Its bytes are those with witness. */
  added?(entry: MempoolEntry): void;
  removed?(entry: MempoolEntry, reason: RemovalReason): void;
}

export class Mempool implements MempoolReader, BlockSource {
  private readonly options: MempoolOptions;
  private readonly deps: MempoolDeps;
  private readonly pool: TxPool;
  private readonly view: ChainView;
  private readonly rolling: RollingFee;
  private readonly disconnected = new DisconnectedTransactions();
  private readonly files: MempoolFiles;
  private readonly acceptance: AcceptanceDeps;
  private readonly listeners = new Set<MempoolListener>();
  private changesSinceCheck = 0;

  constructor(options: MempoolOptions, deps: MempoolDeps) {
    this.options = options;
    this.deps = deps;
    this.pool = new TxPool({
      added: (entry) => this.listeners.forEach((listener) => listener.added?.(describe(entry))),
      removed: (entry, reason) =>
        this.listeners.forEach((listener) => listener.removed?.(describe(entry), reason)),
    });
    this.view = new ChainView(deps.reader, this.pool);
    this.rolling = new RollingFee(options.incrementalFeeRatePerKb, deps.nowSec());
    this.acceptance = {
      pool: this.pool,
      view: this.view,
      options,
      nowSec: deps.nowSec,
      rollingFeeRatePerKb: () => this.rollingFeeRatePerKb(),
      limitSize: () => this.limitSize(),
    };
    this.files = new MempoolFiles(options, this.pool, {
      accept: (tx, accept) => this.acceptToMempool(tx, accept),
      nowSec: deps.nowSec,
      log: deps.log,
    });
    const { chain } = deps.reader;
    chain.events.on('blockConnected', (block) => this.blockConnected(block));
    chain.events.on('blockDisconnected', (block) => this.blockDisconnected(block));
    chain.afterStep.push((disconnected) => this.chainMoved(disconnected));
  }

  /** Hears of every transaction that comes or goes, in order; the returned function ends it. Must not throw. */
  listen(listener: MempoolListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Lets a transaction in unless something speaks against it. Rejects only when the environment fails. */
  acceptToMempool(tx: Transaction, accept: AcceptOptions = {}): Promise<AcceptVerdict> {
    return this.deps.reader.chain.exclusively(() => acceptTransaction(this.acceptance, tx, accept));
  }

  /** Makes a transaction, here or to come, count as if it paid so much more. */
  prioritise(txid: Bytes, deltaSat: bigint): void {
    this.pool.prioritise(toLatin1(txid), deltaSat);
  }

  private blockConnected({ raw, parsed }: ConnectedBlock): void {
    this.disconnected.removeConfirmed({ parsed });
    const { pool } = this;
    for (let tx = 0; tx < parsed.txCount; tx++) {
      const key = toLatin1(txidAt(parsed, tx));
      const entry = pool.get(key);
      if (entry) pool.remove(new Set([entry]), 'block', true);
      if (pool.size > 0) this.removeConflicts(raw, parsed, tx);
      pool.clearDelta(key);
    }
    this.rolling.noteBlock(this.deps.nowSec());
  }

  /** Removes what spends the same outputs as a confirmed transaction. */
  private removeConflicts(raw: Buffer, parsed: ConnectedBlock['parsed'], tx: number): void {
    const row = tx * TX_STRIDE;
    const first = parsed.txs[row + TX_FIRST_INPUT]!;
    const end = first + parsed.txs[row + TX_INPUT_COUNT]!;
    for (let input = first; input < end; input++) {
      const conflict = this.pool.spenderOf(toLatin1(prevoutAt(raw, parsed, input)));
      if (!conflict) continue;
      this.pool.clearDelta(conflict.key);
      this.pool.remove(this.pool.withDescendants([conflict]), 'conflict');
    }
  }

  private blockDisconnected(block: ConnectedBlock): void {
    for (const { key, bytes } of this.disconnected.add(block)) {
      const { outputs } = parseTransaction(new Reader(bytes));
      removeRecursive(this.pool, key, outputs.length, 'reorg');
    }
  }

  /** Called by the chain, in its queue, whenever a step of it is complete. */
  private async chainMoved(disconnected: boolean): Promise<void> {
    if (disconnected) {
      const returned = await returnDisconnected(this.acceptance, this.disconnected.take());
      await removeImpossible(this.acceptance);
      this.limitSize();
      await this.files.keepReturned(returned);
    }
    if (this.options.checkEvery > 0 && ++this.changesSinceCheck >= this.options.checkEvery) {
      this.changesSinceCheck = 0;
      await checkInvariants(this.pool, this.view);
    }
  }

  private rollingFeeRatePerKb(): bigint {
    return this.rolling.current(this.deps.nowSec(), this.pool.usageBytes, this.options.maxUsageBytes);
  }

  /** Drops what is too old and, while there is too much, what pays least. Source: `LimitMempoolSize`, `TrimToSize`. */
  private limitSize(): void {
    const { pool, options, deps } = this;
    const expired = pool.expire(deps.nowSec() - options.expirySec);
    if (expired > 0) {
      deps.log.debug('mempool', `Expired ${expired} transactions from the memory pool`);
    }
    while (pool.usageBytes > options.maxUsageBytes) {
      const entry = pool.firstToEvict();
      if (!entry) break;
      const rate = feeRateOf(entry.descendantFeesSat, entry.descendantSizeBytes);
      this.rolling.raise(rate + options.incrementalFeeRatePerKb);
      pool.remove(pool.withDescendants([entry]), 'sizelimit');
    }
  }
