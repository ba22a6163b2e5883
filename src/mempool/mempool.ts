/**
 * The mempool: transactions that may be in the next block. It follows the chain, accepts transactions, enforces its limits,
 * and serves queries. This class combines the parts, which are in separate files. Reorgs are handled in the queue that
 * serializes changes of the chain, and during acceptance the tip is locked (`chain/chainQueue.ts`), so that the tip does not
 * change during either. Events of the chain are processed immediately; transactions returned by a reorg are processed in the
 * chain's own hook, before the new tip is announced and before the sender of the block gets a result.
 */
import { MAX_BLOCK_WEIGHT } from '../consensus/limits.js';
import type { ChainReader } from '../chain/chainReader.js';
import type { ConnectedBlock } from '../chain/chainEvents.js';
import { TX_FIRST_INPUT, TX_INPUT_COUNT, TX_STRIDE } from '../primitives/blockLayout.js';
import { prevoutAt, txidAt } from '../primitives/blockView.js';
import { parseTransaction, type Transaction } from '../primitives/transaction.js';
import { fromLatin1, toLatin1, type Bytes } from '../util/bytes.js';
import { atOnce, type Slices } from '../util/slices.js';
import type { Logger } from '../util/logging.js';
import { Reader } from '../util/reader.js';
import {
  acceptTransaction,
  type AcceptanceDeps,
  type AcceptOptions,
  type AcceptVerdict,
} from './acceptance.js';
import { BlockSelector } from './blockSelection.js';
import { ChainView } from './chainView.js';
import { checkInvariants } from './checkInvariants.js';
import { DisconnectedTransactions } from './disconnectedTransactions.js';
import { feeRateOf } from './feeRate.js';
import { FeeEstimator, type FeeEstimates, type FeeHistory } from './fees/feeEstimator.js';
import type { MempoolOptions } from './mempoolOptions.js';
import type {
  BlockCandidate,
  BlockLimits,
  BlockSource,
  MempoolEntry,
  MempoolGate,
  MempoolReader,
  RelayEntry,
  RelaySource,
  UnbroadcastSource,
} from './mempoolReader.js';
import { MempoolFiles } from './mempoolFiles.js';
import { MAX_STANDARD_TX_WEIGHT } from './policy.js';
import { compareByKey, txKeyOf, type PoolEntry } from './poolEntry.js';
import { removeImpossible, removeRecursive, returnDisconnected } from './reorg.js';
import { RollingFee } from './rollingFee.js';
import { TxPool, type RemovalReason } from './txPool.js';
import { Unbroadcast } from './unbroadcast.js';

export interface MempoolDeps {
  readonly reader: ChainReader;
  /** Time of the system clock, without the adjustment by peers' clocks. */
  readonly nowSec: () => number;
  readonly log: Logger;
  /** Shows a warning to the operator and writes it to the log. Without this function the warning is only logged. */
  readonly warn?: (message: string) => void;
  /** Fee data that earlier runs of the node stored. */
  readonly feeHistory?: FeeHistory | undefined;
}

/** Receiver of changes. `bytes` is the transaction serialized with witness; the listener must not modify it. */
export interface MempoolListener {
  /**
   * Called when a transaction was accepted and stays in the mempool; `spentScripts` and `spentAmountsSat` are those of the
   * outputs that its inputs spend, in order.
   */
  added?(
    entry: MempoolEntry,
    bytes: Buffer,
    spentScripts: readonly Bytes[],
    spentAmountsSat: readonly bigint[],
  ): void;
  /**
   * Called when a transaction was removed. With the reason `sizelimit`, `added` may not have been called: the transaction
   * paid too little for a full mempool and was removed during its acceptance.
   */
  removed?(entry: MempoolEntry, reason: RemovalReason, bytes: Buffer): void;
}

export class Mempool implements MempoolReader, MempoolGate, BlockSource, RelaySource, UnbroadcastSource {
  private readonly options: MempoolOptions;
  private readonly deps: MempoolDeps;
  private readonly pool: TxPool;
  private readonly selector: BlockSelector;
  private readonly view: ChainView;
  private readonly rolling: RollingFee;
  private readonly estimator: FeeEstimator;
  private readonly unbroadcast = new Unbroadcast();
  private readonly disconnected = new DisconnectedTransactions();
  private readonly files: MempoolFiles;
  private readonly acceptance: AcceptanceDeps;
  private readonly listeners = new Set<MempoolListener>();
  private changesSinceCheck = 0;

  constructor(options: MempoolOptions, deps: MempoolDeps) {
    this.options = options;
    this.deps = deps;
    this.estimator = new FeeEstimator(deps.feeHistory, deps.log);
    this.pool = new TxPool((entry, reason) => {
      this.estimator.left(entry);
      this.unbroadcast.delete(entry.key);
      if (this.listeners.size === 0) return;
      const left = describe(entry);
      for (const listener of this.listeners) listener.removed?.(left, reason, entry.bytes);
    });
    this.selector = new BlockSelector(this.pool);
    this.view = new ChainView(deps.reader, this.pool);
    this.rolling = new RollingFee(options.incrementalFeeRatePerKb, deps.nowSec());
    this.acceptance = {
      pool: this.pool,
      view: this.view,
      options,
      fees: this.estimator,
      nowSec: deps.nowSec,
      rollingFeeRatePerKb: () => this.rollingFeeRatePerKb(),
      limitSize: () => this.limitSize(),
      onAccepted: (entry, coins) => {
        if (this.listeners.size === 0) return;
        const added = describe(entry);
        const spentScripts = coins.map(({ script }) => script);
        const amountsSat = coins.map(({ amount }) => amount);
        for (const listener of this.listeners) listener.added?.(added, entry.bytes, spentScripts, amountsSat);
      },
    };
    this.files = new MempoolFiles(options, this.pool, this.unbroadcast, {
      accept: (tx, accept) => this.acceptToMempool(tx, accept),
      nowSec: deps.nowSec,
      log: deps.log,
      warn: deps.warn,
    });
    const { chain } = deps.reader;
    chain.events.on('blockConnected', (block) => this.blockConnected(block));
    chain.events.on('blockDisconnected', (block) => this.blockDisconnected(block));
    chain.afterStep.push((disconnected) => this.chainMoved(disconnected));
  }

  /**
   * Adds a listener for every transaction that is added or removed, in order. The returned function removes the listener.
   * The listener must not throw.
   */
  listen(listener: MempoolListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /**
   * While a block is being checked, a transaction that may follow its parent is accepted at once; the block then removes what
   * conflicts with it, as if the transaction had come before. A transaction that is not accepted is checked again after the
   * block, and that verdict is returned.
   */
  async acceptToMempool(tx: Transaction, accept: AcceptOptions = {}): Promise<AcceptVerdict> {
    const { chain } = this.deps.reader;
    const { tasks } = chain;
    if (tasks.isBusy && accept.testOnly !== true) {
      const except = (key: string): boolean => tasks.isBeingConfirmed(fromLatin1(key));
      const verdict = await tasks.atTip(() => acceptTransaction(this.acceptance, tx, { ...accept, except }));
      if (verdict.accepted) return verdict;
    }
    return chain.exclusively(() => acceptTransaction(this.acceptance, tx, accept));
  }

  prioritise(txid: Bytes, deltaSat: bigint): void {
    this.pool.prioritise(toLatin1(txid), deltaSat);
  }

  keepAnnouncing(txid: Bytes): void {
    const key = toLatin1(txid);
    if (this.pool.has(key)) this.unbroadcast.add(key);
  }

  get unbroadcastCount(): number {
    return this.unbroadcast.size;
  }

  unbroadcastKeys(): readonly string[] {
    return this.unbroadcast.keys();
  }

  noteRequested(key: string): void {
    this.unbroadcast.delete(key);
  }

  private blockConnected({ raw, parsed, height }: ConnectedBlock): void {
    this.disconnected.removeConfirmed({ parsed });
    const { pool } = this;
    this.estimator.connected(height, this.entriesOf(parsed));
    for (let tx = 0; tx < parsed.txCount && !pool.isIdle; tx++) {
      const key = toLatin1(txidAt(parsed, tx));
      const entry = pool.get(key);
      if (entry) pool.remove(new Set([entry]), 'block', true);
      if (pool.size > 0) this.removeConflicts(raw, parsed, tx);
      pool.clearDelta(key);
    }
    this.rolling.noteBlock(this.deps.nowSec());
  }

  /** Entries of those transactions of a block that are in the mempool. */
  private entriesOf(parsed: ConnectedBlock['parsed']): PoolEntry[] {
    const { pool } = this;
    const entries: PoolEntry[] = [];
    for (let tx = 0; tx < parsed.txCount && pool.size > 0; tx++) {
      const entry = pool.get(toLatin1(txidAt(parsed, tx)));
      if (entry) entries.push(entry);
    }
    return entries;
  }

  /** Removes mempool transactions that spend the same outputs as a confirmed transaction. */
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

  /** Called by the chain in its queue after each complete step, in which blocks were connected or disconnected. */
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

  rollingFeeRatePerKb(): bigint {
    return this.rolling.current(this.deps.nowSec(), this.pool.usageBytes, this.options.maxUsageBytes);
  }

  /**
   * Removes transactions that are too old and, while the mempool is too large, those that pay least. Source:
   * `LimitMempoolSize`, `TrimToSize`.
   */
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

  /** Estimates of the fee rates with which transactions confirm in time. */
  get fees(): FeeEstimates {
    return this.estimator;
  }

  /** Returns the fee data to store at shutdown. After the call no transaction counts for estimates. */
  finishFees(): FeeHistory {
    return this.estimator.finish(this.pool.entries());
  }

  get size(): number {
    return this.pool.size;
  }
  get totalSizeBytes(): number {
    return this.pool.totalSizeBytes;
  }
  get totalFeeSat(): bigint {
    return this.pool.totalFeeSat;
  }
  get usageBytes(): number {
    return this.pool.usageBytes;
  }
  get maxUsageBytes(): number {
    return this.options.maxUsageBytes;
  }
  get minRelayFeeRatePerKb(): bigint {
    return this.options.minRelayFeeRatePerKb;
  }

  /** Maximum weight of a transaction that the mempool accepts. */
  get maxTransactionWeight(): number {
    return this.options.requireStandard ? MAX_STANDARD_TX_WEIGHT : MAX_BLOCK_WEIGHT;
  }
  get minFeeRatePerKb(): bigint {
    const rolling = this.rollingFeeRatePerKb();
    return rolling > this.minRelayFeeRatePerKb ? rolling : this.minRelayFeeRatePerKb;
  }
  get changeCount(): number {
    return this.pool.changeCount;
  }
  get isLoaded(): boolean {
    return this.files.isLoaded;
  }

  txids(): Bytes[] {
    return atOnce(this.txidsInSlices());
  }

  *txidsInSlices(): Slices<Bytes[]> {
    return (yield* this.pool.inMiningOrderInSlices()).map(({ txid }) => txid);
  }

  entry(txid: Bytes): MempoolEntry | null {
    const entry = this.pool.get(toLatin1(txid));
    return entry ? describe(entry) : null;
  }

  transaction(txid: Bytes): Transaction | null {
    return this.pool.get(toLatin1(txid))?.parse() ?? null;
  }

  ancestors(txid: Bytes): MempoolEntry[] {
    const entry = this.pool.get(toLatin1(txid));
    return entry ? inOrder(this.pool.ancestorsOf(entry)).map(describe) : [];
  }

  descendants(txid: Bytes): MempoolEntry[] {
    const entry = this.pool.get(toLatin1(txid));
    return entry ? inOrder(this.pool.withDescendants(entry.children)).map(describe) : [];
  }

  output(outPoint: Bytes): { amountSat: bigint; script: Bytes } | null {
    const key = toLatin1(outPoint);
    const output = this.pool.get(txKeyOf(key))?.parse().outputs[fromLatin1(key).readUInt32LE(32)];
    return output ? { amountSat: output.value, script: output.script } : null;
  }

  isSpent(outPoint: Bytes): boolean {
    return this.pool.spenderOf(toLatin1(outPoint)) !== undefined;
  }

  spender(outPoint: Bytes): Bytes | null {
    return this.pool.spenderOf(toLatin1(outPoint))?.txid ?? null;
  }

  hasKey(key: string): boolean {
    return this.pool.has(key);
  }

  relayEntry(key: string): RelayEntry | null {
    return this.pool.get(key) ?? null;
  }

  relayEntries(): Slices<readonly RelayEntry[]> {
    return this.pool.inMiningOrderInSlices();
  }

  transactions(): Iterable<RelayEntry> {
    return this.pool.entries();
  }

  prepareForBlock(): Promise<void> {
    return this.selector.prepare();
  }

  selectForBlock(limits: BlockLimits): Promise<readonly BlockCandidate[]> {
    return this.selector.select(limits);
  }

  /**
   * Reads the files of the last run. A long file may still be read after the promise resolves; `finished` then resolves at
   * its end. If the signal aborts, reading ends early and `isLoaded` stays false.
   */
  load(signal: AbortSignal): Promise<{ finished: Promise<void> }> {
    return this.files.load(signal);
  }

  save(): Promise<void> {
    return this.files.save();
  }

  /** Checks the consistency of the mempool. Rejects with an `AssertionError` if it is inconsistent (see `checkInvariants.ts`). */
  check(): Promise<void> {
    return this.deps.reader.chain.exclusively(() => checkInvariants(this.pool, this.view));
  }
}

/** Sorts entries by the bytes of the txid in wire order, ascending, as the reference's sets do. */
function inOrder(entries: Iterable<PoolEntry>): PoolEntry[] {
  return [...entries].sort(compareByKey);
}

function describe(entry: PoolEntry): MempoolEntry {
  return {
    txid: entry.txid,
    wtxid: entry.wtxid,
    sizeBytes: entry.sizeBytes,
    weight: entry.weight,
    feeSat: entry.feeSat,
    modifiedFeeSat: entry.modifiedFeeSat,
    entryTimeSec: entry.timeSec,
    entryHeight: entry.height,
    descendantCount: entry.descendantCount,
    descendantSizeBytes: entry.descendantSizeBytes,
    descendantFeesSat: entry.descendantFeesSat,
    ancestorCount: entry.ancestorCount,
    ancestorSizeBytes: entry.ancestorSizeBytes,
    ancestorFeesSat: entry.ancestorFeesSat,
    parents: inOrder(entry.parents).map(({ txid }) => txid),
    children: inOrder(entry.children).map(({ txid }) => txid),
  };
}
