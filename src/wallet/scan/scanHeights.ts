/**
 * Order of the blocks in a scan. When a payment is found, new keys may be created, and earlier blocks may pay to these keys.
 * So the scan runs in rounds until every block was scanned with all keys.
 */
import type { Bytes } from '../../util/bytes.js';
import { inSlices } from '../../scheduler/slices.js';
import type { ChainPort } from '../port.js';
import type { Wallet } from '../wallet.js';
import { ownScripts, scriptsOfKeys } from './ownScripts.js';

/** Maximum number of scripts in one query of the address index. Arbitrary. */
const SCRIPTS_A_QUESTION = 1000;
/** Number of scripts for which a search of the address index takes about as long as reading a block. */
const SCRIPTS_A_BLOCK = 8;

export interface ScanHeights {
  /** Height of the next block to scan; null at the end. */
  next(): Promise<number | null>;
  /** Heights of the next blocks of the scan, provided that no keys are created before. */
  ahead(count: number): number[];
  /** Skips the first `count` heights of `ahead`. */
  skip(count: number): void;
  /**
   * Must be called when keys were created because of the block at `height`. Returns false if the earlier blocks that pay to
   * these keys cannot be determined.
   */
  keysMade(height: number, keyIds: readonly Bytes[]): Promise<boolean>;
}

/** Range of heights to scan: up to a fixed height, or to the tip, which may move. */
export interface ScanBounds {
  readonly first: number;
  /** Last height of the range; null for the tip. */
  readonly last: number | null;
  /** Height from which on blocks were scanned before with all keys of the wallet. */
  readonly seenFrom?: number;
  /** Whether the wallet itself started the scan. Then only new and changed transactions are announced. */
  readonly isOwn?: boolean;
}

/** Heights of a scan that reads every block. */
export class EveryHeight implements ScanHeights {
  private readonly chain: ChainPort;
  private readonly bounds: ScanBounds;
  private readonly tipAtStart: number;
  private position: number;
  /** Last height of the current round; −1 for the tip. */
  private stop: number;
  private isNextRound: boolean;

  constructor(chain: ChainPort, bounds: ScanBounds) {
    this.chain = chain;
    this.bounds = bounds;
    this.tipAtStart = chain.height;
    this.position = bounds.first;
    this.stop = bounds.seenFrom ?? -1;
    this.isNextRound = bounds.seenFrom !== undefined;
  }

  private get last(): number {
    const { bounds, chain } = this;
    // In the first round, blocks above the tip at the start are left to the follower. In later rounds they are scanned
    // too, because the follower applied them with fewer keys.
    const tip = this.stop < 0 ? Math.min(this.tipAtStart, chain.height) : chain.height;
    return Math.min(bounds.last ?? Infinity, tip);
  }

  next(): Promise<number | null> {
    if (this.position > this.last) {
      if (this.stop < 0 || this.isNextRound) return Promise.resolve(null);
      this.position = this.bounds.first;
      this.isNextRound = true;
    }
    if (this.isNextRound && this.position >= this.stop) return Promise.resolve(null);
    return Promise.resolve(this.position++);
  }

  ahead(count: number): number[] {
    const end = Math.min(this.position + count, this.last + 1);
    const heights: number[] = [];
    for (let height = this.position; height < end; height++) heights.push(height);
    return heights;
  }

  skip(count: number): void {
    this.position += count;
  }

  keysMade(height: number): Promise<boolean> {
    this.stop = height;
    this.isNextRound = false;
    return Promise.resolve(true);
  }
}

/** The heights of blocks that the address index returns for the wallet's scripts. */
export class IndexedHeights implements ScanHeights {
  private readonly chain: ChainPort;
  private readonly bounds: ScanBounds;
  /** Heights of the current round in ascending order. Those before position `at` have been scanned. */
  private heights: number[];
  private at = 0;
  /** Heights below the current height that the next round must scan. */
  private readonly behind = new Set<number>();
  private readonly made: Bytes[] = [];
  /** Height up to which the address index was queried. */
  private askedTo: number;
  /** Number of scripts that may still be queried. For more scripts, reading all blocks is faster. */
  private scriptsLeft: number;

  private constructor(
    chain: ChainPort,
    bounds: ScanBounds,
    { askedTo, scriptsLeft, heights }: { askedTo: number; scriptsLeft: number; heights: number[] },
  ) {
    this.chain = chain;
    this.bounds = bounds;
    this.askedTo = askedTo;
    this.scriptsLeft = scriptsLeft;
    this.heights = heights;
  }

  /** Queries the address index. Null if the index is not available, or if reading all blocks takes less time. */
  static async ask({ keyring, node: { chain } }: Wallet, bounds: ScanBounds): Promise<IndexedHeights | null> {
    const last = Math.min(bounds.last ?? Infinity, (bounds.seenFrom ?? Infinity) - 1, chain.height);
    // A query without scripts shows whether the index is available, before the scripts are computed.
    if ((await touched(chain, [], bounds.first, last)) === null) return null;
    const scripts = await inSlices(ownScripts(keyring));
    const scriptsLeft = SCRIPTS_A_BLOCK * (last - bounds.first + 1) - scripts.length;
    if (scriptsLeft < 0) return null;
    const heights = await touched(chain, scripts, bounds.first, last);
    return heights === null
      ? null
      : new IndexedHeights(chain, bounds, { askedTo: last, scriptsLeft, heights });
  }

  async next(): Promise<number | null> {
    if (this.at === this.heights.length) await this.nextRound();
    return this.heights[this.at++] ?? null;
  }

  private async nextRound(): Promise<void> {
    const { chain, bounds, askedTo, made, behind } = this;
    const last = Math.min(bounds.last ?? Infinity, chain.height);
    if (made.length > 0 && last > askedTo) {
      this.askedTo = last;
      const more = await touched(chain, scriptsOfKeys(made), askedTo + 1, last);
      for (const height of more ?? []) behind.add(height);
    }
    this.heights = [...behind].sort((a, b) => a - b);
    this.at = 0;
    behind.clear();
  }

  ahead(count: number): number[] {
    return this.heights.slice(this.at, this.at + count);
  }

  skip(count: number): void {
    this.at += count;
  }

  async keysMade(height: number, keyIds: readonly Bytes[]): Promise<boolean> {
    this.made.push(...keyIds);
    const scripts = scriptsOfKeys(keyIds);
    this.scriptsLeft -= scripts.length;
    if (this.scriptsLeft < 0) return false;
    const found = await touched(this.chain, scripts, this.bounds.first, this.askedTo);
    if (found === null) return false;
    for (const other of found) {
      if (other > height) this.insert(other);
      else if (other < height) this.behind.add(other);
    }
    return true;
  }

  private insert(height: number): void {
    let low = this.at;
    for (let high = this.heights.length; low < high;) {
      const middle = (low + high) >>> 1;
      if (this.heights[middle]! < height) low = middle + 1;
      else high = middle;
    }
    if (this.heights[low] !== height) this.heights.splice(low, 0, height);
  }
}

/** Heights of the blocks that pay to or spend from one of the scripts, in ascending order. Null if the index is not available. */
async function touched(
  chain: ChainPort,
  scripts: readonly Bytes[],
  first: number,
  last: number,
): Promise<number[] | null> {
  if (first > last) return [];
  const heights = new Set<number>();
  for (let at = 0; at < Math.max(scripts.length, 1); at += SCRIPTS_A_QUESTION) {
    const found = await chain.blocksTouching(scripts.slice(at, at + SCRIPTS_A_QUESTION), first, last);
    if (found === null) return null;
    for (const height of found) heights.add(height);
  }
  return [...heights].sort((a, b) => a - b);
}
