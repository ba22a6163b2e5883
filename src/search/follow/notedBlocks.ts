/**
 * Noted blocks: blocks at whose state claims of the search index may have been read, with the claims that they touched. If
 * such a block is disconnected, its claims must be read again. So each block is noted before claims are read at it, even
 * above the tip of the index. Notes of blocks that are not active any more determine what is read again.
 */
import { claimIdsIn, type FollowedClaims } from './followedClaims.js';
import { KEPT_BLOCKS, type BlockId, type BlockNote, type IndexWriter } from './indexChange.js';

export class NotedBlocks {
  private readonly claims: FollowedClaims;
  private readonly writer: IndexWriter;
  private readonly keptBlocks: number;
  private blocks = new Map<string, BlockId>();
  /** Blocks whose notes are not written yet: they are written with their claims, or before notes of higher blocks. */
  private readonly unwritten = new Map<string, BlockNote>();
  /** While this block is active, all noted blocks except those in `unseen` are active too; null if unknown. */
  private seen: BlockId | null = null;
  private unseen: BlockId[] = [];
  /**
   * Highest block below a gap: blocks up to it were not noted, because there were too many, although claims were read above
   * them. While it is on the active chain, they are too. Null without a gap.
   */
  private floor: BlockId | null = null;
  private isFloorLost = false;

  /** `keptBlocks`: maximum number of noted blocks below the tip of the claim index. */
  constructor(claims: FollowedClaims, writer: IndexWriter, keptBlocks: number) {
    this.claims = claims;
    this.writer = writer;
    this.keptBlocks = keptBlocks;
  }

  /** Loads the notes of an index that has followed the blocks up to `bottom`. */
  async load(bottom: number): Promise<void> {
    this.reset(await this.writer.notes());
    const above = this.above(bottom);
    const heights = new Set(above.map(({ height }) => height));
    const top = above.reduce((most, { height }) => Math.max(most, height), bottom);
    let floor = top;
    while (floor > bottom && heights.has(floor)) floor--;
    if (floor === bottom) return;
    const isActive = above.some((block) => block.height === floor + 1 && this.claims.isActive(block));
    this.setFloor(floor, isActive ? this.claims.hashAt(floor) : null);
  }

  reset(blocks: readonly BlockId[]): void {
    this.blocks = new Map(blocks.map((block) => [keyOf(block), idOf(block)]));
    this.unwritten.clear();
    this.seen = null;
    this.unseen = [];
    this.floor = null;
    this.isFloorLost = false;
  }

  /**
   * Whether blocks without notes may have been disconnected, so that it is unknown which claims must be read again. `tip` is
   * the tip of the index.
   */
  hasLost(tip: BlockId): boolean {
    const { floor, claims } = this;
    if (floor !== null && !claims.isActive(floor)) this.isFloorLost = true;
    else if (floor !== null && tip.height >= floor.height && claims.isActive(tip)) this.floor = null;
    return this.isFloorLost;
  }

  private setFloor(height: number, hash: string | null): void {
    const { floor, claims } = this;
    if (hash === null || (floor !== null && !claims.isActive(floor))) this.isFloorLost = true;
    else if (floor === null || floor.height < height) this.floor = { height, hash };
  }

  private set(block: BlockId): void {
    this.blocks.set(keyOf(block), idOf(block));
    this.unseen.push(idOf(block));
  }

  /** Adds a block whose note is written with its claims, unless it is already noted. Removes notes far below it. */
  add(block: BlockNote): void {
    if (!this.blocks.has(keyOf(block))) this.unwritten.set(keyOf(block), block);
    this.set(block);
    for (const [key, { height }] of this.blocks) {
      // Blocks are mostly in order of height.
      if (height > block.height - KEPT_BLOCKS) break;
      this.blocks.delete(key);
    }
  }

  /** The claims of all added blocks have been written, with the notes. */
  settle(): void {
    this.unwritten.clear();
  }

  /** The claims of the added blocks are not written; removes their notes. */
  giveUp(): void {
    this.forget([...this.unwritten.values()]);
    this.unwritten.clear();
  }

  forget(blocks: readonly BlockId[]): void {
    for (const block of blocks) this.blocks.delete(keyOf(block));
  }

  /** Blocks that are no longer on the active chain. */
  get abandoned(): BlockId[] {
    const isSeen = this.seen !== null && this.claims.isActive(this.seen);
    const looked = (isSeen ? this.unseen : [...this.blocks.values()]).filter((block) =>
      this.blocks.has(keyOf(block)),
    );
    const abandoned = looked.filter((block) => !this.claims.isActive(block));
    this.seen = abandoned.length > 0 ? null : highestOf(isSeen ? [this.seen!, ...looked] : looked);
    this.unseen = [];
    return abandoned;
  }

  above(height: number): BlockId[] {
    return [...this.blocks.values()].filter((block) => block.height > height);
  }

  /**
   * The highest active block below this height that the index has followed; null without one. Blocks of the new branch may
   * be noted without having been followed, so blocks above an abandoned one are excluded.
   */
  highestFollowedBelow(height: number): BlockId | null {
    const top = this.abandoned.reduce((least, block) => Math.min(least, block.height), height);
    let best: BlockId | null = null;
    for (const block of this.blocks.values()) {
      if (block.height >= top || (best !== null && best.height > block.height)) continue;
      if (this.claims.isActive(block)) best = block;
    }
    return best;
  }

  /**
   * Notes blocks of the claim index above `bottom`. Call it before and after claims are read. It goes down to the first
   * block with a written note, because all lower ones have notes too, unless `bottom` was lowered (`isLower`).
   */
  async noteAhead(bottom: number, isLower = false): Promise<void> {
    const { claims } = this;
    const lowest = Math.max(bottom, claims.height - this.keptBlocks);
    const missing: BlockNote[] = [];
    const waiting: BlockNote[] = [];
    let { height } = claims;
    for (; height > lowest; height--) {
      const hash = claims.hashAt(height);
      if (hash === null) break;
      if (this.blocks.has(keyOf({ height, hash }))) {
        const unwritten = this.unwritten.get(keyOf({ height, hash }));
        if (unwritten !== undefined) waiting.push(unwritten);
        if (isLower || (unwritten !== undefined && missing.length > 0)) continue;
        break;
      }
      const changes = await claims.changesAt(height, hash);
      if (changes === 'gone') this.setFloor(height, hash);
      if (changes === null || changes === 'gone') break;
      missing.push({ height, hash, claimIds: claimIdsIn(changes) });
    }
    if (height === lowest && lowest > bottom) this.setFloor(lowest, claims.hashAt(lowest));
    if (missing.length === 0) return;
    await this.writer.note([...missing, ...waiting]);
    for (const block of missing) this.set(block);
    for (const block of waiting) this.unwritten.delete(keyOf(block));
  }

  /** The claims of noted blocks, and their reposts. */
  async claimIdsOf(blocks: readonly BlockId[]): Promise<string[]> {
    const keys = new Set(blocks.map(keyOf));
    const notes = (await this.writer.notes()).filter((note) => keys.has(keyOf(note)));
    const ids = new Set(notes.flatMap((note) => note.claimIds));
    for (const id of await this.writer.repostsOf([...ids])) ids.add(id);
    return [...ids];
  }
}

function highestOf(blocks: readonly BlockId[]): BlockId | null {
  return blocks.reduce<BlockId | null>(
    (best, block) => (best !== null && best.height > block.height ? best : block),
    null,
  );
}

const keyOf = ({ height, hash }: BlockId): string => `${height}:${hash}`;
const idOf = ({ height, hash }: BlockId): BlockId => ({ height, hash });
