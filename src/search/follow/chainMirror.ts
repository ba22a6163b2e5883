/**
 * Copy of the active chain in the thread that follows the claim index. The node's thread sends changes in small messages
 * (`ChainTeller`), which are applied between turns, so the copy is constant within a turn. It includes the commit number of
 * the matching rows. Blocks far below the tip are requested, for the chain that ends with the last received tip.
 */
import type { PlainClaim } from '../../index/claims/claimReader.js';
import type { FollowedChain } from './followedClaims.js';

/** Data of a block: hash as hex in printed order, header time, and number of transactions in all lower blocks. */
export type BlockFacts = readonly [hash: string | null, timeSec: number, transactionsBelow: number];

/** Changes of the chain, as of a turn of the node's thread. */
export interface ChainNews {
  /** `RowStore.commits`; null while there are staged rows, which other threads cannot read. */
  readonly commits: number | null;
  readonly height: number;
  /** Id of the block at the tip. */
  readonly tip: number;
  readonly disconnects: number;
  /** Whether the claim index is at the tip. */
  readonly isSynced: boolean;
  readonly indexHeight: number;
  /** Height up to which the chain is unchanged since the last message. */
  readonly forkHeight: number;
  /** The latest blocks, from `firstHeight` on. */
  readonly firstHeight: number;
  readonly blocks: readonly BlockFacts[];
  /** Whether lines of the category `search` are logged. */
  readonly isLogged: boolean;
}

/** The active chain, as the source of the copy. */
export interface MirroredChain extends FollowedChain {
  readonly height: number;
  /** Id of the block at the tip. */
  readonly tip: number;
  /** Height of the last common block of the active chain and the one that ended at `tip`. */
  forkHeight(tip: number): number;
  /** Data of the block at a height of the chain with this tip. */
  factsAt(tip: number, height: number): BlockFacts;
  /** See `ChainNews`. */
  readonly commits: number | null;
  /** Runs a task while chain changes are blocked. */
  exclusively<T>(task: () => Promise<T>): Promise<T>;
}

/** Number of latest blocks that are sent without a request; more than a follower ever rewinds step by step. */
const TOLD_BLOCKS = 400;
/** Maximum number of cached facts of lower blocks, which are needed in any order. Arbitrary, some megabytes. */
const KEPT_FACTS = 50_000;

/** Computes the changes of the chain since the last call. */
export class ChainTeller {
  private readonly chain: MirroredChain;
  private readonly index: { readonly height: number; readonly isSynced: boolean };
  private readonly toldBlocks: number;
  private told: ChainNews | null = null;

  /** `toldBlocks`: number of latest blocks that are sent without a request. */
  constructor(
    chain: MirroredChain,
    index: { readonly height: number; readonly isSynced: boolean },
    toldBlocks = TOLD_BLOCKS,
  ) {
    this.chain = chain;
    this.index = index;
    this.toldBlocks = toldBlocks;
  }

  /** Null without changes. */
  news(isLogged: boolean): ChainNews | null {
    const { chain, index, told } = this;
    const { commits, height, disconnects, tip } = chain;
    const { isSynced, height: indexHeight } = index;
    if (
      told !== null &&
      told.commits === commits &&
      told.isSynced === isSynced &&
      told.indexHeight === indexHeight &&
      told.isLogged === isLogged &&
      told.tip === tip &&
      told.disconnects === disconnects
    )
      return null;
    let forkHeight = -1;
    if (told !== null)
      forkHeight = told.disconnects === disconnects ? told.height : chain.forkHeight(told.tip);
    const firstHeight = Math.max(forkHeight + 1, height - this.toldBlocks + 1, 0);
    const blocks: BlockFacts[] = [];
    for (let at = firstHeight; at <= height; at++) blocks.push(chain.factsAt(tip, at));
    const state = { commits, height, tip, disconnects, isSynced, indexHeight, isLogged };
    return (this.told = { ...state, forkHeight, firstHeight, blocks });
  }
}

/** A request for facts of blocks of the chain that ended at a tip. */
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

  /** `askNow` and `ask` query the node's thread, `askNow` synchronously. */
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

  /** Id of the block at the tip, in the node's numbering. */
  get tip(): number {
    return this.state.tip;
  }

  get disconnects(): number {
    return this.state.disconnects;
  }

  /** The status of the claim index. */
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

  /** Loads the data that `timeSec` and `transactionsBelow` need for the heights of claims. */
  async prepare(claims: readonly PlainClaim[]): Promise<void> {
    const missing = new Set<number>();
    this.makeRoom();
    for (const { height, creationHeight } of claims)
      for (const at of [height, creationHeight]) if (!this.facts.has(at)) missing.add(at);
    if (missing.size === 0) return;
    const { disconnects, tip } = this;
    const heights = [...missing];
    const found = await this.ask({ tip, heights });
    // Changes received with the response may belong to another branch.
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
    const lowest = this.height - TOLD_BLOCKS;
    for (const height of this.facts.keys()) if (height <= lowest) this.facts.delete(height);
  }
}
