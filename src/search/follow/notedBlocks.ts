/**
 * Blocks whose claims the search index may hold, with the claims that they touched. A claim that was read at a block which
 * is then left behind must be read again: so each block of the claim index is noted before claims are read at it, and notes
 * of blocks that are no more on the active chain say what to read again, whether the index had come to them or not.
 */
import { claimIdsIn, type FollowedClaims } from './followedClaims.js';
import { KEPT_BLOCKS, type BlockId, type BlockNote, type IndexWriter } from './indexChange.js';

export class NotedBlocks {
  private readonly claims: FollowedClaims;
  private readonly writer: IndexWriter;
  private readonly keptBlocks: number;
  private blocks = new Map<string, BlockId>();
  /** Blocks whose notes are written with their claims, or before those of higher blocks. */
  private readonly unwritten = new Map<string, BlockNote>();
  /** While this block is active, all noted blocks except those in `unseen` are too; null if unknown. */
  private seen: BlockId | null = null;
  private unseen: BlockId[] = [];
  /**
   * Blocks up to this one were not noted though claims were read above them: too many lay between. As long as it is on the
   * active chain, so are they. Null if there are none.
   */
  private floor: BlockId | null = null;
  private isFloorLost = false;

  /** `keptBlocks` below the tip of the claim index are noted at most. */
  constructor(claims: FollowedClaims, writer: IndexWriter, keptBlocks: number) {
    this.claims = claims;
    this.writer = writer;
    this.keptBlocks = keptBlocks;
  }

  /** Takes over what the index has, which has followed the blocks up to `bottom`. */
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
   * Whether blocks that were not noted may have been left, so that no one knows which claims to read again. `tip` is the
   * block that the index has come to.
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

  /** A block whose note goes with its claims, unless it is noted already. What lies far below it is forgotten. */
  add(block: BlockNote): void {
    if (!this.blocks.has(keyOf(block))) this.unwritten.set(keyOf(block), block);
    this.set(block);
    for (const [key, { height }] of this.blocks) {
      // They come in the order of their heights, except for a few.
      if (height > block.height - KEPT_BLOCKS) break;
      this.blocks.delete(key);
    }
  }

  /** The claims of all blocks that were added are written, with the notes. */
  settle(): void {
    this.unwritten.clear();
  }

  /** The claims of blocks that were added are not written after all. */
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
   * The highest block below this height that the index has followed and that is active, or null. Of a branch that replaces
   * what the index followed blocks may be noted that it has not come to: nothing above one that was abandoned is taken.
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
   * Notes blocks of the claim index above `bottom`, before and after claims are read at them; down to the first whose note is
   * written, below which all are unless `bottom` has become lower.
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

  /** The claims of noted blocks, and what reposts them. */
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
