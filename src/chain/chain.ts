/**
 * The chain: the one writer. Accepts blocks, makes the best valid branch the active one, and tells others. Owns the
 * order of events and the queue that lets only one change happen at a time; what a block must satisfy is elsewhere.
 * Source: Core validation.cpp `ProcessNewBlock`, `AcceptBlock`, `ActivateBestChain`, `InvalidateBlock`.
 */
import { blockWork } from '../primitives/compactTarget.js';
import type { ValidationError } from '../consensus/reject.js';
import { headerHash, parseHeaderBytes } from '../primitives/header.js';
import type { FilePosition } from '../store/files/blockFiles.js';
import { NO_HEADER, STATUS } from '../store/files/headerTable.js';
import type { Logger } from '../util/logging.js';
import { hashToHex, type Bytes } from '../util/bytes.js';
import { yieldIfDue } from '../scheduler/yield.js';
import { SerialQueue } from '../scheduler/serialQueue.js';
import { inSlices } from '../scheduler/slices.js';
import { AssumedValid } from './index/assumedValid.js';
import { ChainEvents } from './chainEvents.js';
import { checkBlockView, contextualCheckBlockView } from './connect/checkBlockView.js';
import { logConnectedClaims, logDisconnectedClaims } from './connect/claimLog.js';
import { connectBlock, describeClaims, disconnectBlock, type ConnectDeps } from './connect/connectBlock.js';
import type { Flusher } from './flusher.js';
import { HeaderChain } from './index/headerChain.js';
import type { LoadedBlock } from './blocks/loadedBlock.js';
import type { FoundPayments, SoughtPayments } from './blocks/paymentScan.js';
import { Reorganisation } from './reorganisation.js';
import { Route } from './index/route.js';
import { StoredBlocks } from './blocks/storedBlocks.js';

/** Blocks that may run ahead of the tip unasked (Core's MIN_BLOCKS_TO_KEEP). */
export const MIN_BLOCKS_TO_KEEP = 288;
/**
 * When no block has come for so long, what is in memory goes to disk: a kill costs little then. During an import and the
 * initial download blocks come faster, and flushes stay as rare as the cache allows. Arbitrary.
 */
export const QUIET_MS = 20_000;
/** Branches that leave the active chain so far below its tip are accepted without more work (Core's 144-block buffer). */
const NEAR_TIP_BLOCKS = 144n;

export interface ChainOptions {
  minimumChainWork: bigint;
  /** Wire order; null checks every script. */
  assumeValid: Bytes | null;
  /** A tip older than this means that the node is not in sync (`-maxtipage`). */
  maxTipAgeSec: number;
  /** The network's time in seconds. */
  adjustedTimeSec: () => number;
  /** Called once the active chain reaches this height (`-stopatheight`); 0 never. */
  stopAtHeight: number;
  onStopHeight: () => void;
  /** Called when changing the chain failed for another reason than a verdict: nothing may be trusted any more. */
  onFatal: (error: unknown) => void;
}

export interface AcceptResult {
  id: number;
  error: ValidationError | null;
  /** Whether the data was new and is on disk now. */
  isNew: boolean;
}

export interface ProcessResult extends AcceptResult {
  /** Whether the block was connected or found wrong while connecting, by the time the best chain stood. */
  checked: boolean;
}

export class Chain {
  readonly deps: ConnectDeps;
  readonly events = new ChainEvents();
  /**
   * Awaited in the chain's queue after each step of the active chain, before its tip is announced and before the caller that
   * asked for the change gets an answer; told whether blocks were disconnected. What rejects stops the node.
   */
  readonly afterStep: ((disconnected: boolean) => Promise<void>)[] = [];
  readonly reorganisation = new Reorganisation();
  /** Whether `blockDisconnected` tells the claim events of its block, which takes computing them again. */
  describesDisconnected = false;
  private readonly options: ChainOptions;
  private readonly flusher: Flusher;
  private readonly log: Logger;
  private readonly queue = new SerialQueue();
  private readonly blocks: StoredBlocks;
  /** Ancestors on the branch of the best header, however far that is ahead. */
  readonly headerChain: HeaderChain;
  private readonly assumed: AssumedValid;
  private readonly route: Route;
  private leftInitialDownload = false;
  private preciousRank = -1;
  private preciousWork = 0n;
  private closing = false;
  private quietTimer: NodeJS.Timeout | null = null;
  private broken = false;
  /** Verdicts found while connecting, for the caller that submitted the block. */
  private readonly verdicts = new Map<number, ValidationError | null>();
  /** Whether blocks are being read from files (`-reindex`, `-loadblock`): peers are not asked for any then. */
  importing = false;

  /** Called when the data of a block was stored. */
  onStored: (id: number) => void = () => undefined;
  /** Heights of blocks of the active chain below a snapshot that are to be fetched now; null when none are. */
  wantedBehind: () => { readonly first: number; readonly last: number } | null = () => null;

  constructor(options: ChainOptions, deps: ConnectDeps, flusher: Flusher, log: Logger) {
    this.options = options;
    this.deps = deps;
    this.flusher = flusher;
    this.log = log;
    this.blocks = new StoredBlocks(deps.files, deps.index);
    this.headerChain = new HeaderChain(deps.index);
    this.route = new Route(deps.index);
    const { targetSpacingSec } = deps.params;
    this.assumed = new AssumedValid({ ...options, targetSpacingSec }, deps.index, this.headerChain);
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

  /** Runs a task while nothing else changes the chain. Rejects once that failed: what can be read may be wrong then. */
  exclusively<T>(task: () => Promise<T>): Promise<T> {
    return this.queue.run(() => {
      this.refuseWhenBroken();
      return task();
    });
  }

  /**
   * Runs a task that changes the chain or flushes it, while nothing else does. What it throws is not a verdict: the node
   * must stop, and nothing more is done.
   */
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

  private refuseWhenBroken(): void {
    if (this.broken) throw new Error('the node is stopping after an error');
  }

  /** Memory and disk may disagree from now on. Answers the error, to be thrown. */
  private fail(error: unknown): unknown {
    if (!this.broken) this.options.onFatal(error);
    this.broken = true;
    return error;
  }

  /** Source: `IsInitialBlockDownload`; once false it stays false. */
  isInitialDownload(): boolean {
    if (this.leftInitialDownload) return false;
    if (this.importing || this.tip === NO_HEADER) return true;
    const { headers } = this.index;
    if (headers.work(this.tip) < this.options.minimumChainWork) return true;
    if (headers.timeSec(this.tip) < this.options.adjustedTimeSec() - this.options.maxTipAgeSec) return true;
    this.leftInitialDownload = true;
    return false;
  }

  /**
   * A branch that a peer brings is kept only with this much work in all, lest headers of the least difficulty fill the
   * memory: that of the network's chain as far as it is known, and nearly that of our own tip. What the operator brings
   * (calls, files) needs none. Source: later Core's `GetAntiDoSWorkThreshold`.
   */
  get leastBranchWork(): bigint {
    const { minimumChainWork } = this.options;
    if (this.tip === NO_HEADER) return minimumChainWork;
    const { headers } = this.index;
    const nearTip = headers.work(this.tip) - NEAR_TIP_BLOCKS * blockWork(headers.bits(this.tip));
    return nearTip > minimumChainWork ? nearTip : minimumChainWork;
  }

  /** Whether a header with these bits after the header `parent` is on a branch too weak to be kept. */
  isWeakBranch(parent: number, bits: number): boolean {
    return this.index.headers.work(parent) + blockWork(bits) < this.leastBranchWork;
  }

  /** The checks before and at storing, in the order of `ProcessNewBlock`; stores the block when it is new and right. */
  acceptBlock(block: LoadedBlock, requested: boolean, position: FilePosition | null = null): AcceptResult {
    this.refuseWhenBroken();
    const { index } = this.deps;
    const { headers } = index;
    const wrong = index.checkWork(block.header, block.raw.subarray(0, 112)) ?? checkBlockView(block);
    if (wrong) {
      const known = headers.find(block.hash);
      return { id: known, error: wrong, isNew: false };
    }
    const previousBest = index.bestHeader;
    const { id, error } = index.acceptHeader(block.header, block.hash);
    if (error) return { id, error, isNew: false };
    if (index.bestHeader !== previousBest) this.events.emit('headerTip', { id: index.bestHeader });
    if (headers.hasStatus(id, STATUS.haveData)) return { id, error: null, isNew: false };
    if (!requested && !this.wantsUnrequested(id)) return { id, error: null, isNew: false };
    const contextual = this.checkContext(block, headers.prev(id));
    if (contextual) {
      if (!contextual.corruption) index.markFailed(id);
      return { id, error: contextual, isNew: false };
    }
    try {
      this.blocks.add(id, block, position);
    } catch (error) {
      throw this.fail(error);
    }
    this.onStored(id);
    if (headers.prev(id) === this.tip && !this.isInitialDownload())
      this.events.emit('blockFound', {
        id,
        height: headers.height(id),
        hash: block.hash,
        raw: block.raw,
        parsed: block.parsed,
      });
    return { id, error: null, isNew: true };
  }

  /**
   * Accepts headers that follow one another, up to the first that is wrong. Answers the id of the last one accepted
   * (`NO_HEADER` for none) and the verdict. `workChecked` says that their work was found right before.
   * Source: `ProcessNewBlockHeaders`.
   */
  acceptHeaders(
    headers: readonly Buffer[],
    workChecked = false,
  ): { last: number; error: ValidationError | null } {
    this.refuseWhenBroken();
    const { index } = this.deps;
    const previousBest = index.bestHeader;
    let last = NO_HEADER;
    let error: ValidationError | null = null;
    for (const bytes of headers) {
      const accepted = index.acceptHeader(parseHeaderBytes(bytes), headerHash(bytes), workChecked);
      error = accepted.error;
      if (error) break;
      last = accepted.id;
    }
    if (index.bestHeader !== previousBest) this.events.emit('headerTip', { id: index.bestHeader });
    return { last, error };
  }

  private wantsUnrequested(id: number): boolean {
    const { headers } = this.index;
    if (headers.txCount(id) !== 0) return false;
    if (this.tip !== NO_HEADER && headers.compareWork(id, this.tip) < 0) return false;
    if (headers.height(id) > this.height + MIN_BLOCKS_TO_KEEP) return false;
    return headers.work(id) >= this.options.minimumChainWork;
  }

  /** Source: `ContextualCheckBlock`. */
  checkContext(block: LoadedBlock, parent: number): ValidationError | null {
    const { versionBits, active, headers } = this.index;
    const medianTime = parent !== NO_HEADER && versionBits.isActive('csv', parent);
    return contextualCheckBlockView(block, {
      height: parent === NO_HEADER ? 0 : headers.height(parent) + 1,
      bip34Height: this.deps.params.bip34Height,
      segwitActive: versionBits.isActive('segwit', parent),
      lockTimeCutoffSec: medianTime ? active.medianTimeOf(parent) : block.header.timeSec,
    });
  }

  /** Whether the scripts of a block are run when it is connected. */
  checksScripts(id: number): boolean {
    return !this.assumed.holdsFor(id);
  }

  /**
   * Reads a stored block. Throws `BlockFileError` when the bytes are not that block any more. Code that must not work on it
   * at any time says by `beforeLooking` when: what takes long comes afterwards.
   */
  readBlock(id: number, beforeLooking?: () => Promise<unknown>): Promise<LoadedBlock> {
    return this.blocks.read(id, beforeLooking);
  }

  /** The same, parsed and hashed on another thread: for many blocks that are read ahead. */
  readBlockAside(id: number): Promise<LoadedBlock> {
    return this.blocks.readAside(id);
  }

  /** Looks through stored blocks for what a wallet may have a part in; see `StoredBlocks.scanPayments`. */
  scanPayments(ids: readonly number[], sought: SoughtPayments): Promise<FoundPayments> {
    return this.blocks.scanPayments(ids, sought);
  }

  /**
   * Accepts a block and, when it is new, brings the best chain up to date. Source: `ProcessNewBlock`.
   * Resolves when the chain stands; rejects only when the environment fails.
   */
  async processBlock(block: LoadedBlock, requested: boolean): Promise<ProcessResult> {
    const accepted = this.acceptBlock(block, requested);
    if (accepted.error) return { ...accepted, checked: true };
    if (accepted.isNew) this.verdicts.delete(accepted.id);
    await this.activateBestChain();
    const verdict = this.verdicts.get(accepted.id);
    const checked = this.verdicts.delete(accepted.id) && accepted.isNew;
    return { ...accepted, error: checked ? (verdict ?? null) : null, checked };
  }

  /** Makes the most-work valid branch the active one. */
  activateBestChain(): Promise<void> {
    return this.change(() => this.activate());
  }

  /**
   * No caller sees a tip that is worse than the one before: a branch that proves wrong is left before anything is notified
   * of it. Source: `ActivateBestChain`.
   */
  private async activate(): Promise<void> {
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
    this.blocks.dropBeaten();
    await this.flusher.afterConnecting(this.isInitialDownload());
    this.flushWhenQuiet();
  }

  /** Compares by work, and at equal work by order of arrival. */
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
    // What fails stops the node.
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
      const error = await this.connectTip(id);
      if (error) {
        if (!error.corruption) {
          index.markFailed(id);
          headers.addStatus(id, STATUS.failedConnecting);
        } else index.candidates.delete(id);
        // The tip may be the best now.
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

  private async connectTip(id: number): Promise<ValidationError | null> {
    const { headers } = this.index;
    const block = await this.blocks.take(id);
    const parent = headers.prev(id);
    const checkScripts = this.checksScripts(id);
    const { error, claims } = await connectBlock(this.deps, block, parent, {
      checkScripts,
      justCheck: false,
    });
    this.noteVerdict(id, error);
    this.events.emit('blockChecked', { id, hash: block.hash, error });
    const hash = hashToHex(block.hash);
    if (error) {
      this.log.warn(
        `invalid block ${hash} at height ${headers.height(id)}: ${error.reason}${error.debug ? `, ${error.debug}` : ''}`,
      );
      if (error.note !== undefined)
        this.log.warn(`block ${hash} at height ${headers.height(id)}: ${error.note}`);
      return error;
    }
    logConnectedClaims(this.log, headers.height(id), claims);
    // Before anything is waited for: the mempool lets go of what the block confirms.
    this.events.emit('blockConnected', {
      id,
      height: headers.height(id),
      hash: Buffer.from(block.hash),
      raw: block.raw,
      parsed: block.parsed,
      // Described only if a listener asks.
      get claimEvents() {
        return claims.events;
      },
    });
    await this.flusher.afterBlock();
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

  /** Verdict on a block that would follow the tip, without keeping anything. Source: `TestBlockValidity`. */
  testBlock(block: LoadedBlock, checkWork: boolean): Promise<ValidationError | null> {
    return this.exclusively(async () => {
      const early =
        this.index.checkAfterParent(block.header, this.tip) ??
        (checkWork ? this.index.checkWork(block.header) : null) ??
        checkBlockView(block) ??
        this.checkContext(block, this.tip);
      if (early) return early;
      const { error } = await connectBlock(this.deps, block, this.tip, {
        checkScripts: true,
        justCheck: true,
      });
      return error;
    });
  }

  /**
   * Treats a block and all that follow it as invalid, whatever the rules say; the genesis block stays as it is.
   * Answers the block whose data, needed to take it back, was pruned: then nothing changed; else `NO_HEADER`.
   * Source: `InvalidateBlock`.
   */
  async invalidateBlock(id: number): Promise<number> {
    return this.change(async () => {
      if (this.index.headers.prev(id) === NO_HEADER) return NO_HEADER;
      const pruned = this.prunedAbove(id);
      if (pruned !== NO_HEADER) return pruned;
      const { index } = this;
      const before = this.tip;
      while (index.active.contains(id)) {
        // That the blocks above were worth choosing makes no better invalid branch of them: it is the caller's wish.
        index.candidates.delete(this.tip);
        await this.disconnectTip();
      }
      index.markFailed(id);
      // The operator's verdict, whatever another was found before.
      index.headers.clearStatus(id, STATUS.failedConnecting);
      await inSlices(index.reconsiderCandidates());
      if (this.tip !== before) await this.completeStep(true);
      this.reorganisation.end();
      await this.flusher.flush();
      if (this.tip !== before) this.announceDisconnect(before);
      await this.activate();
      return NO_HEADER;
    });
  }

  /** The highest block of the active chain from `id` up that cannot be disconnected, or `NO_HEADER`. */
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

  /** Takes `invalidateBlock` back for a block, its ancestors and descendants. Source: `ReconsiderBlock`. */
  async reconsiderBlock(id: number): Promise<void> {
    await this.change(async () => {
      await inSlices(this.index.clearFailure(id));
      await this.flusher.flush();
      await this.activate();
    });
  }

  /** Prefers a block among those of equal work, until a later call or a restart. Source: `PreciousBlock`. */
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
      await this.activate();
    });
  }

  /** Whether it was asked to stop. */
  get isInterrupted(): boolean {
    return this.closing;
  }

  /** Stops making progress after the block under way. */
  interrupt(): void {
    this.closing = true;
  }

  /** Waits for what is under way, refuses more, and brings everything to disk. */
  async close(): Promise<void> {
    this.closing = true;
    if (this.quietTimer !== null) clearTimeout(this.quietTimer);
    await this.queue.run(() => Promise.resolve());
    if (!this.broken) await this.change(() => this.flusher.flush());
  }
}
