/**
 * Keeps an open wallet at the chain's tip and in sync with the mempool: what the node reports goes to the ledger in order,
 * what is much once it was made ready (`eventLine.ts`); what was missed while the wallet was closed is read from the blocks.
 * Owns the place to which the chain was followed. Source: lbrycrd wallet/wallet.cpp `BlockConnected`, `BlockDisconnected`,
 * `TransactionAddedToMempool`, `CreateWalletFromFile`.
 */
import { yieldIfDue } from '../scheduler/yield.js';
import type { Bytes } from '../util/bytes.js';
import { inSlices } from '../scheduler/slices.js';
import type { Slices } from '../util/slices.js';
import type { NodeEvent } from './eventLine.js';
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
  type Look,
} from './scan/takeBlock.js';
import { WalletBatch } from './store/records.js';
import type { Wallet } from './wallet.js';

/** The place is written at least once in this many blocks; what follows it is read again after a crash. Arbitrary. */
const BLOCKS_A_NOTE = 500;
/** The number of missed blocks that are searched in the address index, where there is one. Arbitrary. */
const LEAP_BLOCKS = 200;
/** Further back a reorganisation does not reach while the wallet catches up. Arbitrary. */
const RECENT_BLOCKS = 2000;

/** The answer to callers while the node starts. Source: `CreateWalletFromFile`. */
const RESCANNING = 'Rescanning...';

/** The chain cannot be followed from where the wallet was last; the message says what to do. */
export class FollowError extends Error {
  override readonly name = 'FollowError';
}

export class Follower implements NodeListener {
  private readonly wallet: Wallet;
  private readonly shortage: ShortageEnder;
  /** A clock that no one sets. */
  private readonly nowMs: () => number;
  private off: () => void = () => undefined;
  private isFollowing = false;
  private blocksSinceNote = 0;
  /** The blocks last read while catching up, the latest last. */
  private recent: Bytes[] = [];
  /** The first block that is read while catching up, and the last one that used up keys. */
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
   * Brings a wallet that was just loaded to the tip and follows the chain from there. `rescan`: from the first block on;
   * `isNew`: nothing that is in the chain can be its own.
   * Throws `FollowError` where blocks that are needed were pruned.
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
    // The chain may be another one since.
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
    // Keys made on the way may have been paid in blocks before.
    const { keysMadeAt } = this;
    if (keysMadeAt > from) await wallet.change((batch) => wallet.scans.owe(batch, from));
    await this.note();
    if (keysMadeAt > from) wallet.node.showStart(RESCANNING);
    if (keysMadeAt > from) await lookAgain(wallet, { first: from, last: null, seenFrom: keysMadeAt }, signal);
    beginOwedScan(wallet);
  }

  /** Works out what is known of transactions. */
  private async settle(owes?: number): Promise<void> {
    const { wallet } = this;
    const batch = new WalletBatch();
    await inSlices(wallet.settle(batch));
    if (owes !== undefined) wallet.scans.owe(batch, owes);
    await wallet.write(batch);
  }

  /** Notified of the chain and the mempool from here on. */
  private follow(): void {
    this.off = this.wallet.node.listen(this);
    this.isFollowing = true;
    this.recent = [];
    this.takeMempool();
  }

  /**
   * Whether the address index can say which of many missed blocks matter: not where a transaction waits that a block may
   * have made void by spending what is none of the wallet's.
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

  /** Follows the tip at once, and looks through the missed blocks as a rescan does. */
  private async leap(from: number, signal?: AbortSignal): Promise<void> {
    const { wallet } = this;
    wallet.followedHeight = wallet.node.chain.height;
    // What comes meanwhile is applied once it is known what was.
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

  /** The blocks up to the followed one, the latest last: what a reorganisation takes back of them is read again. */
  private lastFollowed(): Bytes[] {
    const { followedHeight, node } = this.wallet;
    const hashes: Bytes[] = [];
    for (let height = Math.max(followedHeight - RECENT_BLOCKS + 1, 0); height <= followedHeight; height++) {
      const hash = node.chain.hashAt(height);
      if (hash !== null) hashes.push(Buffer.from(hash));
    }
    return hashes;
  }

  /** The first height that is to be read. */
  private firstUnknown(rescan: boolean): number {
    const { wallet } = this;
    const { chain } = wallet.node;
    const locator = rescan ? null : wallet.bestBlock;
    // Without a place in the chain only the owner's keys tell how old it may be.
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
        `The wallet needs blocks from height ${from} on, and the node was started from a snapshot of block ${chain.snapshotHeight} whose blocks are not validated yet. Load the wallet once getblockchaininfo shows no snapshot.`,
      );
    for (let height = from; height <= chain.height; height++) {
      if (!chain.hasBlock(height)) {
        throw new FollowError(
          'Prune: last wallet synchronisation goes beyond pruned data. You need to -reindex (download the whole blockchain again in case of pruned node)',
        );
      }
      // Blocks are pruned from below.
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

  /** Takes in the next block; blocks may come and go meanwhile, and each must follow the one before. */
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
    const look = { since: this.from, told: new Set<Entry>() };
    const ahead = hasMuchOf(wallet, block) ? await inSlices(factsAhead(wallet, block)) : undefined;
    // The chain may be another one since.
    if (chain.heightOf(block.hash) !== height) return;
    if (last !== undefined && chain.heightOf(last) < 0) return;
    const { keyCount } = wallet.keyring;
    await inSlices(this.connect(block, look, ahead));
    while ((await endShortage(wallet)) !== null) await inSlices(this.connect(block, look));
    if (wallet.keyring.keyCount > keyCount) this.keysMadeAt = height;
    recent.push(block.hash);
    if (recent.length > 2 * RECENT_BLOCKS) recent.splice(0, RECENT_BLOCKS);
  }

  /** What is in the mempool already. */
  private takeMempool(): void {
    for (const { txid, bytes } of this.wallet.node.mempool.all())
      this.wallet.events.wait({ take: () => this.hear(this.add(txid, bytes)) });
  }

  // Events of the node.

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
      take: () => this.hear(this.connect(block, { since: block.height, told: new Set() }, ahead)),
    });
  }

  blockDisconnected(block: { readonly height: number; readonly hash: Bytes }): void {
    const { ledger } = this.wallet;
    this.tell({
      moves: { hash: block.hash, heightBefore: block.height },
      isLong: ledger.countIn(block.hash) >= MANY,
      take: () => this.hear(this.disconnect(block)),
    });
  }

  tipChanged(): void {
    if (this.blocksSinceNote >= BLOCKS_A_NOTE) void this.note().catch(() => undefined);
  }

  transactionAdded(txid: Bytes, bytes: Buffer): void {
    this.tell({ take: () => this.hear(this.add(txid, bytes)) });
  }

  transactionRemoved(txid: Bytes): void {
    this.tell({ take: () => this.hear(this.drop(txid)) });
  }

  private tell(event: NodeEvent): void {
    const { events, node } = this.wallet;
    events.hear({ ...event, group: node.chain.reorganised() ?? this.presentTurn() });
  }

  /** The same for all that is told one after the other, without a pause for anyone to look. */
  private presentTurn(): object {
    if (this.turn === null) {
      this.turn = {};
      queueMicrotask(() => (this.turn = null));
    }
    return this.turn;
  }

  /** What fails here, as a file that cannot be read, stops the node, and is not thrown at the chain or the mempool. */
  private *hear(work: Slices<void>): Slices<void> {
    try {
      yield* work;
    } catch (error) {
      this.wallet.node.onFatal(error);
    }
  }

  // What becomes of it.

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

  private *connect(block: WalletBlock, look: Look, ahead?: FactsAhead): Slices<void> {
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

  // The place in the chain.

  private putPlace(batch: WalletBatch): void {
    const locator = this.locator();
    if (locator.length === 0) return;
    // An unchanged value is not written again, so that an unchanged wallet keeps its image.
    if (!this.wallet.isBestBlock(locator)) this.wallet.setBestBlock(batch, locator);
    this.blocksSinceNote = 0;
  }

  /** Hashes back from the followed block, ever further apart. Source: `CChain::GetLocator`. */
  private locator(): Bytes[] {
    const { wallet } = this;
    const hashes: Bytes[] = [];
    // The node's chain is not the wallet's then.
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

  /** Brings the place to disk. */
  private async note(): Promise<void> {
    const batch = new WalletBatch();
    this.putPlace(batch);
    await this.wallet.write(batch, { sync: false });
  }

  /** Data from the chain is written without waiting: after a crash the chain provides it again. */
  private commit(batch: WalletBatch): void {
    // A disk that refuses stops the node.
    void this.wallet.write(batch, { sync: false }).catch(() => undefined);
  }

  /** Follows no more; the place is on disk when it resolves. */
  async stop(): Promise<void> {
    this.off();
    await this.wallet.events.caughtUp();
    if (!this.isFollowing) return;
    this.isFollowing = false;
    await this.note();
  }
}
