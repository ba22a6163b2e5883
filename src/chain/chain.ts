/**
 * The chain and its only writer. Makes the best valid branch the active one, and emits events. Defines the order of events
 * and the queue that serializes changes; `Acceptance` stores blocks and headers, and the validity rules are elsewhere.
 * Source: Core validation.cpp `ProcessNewBlock`, `ActivateBestChain`, `InvalidateBlock`.
 */
import type { ValidationError } from '../consensus/reject.js';
import type { FilePosition } from '../store/files/blockFiles.js';
import { NO_HEADER, STATUS } from '../store/files/headerTable.js';
import type { Logger } from '../util/logging.js';
import { hashToHex, type Bytes } from '../util/bytes.js';
import { yieldIfDue } from '../scheduler/yield.js';
import { assert } from '../util/assert.js';
import { inSlices } from '../scheduler/slices.js';
import { Acceptance, type AcceptedHeaders, type AcceptResult } from './blocks/acceptance.js';
import { AssumedValid } from './index/assumedValid.js';
import { ChainEvents } from './chainEvents.js';
import { ChainQueue } from './chainQueue.js';
import { checkBlockView } from './connect/checkBlockView.js';
import { logConnectedClaims, logDisconnectedClaims } from './connect/claimLog.js';
import {
  connectBlock,
  describeClaims,
  disconnectBlock,
  settleContributors,
  type ConnectDeps,
  type ConnectResult,
} from './connect/connectBlock.js';
import type { Flusher } from './flusher.js';
import { HeaderChain } from './index/headerChain.js';
import type { LoadedBlock } from './blocks/loadedBlock.js';
import type { FoundPayments, SoughtPayments } from './blocks/paymentScan.js';
import { Reorganisation } from './reorganisation.js';
import { Route } from './index/route.js';
import { StoredBlocks } from './blocks/storedBlocks.js';

/**
 * Milliseconds without a new block after which the caches are flushed, so that a kill of the process loses little work.
 * During import and initial download blocks arrive faster, so that only a full cache causes a flush. Arbitrary.
 */
export const QUIET_MS = 20_000;

export interface ChainOptions {
  minimumChainWork: bigint;
  /** Hash (wire order) of the block whose ancestors' scripts are assumed valid; null: all scripts are verified. */
  assumeValid: Bytes | null;
  /** Maximum age in seconds of the tip of a node that counts as in sync (`-maxtipage`). */
  maxTipAgeSec: number;
  /** Network-adjusted time in seconds since 1970. */
  adjustedTimeSec: () => number;
  /** Height of the active chain at which `onStopHeight` is called once (`-stopatheight`); 0 for never. */
  stopAtHeight: number;
  onStopHeight: () => void;
  /** Called after an internal error while the chain was changed. The state in memory may be inconsistent. */
  onFatal: (error: unknown) => void;
}

export interface ProcessResult extends AcceptResult {
  /** Whether the block was connected, or failed to connect, before the best chain was active. */
  checked: boolean;
}

export class Chain {
  readonly deps: ConnectDeps;
  readonly events = new ChainEvents();
  /**
   * Awaited in the chain's queue after each step of the active chain, before the tip is announced and before the caller of
   * the change gets its result. The argument is true if blocks were disconnected. A rejection stops the node.
   */
  readonly afterStep: ((disconnected: boolean) => Promise<void>)[] = [];
  readonly reorganisation = new Reorganisation();
  /** Whether the claim events of connected blocks may be read. */
  describesConnected = false;
  /** Whether `blockDisconnected` events include the claim events of the block, which must be computed again for them. */
  describesDisconnected = false;
  private readonly options: ChainOptions;
  private readonly flusher: Flusher;
  private readonly log: Logger;
  /** Queue in which tasks may read or change the chain. */
  readonly tasks = new ChainQueue(() => this.refuseWhenBroken());
  private readonly blocks: StoredBlocks;
  readonly acceptance: Acceptance;
  /** The branch of the best header, for ancestor lookups. Its end may be far ahead of the tip. */
  readonly headerChain: HeaderChain;
  private readonly assumed: AssumedValid;
  private readonly route: Route;
  private leftInitialDownload = false;
  private preciousRank = -1;
  private preciousWork = 0n;
  private closing = false;
  private quietTimer: NodeJS.Timeout | null = null;
  private broken = false;
  /** Verdicts on blocks that were found while connecting, for the caller that submitted the block. */
  private readonly verdicts = new Map<number, ValidationError | null>();
  /** Whether blocks are being read from files (`-reindex`, `-loadblock`). During this time no blocks are requested from peers. */
  importing = false;

  /** Returns the heights of the blocks below a snapshot that should be downloaded at present; null if there are none. */
  wantedBehind: () => { readonly first: number; readonly last: number } | null = () => null;

  constructor(options: ChainOptions, deps: ConnectDeps, flusher: Flusher, log: Logger) {
    this.options = options;
    this.deps = deps;
    this.flusher = flusher;
    this.log = log;
    this.blocks = new StoredBlocks(deps.files, deps.index);
    const { minimumChainWork } = options;
    const rules = { minimumChainWork, bip34Height: deps.params.bip34Height };
    this.acceptance = new Acceptance(rules, deps.index, this.blocks, this);
    this.headerChain = new HeaderChain(deps.index);
    this.route = new Route(deps.index);
    const { assumeValidDepthSec, targetSpacingSec } = deps.params;
    const assumed = { ...options, assumeValidDepthSec, targetSpacingSec };
    this.assumed = new AssumedValid(assumed, deps.index, this.headerChain);
    flusher.beforeFlush = () => settleContributors(this.deps);
    flusher.onFailure = (error) => void this.fail(error);
    flusher.onWriting = (bytes) => this.events.emit('writing', bytes === null ? null : { bytes });
  }

  get index(): ConnectDeps['index'] {
    return this.deps.index;
  }

  get height(): number {
    return this.index.active.height;
  }

  get tip(): number {
    return this.index.active.tip;
  }

  /**
   * Runs a task during which nothing else changes the chain. Rejects if an earlier change failed, because the data may be
   * inconsistent.
   */
  exclusively<T>(task: () => Promise<T>): Promise<T> {
    return this.tasks.alone(task);
  }

  /** Runs a task that changes or flushes the chain, exclusively. If it throws, the node must stop, and all changes are refused. */
  change<T>(task: () => Promise<T>): Promise<T> {
    return this.exclusively(async () => {
      try {
        const outcome = await task();
        this.reorganisation.end();
        return outcome;
      } catch (error) {
        this.reorganisation.fail();
        throw this.fail(error);
      }
    });
  }

  /** Whether a change has failed. The error was reported, and further changes are refused. */
  get isBroken(): boolean {
    return this.broken;
  }

  private refuseWhenBroken(): void {
    if (this.broken) throw new Error('the node is stopping after an error');
  }

  /** Called when memory and disk may be inconsistent. Returns the error that the caller must throw. */
  fail(error: unknown): unknown {
    if (!this.broken) this.options.onFatal(error);
    this.broken = true;
    return error;
  }

  /** Whether the node is in the initial block download. Once false, the result stays false. Source: `IsInitialBlockDownload`. */
  isInitialDownload(): boolean {
    if (this.leftInitialDownload) return false;
    if (this.importing || this.tip === NO_HEADER) return true;
    const { headers } = this.index;
    if (headers.work(this.tip) < this.options.minimumChainWork) return true;
    if (headers.timeSec(this.tip) < this.options.adjustedTimeSec() - this.options.maxTipAgeSec) return true;
    this.leftInitialDownload = true;
    return false;
  }

  /** Checks a block and stores it if it is new and valid, without connecting it. See `Acceptance.acceptBlock`. */
  acceptBlock(block: LoadedBlock, requested: boolean, position: FilePosition | null = null): AcceptResult {
    this.refuseWhenBroken();
    return this.acceptance.acceptBlock(block, requested, position);
  }

  /** See `Acceptance.acceptHeaders`. */
  acceptHeaders(headers: readonly Buffer[], workChecked = false): AcceptedHeaders {
    this.refuseWhenBroken();
    return this.acceptance.acceptHeaders(headers, workChecked);
  }

  /** Whether the scripts of a block are verified when it is connected. */
  checksScripts(id: number): boolean {
    return !this.assumed.holdsFor(id) && !this.flusher.wasConnected(this.index.headers.hash(id));
  }

  /**
   * Reads a stored block. Throws `BlockFileError` when the bytes are not that block any more. `beforeLooking` is awaited before
   * the verification. The caller uses it to choose the time of the verification, which takes long for a large block.
   */
  readBlock(id: number, beforeLooking?: () => Promise<unknown>): Promise<LoadedBlock> {
    return this.blocks.read(id, beforeLooking);
  }

  /** Like `readBlock`, for callers that need the serialized block only. Takes less time for a block that was verified before. */
  readBlockBytes(id: number, beforeLooking?: () => Promise<unknown>): Promise<Buffer> {
    return this.blocks.readBytes(id, beforeLooking);
  }

  /** Like `readBlock`, for blocks that are mostly read in the order of the files. */
  readNextBlock(id: number): Promise<LoadedBlock> {
    return this.blocks.readNext(id);
  }

  /** Like `readBlock`, but parses and hashes the block on another thread. Used to read many blocks in advance. */
  readBlockAside(id: number): Promise<LoadedBlock> {
    return this.blocks.readAside(id);
  }

  /** Scans stored blocks for transactions that may concern a wallet. See `StoredBlocks.scanPayments` for the result. */
  scanPayments(ids: readonly number[], sought: SoughtPayments): Promise<FoundPayments> {
    return this.blocks.scanPayments(ids, sought);
  }

  /**
   * Accepts a block and, if it is new, connects the best chain. Source: `ProcessNewBlock`.
   * Resolves when the best chain is active; rejects only when the environment fails.
   */
  async processBlock(block: LoadedBlock, requested: boolean): Promise<ProcessResult> {
    const accepted = this.acceptBlock(block, requested);
    if (accepted.error) return { ...accepted, checked: true };
    if (accepted.isNew) this.verdicts.delete(accepted.id);
    await this.connectBestChain();
    const verdict = this.verdicts.get(accepted.id);
    const checked = this.verdicts.delete(accepted.id) && accepted.isNew;
    return { ...accepted, error: checked ? (verdict ?? null) : null, checked };
  }

  /** Connects the valid branch with the most work. Source: `ActivateBestChain`. */
  connectBestChain(): Promise<void> {
    return this.change(() => this.connectBest());
  }

  /**
   * Connects the best chain. Callers never see a tip with less work than the previous one: an invalid branch is left before
   * any event is emitted.
   */
  private async connectBest(): Promise<void> {
    const { index } = this;
    let since = performance.now();
    while (!this.closing) {
      const start = this.tip;
      let steps = 0;
      do {
        since = await yieldIfDue(since);
        if (this.closing) break;
        const best = index.findMostWorkChain();
        if (best === NO_HEADER || best === this.tip) break;
        await this.stepTowards(best);
        steps++;
      } while (this.isWorseThan(start) && !this.closing);
      this.reorganisation.end();
      if (steps === 0) break;
      if (this.tip !== start) this.announceTip(start);
    }
    await settleContributors(this.deps);
    for (const contributor of this.deps.contributors) contributor.endRun?.();
    this.blocks.dropBeaten();
    await this.flusher.afterConnecting(this.isInitialDownload());
    this.flushWhenQuiet();
  }

  /** Whether the tip is worse than the block `start`: it has less work or, with equal work, arrived later. */
  private isWorseThan(start: number): boolean {
    return start !== NO_HEADER && this.index.candidates.compare(this.tip, start) < 0;
  }

  private flushWhenQuiet(): void {
    if (this.quietTimer !== null) this.quietTimer.refresh();
    else this.quietTimer = setTimeout(() => void this.flushNow(), QUIET_MS).unref();
  }

  private async flushNow(): Promise<void> {
    this.quietTimer = null;
    if (this.closing || this.broken) return;
    // The flush runs as a change of the chain, so that an error stops the node.
    await this.change(async () => {
      if (this.flusher.isWorthIt) await this.flusher.flush();
    }).catch(() => undefined);
  }

  private announceTip(before: number): void {
    const { headers, active } = this.index;
    const tip = this.tip;
    const forkId = active.findFork(before);
    if (forkId === tip) return;
    const height = headers.height(tip);
    this.events.emit('tipChanged', {
      id: tip,
      height,
      hash: Buffer.from(headers.hash(tip)),
      forkId,
      initialDownload: this.isInitialDownload(),
    });
    if (this.options.stopAtHeight > 0 && height >= this.options.stopAtHeight) {
      this.closing = true;
      this.options.onStopHeight();
    }
  }

  /**
   * Disconnects down to the fork and connects towards `best` until the tip has more work than before or a block fails.
   * Source: `ActivateBestChainStep`.
   */
  private async stepTowards(best: number): Promise<void> {
    const { index } = this;
    const { headers } = index;
    const start = this.tip;
    const fork = this.route.leadTo(best);
    while (this.tip !== NO_HEADER && this.tip !== fork) await this.disconnectTip();
    for (let id = this.route.next(); id !== NO_HEADER; id = this.route.next()) {
      const error = await this.connectTip(id, headers.height(best) - headers.height(id));
      if (error) {
        if (!error.corruption) {
          index.markFailed(id);
          headers.addStatus(id, STATUS.failedConnecting);
        } else index.candidates.delete(id);
        // The tip may be the best block after the change. Candidates with less work are removed.
        if (this.tip !== NO_HEADER) index.candidates.prune(this.tip);
        break;
      }
      index.candidates.prune(this.tip);
      if (start === NO_HEADER || headers.compareWork(this.tip, start) > 0) break;
    }
    await this.completeStep(start !== fork);
  }

  private async completeStep(disconnected: boolean): Promise<void> {
    for (const listener of this.afterStep) await listener(disconnected);
  }

  /** Connects a block to the tip. `ahead` is the number of blocks that will be connected next. */
  private async connectTip(id: number, ahead: number): Promise<ValidationError | null> {
    const { headers } = this.index;
    const block = await this.blocks.take(id);
    const parent = headers.prev(id);
    const describesClaims = this.describesConnected || this.log.willLog('claims');
    const options = { checkScripts: this.checksScripts(id), justCheck: false, describesClaims, ahead };
    const connect = (beforeCommit?: () => Promise<void>): Promise<ConnectResult> =>
      connectBlock(this.deps, block, parent, { ...options, beforeCommit });
    // In a reorganisation the mempool does not accept transactions, so this block has the chain for itself.
    const isAlone = this.reorganisation.over !== null;
    const { error, claims } = await (isAlone ? connect() : this.tasks.whileChecking(block, connect));
    this.noteVerdict(id, error);
    this.events.emit('blockChecked', { id, hash: block.hash, error });
    if (error) {
      const hash = hashToHex(block.hash);
      this.log.warn(
        `invalid block ${hash} at height ${headers.height(id)}: ${error.reason}${error.debug ? `, ${error.debug}` : ''}`,
      );
      if (error.note !== undefined)
        this.log.warn(`block ${hash} at height ${headers.height(id)}: ${error.note}`);
      return error;
    }
    if (claims) logConnectedClaims(this.log, headers.height(id), claims);
    // This event is emitted before the first await, so that the mempool removes the transactions of the block before other
    // code runs.
    this.events.emit('blockConnected', {
      id,
      height: headers.height(id),
      hash: Buffer.from(block.hash),
      raw: block.raw,
      parsed: block.parsed,
      // Claim events are computed only when a listener reads them.
      get claimEvents() {
        assert(claims, 'the claim events of a block were not requested');
        return claims.events;
      },
    });
    this.quietTimer?.refresh();
    await this.flusher.afterBlock(block.hash);
    return null;
  }

  private noteVerdict(id: number, error: ValidationError | null): void {
    this.verdicts.set(id, error);
    const keep = 256;
    if (this.verdicts.size > keep) this.verdicts.delete(this.verdicts.keys().next().value!);
  }

  private async disconnectTip(): Promise<void> {
    this.reorganisation.begin();
    const id = this.tip;
    const block = await this.blocks.take(id);
    await disconnectBlock(this.deps, block);
    logDisconnectedClaims(this.log, this.index.headers.height(id), block.hash);
    const claimEvents = this.describesDisconnected ? await describeClaims(this.deps, block) : [];
    await this.flusher.afterBlock();
    this.events.emit('blockDisconnected', {
      id,
      height: this.index.headers.height(id),
      hash: Buffer.from(block.hash),
      raw: block.raw,
      parsed: block.parsed,
      claimEvents,
    });
  }

  /** Checks a block that would follow the tip, without storing it. Source: `TestBlockValidity`. */
  testBlock(block: LoadedBlock, checkWork: boolean): Promise<ValidationError | null> {
    return this.exclusively(async () => {
      const early =
        this.index.checkAfterParent(block.header, this.tip) ??
        (checkWork ? this.index.checkWork(block.header) : null) ??
        checkBlockView(block) ??
        this.acceptance.checkContext(block, this.tip);
      if (early) return early;
      const { error } = await connectBlock(this.deps, block, this.tip, {
        checkScripts: true,
        justCheck: true,
      });
      return error;
    });
  }

  /**
   * Marks a block and all its descendants as invalid, regardless of the rules; the genesis block is never marked. If a block
   * that must be disconnected has been pruned, nothing is changed and its id is returned; else `NO_HEADER`. Source:
   * `InvalidateBlock`.
   */
  async invalidateBlock(id: number): Promise<number> {
    return this.change(async () => {
      if (this.index.headers.prev(id) === NO_HEADER) return NO_HEADER;
      const pruned = this.prunedAbove(id);
      if (pruned !== NO_HEADER) return pruned;
      const { index } = this;
      const before = this.tip;
      while (index.active.contains(id)) {
        // The block is removed from the candidates, so that it is neither chosen again nor reported as the best invalid
        // branch. The caller has already marked it as invalid.
        index.candidates.delete(this.tip);
        await this.disconnectTip();
      }
      index.markFailed(id);
      // The operator's verdict replaces the verdict found while connecting.
      index.headers.clearStatus(id, STATUS.failedConnecting);
      await inSlices(index.reconsiderCandidates());
      if (this.tip !== before) await this.completeStep(true);
      this.reorganisation.end();
      await this.flusher.flush();
      if (this.tip !== before) this.announceDisconnect(before);
      await this.connectBest();
      return NO_HEADER;
    });
  }

  /**
   * Returns the highest block of the active chain, at or above `id`, that cannot be disconnected, because its data was
   * pruned or it is not above the snapshot. Returns `NO_HEADER` if all can be disconnected.
   */
  private prunedAbove(id: number): number {
    const { headers, active } = this.index;
    if (!active.contains(id)) return NO_HEADER;
    for (let at = this.tip; ; at = headers.prev(at)) {
      if (!headers.hasStatus(at, STATUS.haveData | STATUS.haveUndo)) return at;
      if (headers.height(at) <= this.index.snapshotHeight) return at;
      if (at === id) return NO_HEADER;
    }
  }

  private announceDisconnect(before: number): void {
    const { headers } = this.index;
    if (this.tip === NO_HEADER || this.tip === before) return;
    this.events.emit('tipChanged', {
      id: this.tip,
      height: headers.height(this.tip),
      hash: Buffer.from(headers.hash(this.tip)),
      forkId: this.tip,
      initialDownload: this.isInitialDownload(),
    });
  }

  /** Reverts `invalidateBlock` for a block, its ancestors and descendants. Source: `ReconsiderBlock`. */
  async reconsiderBlock(id: number): Promise<void> {
    await this.change(async () => {
      await inSlices(this.index.clearFailure(id));
      await this.flusher.flush();
      await this.connectBest();
    });
  }

  /** Prefers the block to others of equal work, until a later call or a restart. Source: `PreciousBlock`. */
  async preciousBlock(id: number): Promise<void> {
    await this.change(async () => {
      const { headers, candidates } = this.index;
      if (headers.compareWork(id, this.tip) < 0) return;
      const tipWork = headers.work(this.tip);
      if (tipWork > this.preciousWork) this.preciousRank = -1;
      this.preciousWork = tipWork;
      candidates.setPrecious(id, this.preciousRank--);
      if (headers.chainTxCount(id) > 0 && !headers.isFailed(id)) {
        candidates.add(id);
        candidates.prune(this.tip);
      }
      await this.connectBest();
    });
  }

  /** Whether the operator or the node requested an interruption of long work. */
  get isInterrupted(): boolean {
    return this.closing;
  }

  /** Requests that long work stops after the block that is being processed. */
  interrupt(): void {
    this.closing = true;
  }

  /** Waits for running changes, refuses new ones, and writes all data to disk. */
  async close(): Promise<void> {
    this.closing = true;
    if (this.quietTimer !== null) clearTimeout(this.quietTimer);
    await this.tasks.idle();
    if (!this.broken) await this.change(() => this.flusher.flush());
  }
}
