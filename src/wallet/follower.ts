/**
 * Keeps an open wallet at the chain's tip and in sync with the mempool. Events of the node are applied to the ledger in
 * order, through a queue (`eventQueue.ts`). Blocks that were connected while the wallet was closed are read from disk. Stores
 * the wallet's best block: the last block that was applied. Source: lbrycrd wallet/wallet.cpp `BlockConnected`,
 * `BlockDisconnected`, `TransactionAddedToMempool`, `CreateWalletFromFile`.
 */
import { yieldIfDue } from '../scheduler/yield.js';
import type { Bytes } from '../util/bytes.js';
import { inSlices } from '../scheduler/slices.js';
import type { Slices } from '../util/slices.js';
import type { NodeEvent } from './eventQueue.js';
import type { NodeListener, WalletBlock } from './port.js';
import type { Entry } from './ledger/entry.js';
import { beginOwedScan, lookAgain, TIMESTAMP_WINDOW_SEC } from './scan/rescan.js';
import { LOG_EVERY_MS, progressAt } from './scan/scanBlocks.js';
import { endShortage } from './scan/shortage.js';
import { ShortageEnder } from './scan/shortageEnder.js';
import {
  factsAhead,
  hasMuchOf,
  MANY,
  takeBlock,
  takeUnconfirmed,
  type FactsAhead,
  type ScanState,
} from './scan/takeBlock.js';
import { WalletBatch } from './store/records.js';
import type { Wallet } from './wallet.js';

/**
 * Maximum number of blocks after which the best block is stored. Blocks after the stored one are read again after a crash.
 * Arbitrary.
 */
const BLOCKS_A_NOTE = 500;
/**
 * Minimum number of missed blocks for which the address index is searched for relevant blocks, if the index is enabled.
 * Arbitrary.
 */
const LEAP_BLOCKS = 200;
/** Maximum depth of a reorg while missed blocks are read. Arbitrary. */
const RECENT_BLOCKS = 2000;

/** Status message to callers while the node starts. Source: `CreateWalletFromFile`. */
const RESCANNING = 'Rescanning...';

/** Thrown if the chain cannot be followed from the wallet's best block. The message says what the operator can do. */
export class FollowError extends Error {
  override readonly name = 'FollowError';
}

export class Follower implements NodeListener {
  private readonly wallet: Wallet;
  private readonly shortage: ShortageEnder;
  /** Returns the time of a monotonic clock in milliseconds. */
  private readonly nowMs: () => number;
  private off: () => void = () => undefined;
  private isFollowing = false;
  private blocksSinceNote = 0;
  /** Hashes of the latest blocks that were read to catch up with the chain, sorted by height. */
  private recent: Bytes[] = [];
  /**
   * `from`: height of the first block that was read during catching up. `keysMadeAt`: height of the last block for which new
   * pool keys were created; -1 if there is none.
   */
  private from = 0;
  private keysMadeAt = -1;
  /** See `presentTurn`. */
  private turn: object | null = null;

  constructor(wallet: Wallet, nowMs: () => number = () => performance.now()) {
    this.wallet = wallet;
    this.nowMs = nowMs;
    this.shortage = new ShortageEnder(wallet);
  }

  /**
   * Brings a loaded wallet to the tip, and follows the chain from there. `rescan`: start at the first block. `isNew`: the
   * chain cannot contain transactions of the wallet, so no blocks are read. Throws `FollowError` if needed blocks were
   * pruned.
   */
  async start({
    rescan = false,
    isNew = false,
    signal,
  }: { rescan?: boolean; isNew?: boolean; signal?: AbortSignal } = {}): Promise<void> {
    const { wallet } = this;
    const { chain } = wallet.node;
    const begin = (): number => (isNew ? chain.height + 1 : this.firstUnknown(rescan));
    const canLeap = await this.canLeap(begin());
    // The chain may have changed during the preceding awaits.
    const from = begin();
    this.from = from;
    if (canLeap) {
      await this.leap(from, signal);
      return;
    }
    wallet.followedHeight = Math.min(from - 1, chain.height);
    this.recent = this.lastFollowed();
    await this.settle();
    this.refusePruned(from);
    while (!this.isAtTip() && signal?.aborted !== true) await this.catchUp(signal);
    if (signal?.aborted === true) return;
    this.follow();
    await wallet.events.caughtUp();
    // Blocks that were read before may pay to keys that were created only later during catching up, so they are scanned
    // again.
    const { keysMadeAt } = this;
    if (keysMadeAt > from) await wallet.change((batch) => wallet.scans.owe(batch, from));
    await this.note();
    if (keysMadeAt > from) wallet.node.showStart(RESCANNING);
    if (keysMadeAt > from) await lookAgain(wallet, { first: from, last: null, seenFrom: keysMadeAt }, signal);
    beginOwedScan(wallet);
  }

  /**
   * Computes and stores the state of all transactions that the wallet knows. `owes`: height from which blocks must still be
   * scanned.
   */
  private async settle(owes?: number): Promise<void> {
    const { wallet } = this;
    const batch = new WalletBatch();
    await inSlices(wallet.settle(batch));
    if (owes !== undefined) wallet.scans.owe(batch, owes);
    await wallet.write(batch);
  }

  /** Subscribes to events of the chain and the mempool. */
  private follow(): void {
    this.off = this.wallet.node.listen(this);
    this.isFollowing = true;
    this.recent = [];
    this.takeMempool();
  }

  /**
   * Whether the address index can be used to find the relevant blocks among many missed blocks. False if the wallet has an
   * unconfirmed transaction that may have become invalid because a block spends an output of others.
   */
  private async canLeap(from: number): Promise<boolean> {
    const { ledger, node } = this.wallet;
    const { chain } = node;
    if (chain.height - from < LEAP_BLOCKS || !chain.hasBlock(from)) return false;
    if ((await chain.blocksTouching([], from, from)) === null) return false;
    for (const { blockHash, blockIndex, inputs, isCoinbase } of ledger.doubtful((hash) =>
      chain.heightOf(hash),
    )) {
      const isDone = isCoinbase || (blockIndex >= 0 && chain.heightOf(blockHash) >= 0);
      if (!isDone && inputs.some((input) => ledger.output(input) === undefined)) return false;
    }
    return true;
  }

  /** Follows the chain from the tip immediately, and searches the missed blocks later by a rescan. */
  private async leap(from: number, signal?: AbortSignal): Promise<void> {
    const { wallet } = this;
    wallet.followedHeight = wallet.node.chain.height;
    // New events are delayed until the state of the known transactions is computed.
    wallet.events.hold();
    this.follow();
    try {
      await this.settle(from);
    } catch (error) {
      this.off();
      throw error;
    }
    wallet.events.release();
    await wallet.events.caughtUp();
    await this.note();
    wallet.node.showStart(RESCANNING);
    await lookAgain(wallet, { first: from, last: null }, signal);
    beginOwedScan(wallet);
  }

  /**
   * Hashes of the blocks up to the wallet's best block, in order of height. If a reorg disconnects some of them, the new
   * blocks are read.
   */
  private lastFollowed(): Bytes[] {
    const { followedHeight, node } = this.wallet;
    const hashes: Bytes[] = [];
    for (let height = Math.max(followedHeight - RECENT_BLOCKS + 1, 0); height <= followedHeight; height++) {
      const hash = node.chain.hashAt(height);
      if (hash !== null) hashes.push(Buffer.from(hash));
    }
    return hashes;
  }

  /** Height of the first block that must be read to catch up. */
  private firstUnknown(rescan: boolean): number {
    const { wallet } = this;
    const { chain } = wallet.node;
    const locator = rescan ? null : wallet.bestBlock;
    // If no block of the locator is known, only the creation time of the wallet's oldest key limits the search.
    let known = -1;
    for (const hash of locator ?? []) {
      known = chain.heightOf(hash);
      if (known >= 0) break;
    }
    let from = known + 1;
    const oldestSec = wallet.keyring.firstKeySec - TIMESTAMP_WINDOW_SEC;
    while (from <= chain.height && chain.timeSecAt(from) < oldestSec) from++;
    return from;
  }

  private refusePruned(from: number): void {
    const { chain } = this.wallet.node;
    if (from <= chain.snapshotHeight)
      throw new FollowError(
        `The wallet needs blocks from height ${from} on, and the node was started from a snapshot of block ` +
          `${chain.snapshotHeight} whose blocks are not validated yet. Start the node with -nowallet, and load ` +
          'the wallet by loadwallet when getblockchaininfo does not show a snapshot any more.',
      );
    for (let height = from; height <= chain.height; height++) {
      if (!chain.hasBlock(height)) {
        throw new FollowError(
          'Prune: last wallet synchronisation goes beyond pruned data. You need to -reindex (download the whole blockchain again in case of pruned node)',
        );
      }
      // Pruning removes the lowest blocks first, so if this block is on disk, all later blocks are too.
      if (chain.hasBlock(from)) return;
    }
  }

  private isAtTip(): boolean {
    const { followedHeight, node } = this.wallet;
    const last = this.recent[this.recent.length - 1];
    return followedHeight >= node.chain.height && (last === undefined || node.chain.heightOf(last) >= 0);
  }

  private async catchUp(signal?: AbortSignal): Promise<void> {
    const { wallet } = this;
    const { chain, log, showStart } = wallet.node;
    const first = wallet.followedHeight + 1;
    log.info(`${wallet.logName} Rescanning last ${chain.height - first + 1} blocks (from block ${first})...`);
    let since = performance.now();
    let loggedMs = this.nowMs();
    while (!this.isAtTip() && signal?.aborted !== true) {
      await this.step();
      const { followedHeight } = wallet;
      showStart(`${RESCANNING} (block ${followedHeight} of ${chain.height})`);
      if (this.nowMs() - loggedMs >= LOG_EVERY_MS) {
        loggedMs = this.nowMs();
        log.info(`${wallet.logName} Still rescanning. At ${progressAt(followedHeight, chain)}`);
      }
      since = await yieldIfDue(since);
    }
  }

  /**
   * Applies the next block. Blocks may be connected and disconnected during an await, so each block must follow the previous
   * one.
   */
  private async step(): Promise<void> {
    const { wallet, recent } = this;
    const { chain } = wallet.node;
    const last = recent[recent.length - 1];
    if (last !== undefined && chain.heightOf(last) < 0) {
      this.from = Math.min(this.from, wallet.followedHeight);
      await inSlices(this.disconnect({ height: wallet.followedHeight, hash: last }));
      recent.pop();
      return;
    }
    const height = wallet.followedHeight + 1;
    const block = await chain.readBlock(height);
    const look = { since: this.from, reported: new Set<Entry>() };
    const ahead = hasMuchOf(wallet, block) ? await inSlices(factsAhead(wallet, block)) : undefined;
    // The chain may have changed during the preceding awaits.
    if (chain.heightOf(block.hash) !== height) return;
    if (last !== undefined && chain.heightOf(last) < 0) return;
    const { keyCount } = wallet.keyring;
    await inSlices(this.connect(block, look, ahead));
    while ((await endShortage(wallet)) !== null) await inSlices(this.connect(block, look));
    if (wallet.keyring.keyCount > keyCount) this.keysMadeAt = height;
    recent.push(block.hash);
    if (recent.length > 2 * RECENT_BLOCKS) recent.splice(0, RECENT_BLOCKS);
  }

  /** Queues the transactions that are in the mempool at the start. */
  private takeMempool(): void {
    for (const { txid, bytes } of this.wallet.node.mempool.all())
      this.wallet.events.wait({ take: () => this.update(this.add(txid, bytes)) });
  }

  // Events that the node reports.

  blockConnected(block: WalletBlock): void {
    const { wallet } = this;
    const isLong = hasMuchOf(wallet, block);
    let ahead: FactsAhead | undefined;
    this.tell({
      moves: { hash: block.hash, heightBefore: -1 },
      sizeBytes: block.raw.length,
      isLong,
      *prepare() {
        if (isLong) ahead = yield* factsAhead(wallet, block);
      },
      take: () => this.update(this.connect(block, { since: block.height, reported: new Set() }, ahead)),
    });
  }

  blockDisconnected(block: { readonly height: number; readonly hash: Bytes }): void {
    const { ledger } = this.wallet;
    this.tell({
      moves: { hash: block.hash, heightBefore: block.height },
      isLong: ledger.countIn(block.hash) >= MANY,
      take: () => this.update(this.disconnect(block)),
    });
  }

  tipChanged(): void {
    if (this.blocksSinceNote >= BLOCKS_A_NOTE) void this.note().catch(() => undefined);
  }

  transactionAdded(txid: Bytes, bytes: Buffer): void {
    this.tell({ take: () => this.update(this.add(txid, bytes)) });
  }

  transactionRemoved(txid: Bytes): void {
    this.tell({ take: () => this.update(this.drop(txid)) });
  }

  private tell(event: NodeEvent): void {
    const { events, node } = this.wallet;
    events.push({ ...event, group: node.chain.reorganised() ?? this.presentTurn() });
  }

  /** The group of all events in the current event loop turn, between which other code cannot run. */
  private presentTurn(): object {
    if (this.turn === null) {
      this.turn = {};
      queueMicrotask(() => (this.turn = null));
    }
    return this.turn;
  }

  /**
   * Runs the work of an event. An error, such as an unreadable file, stops the node. The chain and the mempool do not get
   * the error.
   */
  private *update(work: Slices<void>): Slices<void> {
    try {
      yield* work;
    } catch (error) {
      this.wallet.node.onFatal(error);
    }
  }

  // Methods that apply the events to the wallet.

  private *add(txid: Bytes, bytes: Buffer): Slices<void> {
    const batch = new WalletBatch();
    takeUnconfirmed(this.wallet, batch, txid, bytes);
    this.commit(batch);
    yield* this.wallet.ledger.reconsiderOutputs();
    this.shortage.begin();
  }

  private *drop(txid: Bytes): Slices<void> {
    this.wallet.ledger.setInMempool(txid, false);
  }

  private *connect(block: WalletBlock, look: ScanState, ahead?: FactsAhead): Slices<void> {
    const { wallet } = this;
    wallet.followedHeight = block.height;
    this.blocksSinceNote++;
    const batch = new WalletBatch();
    yield* wallet.ledger.reconnect(block.hash);
    yield* takeBlock(wallet, batch, block, look, ahead);
    if (batch.changes.length === 0) return;
    if (this.isFollowing) this.putPlace(batch);
    this.commit(batch);
    yield* wallet.ledger.reconsiderOutputs();
    if (this.isFollowing) this.shortage.begin();
  }

  private *disconnect({ height, hash }: { readonly height: number; readonly hash: Bytes }): Slices<void> {
    const { wallet } = this;
    if (wallet.followedHeight < height) return;
    wallet.followedHeight = height - 1;
    const held = [...wallet.ledger.inBlock(hash)];
    yield* wallet.ledger.disconnect(hash);
    for (const entry of held) {
      wallet.announce(entry, false);
      yield;
    }
  }

  // Functions that store the best block, which is the last block that was applied.

  private putPlace(batch: WalletBatch): void {
    const locator = this.locator();
    if (locator.length === 0) return;
    // A best block that has not changed is not written again, because writing it would invalidate the wallet's image file.
    if (!this.wallet.isBestBlock(locator)) this.wallet.setBestBlock(batch, locator);
    this.blocksSinceNote = 0;
  }

  /** Block hashes from the wallet's best block downwards, at growing distances. Source: `CChain::GetLocator`. */
  private locator(): Bytes[] {
    const { wallet } = this;
    const hashes: Bytes[] = [];
    // If the wallet's best block is not in the active chain, the node cannot provide the hashes of the blocks below it.
    if (wallet.events.isOnOldBranch) return hashes;
    let step = 1;
    for (let height = wallet.followedHeight; height >= 0;) {
      const hash = wallet.node.chain.hashAt(height);
      if (hash === null) return [];
      hashes.push(hash);
      if (height === 0) break;
      height = Math.max(height - step, 0);
      if (hashes.length > 10) step *= 2;
    }
    return hashes;
  }

  /** Writes the best block to the wallet file. */
  private async note(): Promise<void> {
    const batch = new WalletBatch();
    this.putPlace(batch);
    await this.wallet.write(batch, { sync: false });
  }

  /** Writes data from the chain without waiting for the disk. After a crash the wallet gets it from the chain again. */
  private commit(batch: WalletBatch): void {
    // A write error stops the node, so it is ignored here.
    void this.wallet.write(batch, { sync: false }).catch(() => undefined);
  }

  /** Stops following the chain. When the promise resolves, the best block is on disk. */
  async stop(): Promise<void> {
    this.off();
    await this.wallet.events.caughtUp();
    if (!this.isFollowing) return;
    this.isFollowing = false;
    await this.note();
  }
}
