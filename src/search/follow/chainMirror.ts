/**
 * Copy of the active chain in the thread that updates the search index. The node's thread sends changes in small messages
 * (`ChainTeller`). Messages are applied only between tasks of the event loop, so the copy is constant within a task. The
 * copy contains the commit number of the matching database rows. Data of blocks far below the tip is requested, for the
 * chain that ends with the last received tip.
 */
import type { PlainClaim } from '../../index/claims/claimReader.js';
import type { FollowedChain } from './followedClaims.js';

/** Data of a block: hash as hex in display order, header time, and number of transactions in all lower blocks. */
export type BlockFacts = readonly [hash: string | null, timeSec: number, transactionsBelow: number];

/** A change of the chain, as the node's thread sent it at the end of a turn. */
export interface ChainNews {
  /** Value of `RowStore.commits`. Null while uncommitted rows are staged, because other threads cannot read the rows then. */
  readonly commits: number | null;
  readonly height: number;
  /** Id of the tip in the header table. */
  readonly tip: number;
  readonly disconnects: number;
  /** Whether the claim index has reached the tip. */
  readonly isSynced: boolean;
  readonly indexHeight: number;
  /** Height up to which the chain has not changed since the last message. */
  readonly forkHeight: number;
  /** Data of the latest blocks, starting at `firstHeight`. */
  readonly firstHeight: number;
  readonly blocks: readonly BlockFacts[];
  /** Whether log lines of the category `search` are enabled. */
  readonly isLogged: boolean;
}

/** Interface to the active chain in the node's thread, from which the copy is updated. */
export interface MirroredChain extends FollowedChain {
  readonly height: number;
  /** Id of the tip in the header table. */
  readonly tip: number;
  /** Returns the height of the last block that the active chain and the chain with the tip `tip` have in common. */
  forkHeight(tip: number): number;
  /** Returns the data of the block at a height, on the chain that ends with the tip `tip`. */
  factsAt(tip: number, height: number): BlockFacts;
  /** See `ChainNews`. */
  readonly commits: number | null;
  /** Runs a task during which no block is connected or disconnected. */
  exclusively<T>(task: () => Promise<T>): Promise<T>;
}

/**
 * Number of latest blocks whose data is sent without a request. Above the number of blocks that the search index ever
 * rewinds.
 */
const SENT_BLOCKS = 400;
/** Maximum number of blocks below the tip whose data is cached. They are requested in any order. Arbitrary: some megabytes. */
const KEPT_FACTS = 50_000;

/** Computes the changes of the chain since the last message to the follower thread. */
export class ChainTeller {
  private readonly chain: MirroredChain;
  private readonly index: { readonly height: number; readonly isSynced: boolean };
  private readonly sentBlocks: number;
  private lastNews: ChainNews | null = null;

  /** Creates the sender. `sentBlocks` is the number of latest blocks whose data is sent without a request. */
  constructor(
    chain: MirroredChain,
    index: { readonly height: number; readonly isSynced: boolean },
    sentBlocks = SENT_BLOCKS,
  ) {
    this.chain = chain;
    this.index = index;
    this.sentBlocks = sentBlocks;
  }

  /** Returns the changes since the last call; null if there are none. */
  news(isLogged: boolean): ChainNews | null {
    const { chain, index, lastNews } = this;
    const { commits, height, disconnects, tip } = chain;
    const { isSynced, height: indexHeight } = index;
    if (
      lastNews !== null &&
      lastNews.commits === commits &&
      lastNews.isSynced === isSynced &&
      lastNews.indexHeight === indexHeight &&
      lastNews.isLogged === isLogged &&
      lastNews.tip === tip &&
      lastNews.disconnects === disconnects
    )
      return null;
    let forkHeight = -1;
    if (lastNews !== null)
      forkHeight = lastNews.disconnects === disconnects ? lastNews.height : chain.forkHeight(lastNews.tip);
    const firstHeight = Math.max(forkHeight + 1, height - this.sentBlocks + 1, 0);
    const blocks: BlockFacts[] = [];
    for (let at = firstHeight; at <= height; at++) blocks.push(chain.factsAt(tip, at));
    const state = { commits, height, tip, disconnects, isSynced, indexHeight, isLogged };
    return (this.lastNews = { ...state, forkHeight, firstHeight, blocks });
  }
}

/** A request for the data of blocks on the branch that ends with `tip`. */
export interface WantedFacts {
  readonly tip: number;
  readonly heights: readonly number[];
}

export class ChainMirror implements FollowedChain {
  private state: Omit<ChainNews, 'forkHeight' | 'firstHeight' | 'blocks'> = {
    commits: null,
    height: -1,
    tip: -1,
    disconnects: 0,
    isSynced: false,
    indexHeight: -1,
    isLogged: false,
  };
  private readonly facts = new Map<number, BlockFacts>();
  private readonly askNow: (wanted: WantedFacts) => readonly BlockFacts[];
  private readonly ask: (wanted: WantedFacts) => Promise<readonly BlockFacts[]>;

  /** Creates the copy. `askNow` and `ask` request block data from the node's thread; `askNow` is synchronous. */
  constructor(
    askNow: (wanted: WantedFacts) => readonly BlockFacts[],
    ask: (wanted: WantedFacts) => Promise<readonly BlockFacts[]>,
  ) {
    this.askNow = askNow;
    this.ask = ask;
  }

  get commits(): number | null {
    return this.state.commits;
  }

  get height(): number {
    return this.state.height;
  }

  /** Header id of the tip, as the node's thread numbers headers. */
  get tip(): number {
    return this.state.tip;
  }

  get disconnects(): number {
    return this.state.disconnects;
  }

  /** Whether the claim index has reached the tip, and the height of its last block. */
  get status(): { readonly synced: boolean; readonly height: number } {
    return { synced: this.state.isSynced, height: this.state.indexHeight };
  }

  get isLogged(): boolean {
    return this.state.isLogged;
  }

  take({ forkHeight, firstHeight, blocks, ...state }: ChainNews): void {
    if (forkHeight < this.state.height)
      for (const height of this.facts.keys()) if (height > forkHeight) this.facts.delete(height);
    this.state = state;
    blocks.forEach((facts, i) => this.facts.set(firstHeight + i, facts));
  }

  hashAt(height: number): string | null {
    return height < 0 || height > this.height ? null : this.factsAt(height)[0];
  }

  timeSec(height: number): number {
    return this.factsAt(Math.min(height, this.height))[1];
  }

  transactionsBelow(height: number): number {
    return this.factsAt(height)[2];
  }

  /** Loads the block data that `timeSec` and `transactionsBelow` need for the claims. */
  async prepare(claims: readonly PlainClaim[]): Promise<void> {
    const missing = new Set<number>();
    this.makeRoom();
    for (const { height, creationHeight } of claims)
      for (const at of [height, creationHeight]) if (!this.facts.has(at)) missing.add(at);
    if (missing.size === 0) return;
    const { disconnects, tip } = this;
    const heights = [...missing];
    const found = await this.ask({ tip, heights });
    // After a reorg the received data may belong to another branch, so it is discarded.
    if (this.disconnects !== disconnects) return;
    heights.forEach((at, i) => this.facts.set(at, found[i]!));
  }

  private factsAt(height: number): BlockFacts {
    const known = this.facts.get(height);
    if (known !== undefined) return known;
    const [facts] = this.askNow({ tip: this.tip, heights: [height] });
    this.makeRoom();
    this.facts.set(height, facts!);
    return facts!;
  }

  private makeRoom(): void {
    if (this.facts.size <= KEPT_FACTS) return;
    const lowest = this.height - SENT_BLOCKS;
    for (const height of this.facts.keys()) if (height <= lowest) this.facts.delete(height);
  }
}
