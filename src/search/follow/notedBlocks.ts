/**
 * Noted blocks: blocks that are recorded because claims of the search index may have been read in the state after them. Each
 * is stored with the claims that it changed. If a noted block is disconnected, its claims must be read again. Each block is
 * therefore noted before claims are read in its state, even above the tip of the index. Notes of blocks that are not active
 * determine the claims to read again.
 */
import { claimIdsIn, type FollowedClaims } from './followedClaims.js';
import { KEPT_BLOCKS, type BlockId, type BlockNote, type IndexWriter } from './indexChange.js';

export class NotedBlocks {
  private readonly claims: FollowedClaims;
  private readonly writer: IndexWriter;
  private readonly keptBlocks: number;
  private blocks = new Map<string, BlockId>();
  /**
   * Notes that are not written to the index yet. They are written with the claims of their blocks, or before notes of higher
   * blocks.
   */
  private readonly unwritten = new Map<string, BlockNote>();
  /**
   * An active block with this property: while it is active, all noted blocks except those in `unseen` are active too. Null
   * if no such block is known.
   */
  private seen: BlockId | null = null;
  private unseen: BlockId[] = [];
  /**
   * Highest block below a gap in the notes: blocks up to it were not noted, because there were too many, although claims
   * were read above them. While this block is active, those blocks are active too. Null without a gap.
   */
  private floor: BlockId | null = null;
  private isFloorLost = false;

  /** Creates the list. `keptBlocks` is the maximum number of recorded blocks below the tip of the claim index. */
  constructor(claims: FollowedClaims, writer: IndexWriter, keptBlocks: number) {
    this.claims = claims;
    this.writer = writer;
    this.keptBlocks = keptBlocks;
  }

  /** Loads the records of blocks from an index that has applied the blocks up to height `bottom`. */
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
   * Whether blocks without records may have been disconnected, so that it is unknown which claims must be read again. `tip`
   * is the tip of the index.
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

  /**
   * Adds a block whose note will be written together with its claims, unless the block is already noted. Removes the notes
   * of blocks far below it.
   */
  add(block: BlockNote): void {
    if (!this.blocks.has(keyOf(block))) this.unwritten.set(keyOf(block), block);
    this.set(block);
    for (const [key, { height }] of this.blocks) {
      // The map is mostly in order of height, so the loop ends at the first block that is kept.
      if (height > block.height - KEPT_BLOCKS) break;
      this.blocks.delete(key);
    }
  }

  /** Marks the added blocks as written. Must be called after the claims and notes of these blocks were written. */
  settle(): void {
    this.unwritten.clear();
  }

  /** Removes the records of added blocks whose claims were not written. */
  giveUp(): void {
    this.forget([...this.unwritten.values()]);
    this.unwritten.clear();
  }

  forget(blocks: readonly BlockId[]): void {
    for (const block of blocks) this.blocks.delete(keyOf(block));
  }

  /** Returns the recorded blocks that are not on the active chain. */
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
   * Returns the highest active block below this height that the index has applied; null if there is none. Blocks of the new
   * branch may be noted without having been applied, so blocks above an abandoned block are excluded.
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
   * Notes the blocks of the claim index above `bottom`. Must be called before and after claims are read. Walks down to the
   * first block whose note is written, because all lower blocks have notes too, unless `bottom` was lowered (`isLower`).
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

  /** Returns the ids of the claims that the recorded blocks changed, and of the reposts of these claims. */
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
