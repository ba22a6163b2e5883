/**
 * An index over the blocks of the active chain, and how far it has come. Its rows are written with its position in one
 * commit, so that they always belong to one block, which may be behind the tip: then it is filled in the background
 * (`backgroundFill.ts`). Once it has reached the tip it moves with it.
 */
import {
  formatIndexPosition,
  indexPositionKey,
  type BegunBlock,
  type BlockContributor,
  type OpenedContributor,
} from '../chain/connect/contributor.js';
import type { LoadedBlock } from '../chain/blocks/loadedBlock.js';
import type { ResolvedInputs } from '../native/binding.js';
import type { ConnectedClaims } from '../store/claims/claimStore.js';
import type { RowStore } from '../store/rows/rowStore.js';
import { prefixEnd, type RowTransaction } from '../store/rows/rows.js';
import { equalBytes, type Bytes } from '../util/bytes.js';

/** What an index is: its rows, and what a block does to them. Blocks come in the order of one branch, each once. */
export interface ChainIndex extends BlockContributor {
  /** Name in `getindexinfo`. */
  readonly name: string;
  /** 1 to 255; raised when rows change their meaning, so that they are dropped and rebuilt. */
  readonly version: number;
  /** Prefixes of its rows; other indexes must not use them. */
  readonly prefixes: readonly string[];
  /** Whether the block of this height, its last one, can be disconnected; absent when any can. */
  canTakeBack?(rows: RowTransaction, height: number): Promise<boolean>;
}

/** How far an index is. */
export interface IndexStatus {
  readonly name: string;
  /** Whether it is at the tip, where it stays. */
  readonly synced: boolean;
  /** Height of the last block in it; 0 when there is none. */
  readonly height: number;
  /** Reason why the fill has stopped; null while it runs. */
  readonly failure: string | null;
}

const HASH_BYTES = 32;
/** Value in place of the id if the index has no block. */
const NO_BLOCK = Buffer.alloc(HASH_BYTES);
/** Value in place of the version while the rows are being dropped. */
const DROPPING = 0;
/** Rows that are dropped in one go, which the chain waits for. Arbitrary: some hundredths of a second. */
const DROPPED_AT_ONCE = 5000;

/** An index with its position. The chain calls it for every block, and it takes those that follow its own. */
export class TrackedIndex implements OpenedContributor {
  readonly index: ChainIndex;
  private last: Bytes = NO_BLOCK;
  /** Rows below this key have been dropped already. */
  private droppedTo: string | null = null;
  /** Set once, when it has reached the tip. */
  synced = false;
  failure: string | null = null;
  /** Its rows lead back no further and mean nothing: they are to be dropped, and rebuilt. */
  isLost = false;
  /** Called when that has come about, within the chain's change that brought it. */
  onLost: () => void = () => undefined;

  constructor(index: ChainIndex) {
    this.index = index;
  }

  /** Id of the last block in it, in wire order; null before the first. */
  get lastBlock(): Bytes | null {
    return equalBytes(this.last, NO_BLOCK) ? null : this.last;
  }

  async open(store: RowStore): Promise<void> {
    const row = await store.get(indexPositionKey(this.index.name));
    if (row === undefined) return;
    if (row.length !== 1 + HASH_BYTES || row[0] !== this.index.version)
      await this.drop(store, () => store.flush());
    else this.last = Buffer.from(row.subarray(1));
  }

  /** Forgets every row. A kill meanwhile is made good by `open`. */
  async drop(store: RowStore, flush: () => Promise<void>): Promise<void> {
    while (!(await this.dropSome(store, flush)));
  }

  /** Forgets some rows; answers whether none are left. No block is written in between. */
  async dropSome(store: RowStore, flush: () => Promise<void>): Promise<boolean> {
    if (this.droppedTo === null) {
      this.last = NO_BLOCK;
      this.synced = false;
      this.isLost = true;
      this.writePosition(store, DROPPING);
      await flush();
      this.droppedTo = '';
    }
    for (const prefix of [...this.index.prefixes].sort()) {
      const [gte, lt] = [this.droppedTo > prefix ? this.droppedTo : prefix, prefixEnd(prefix)];
      if (gte >= lt) continue;
      const rows = await store.getRange({ gte, lt, limit: DROPPED_AT_ONCE });
      if (rows.length === 0) continue;
      this.droppedTo = `${rows.at(-1)![0]}\0`;
      await store.dropRange(rows[0]![0], this.droppedTo);
      return false;
    }
    for (const prefix of this.index.prefixes) store.packRange(prefix, prefixEnd(prefix));
    this.writePosition(store, this.index.version);
    await flush();
    this.droppedTo = null;
    this.isLost = false;
    return true;
  }

  /** Whether the block with this parent (wire order) is the next one for it. */
  follows(parentHash: Bytes): boolean {
    return !this.isLost && equalBytes(this.last, parentHash);
  }

  begin(
    rows: RowTransaction,
    block: LoadedBlock,
    height: number,
    resolved: ResolvedInputs,
  ): BegunBlock | null {
    if (!this.follows(block.header.prevHash)) return null;
    const begun = this.index.begin?.(rows, block, height, resolved) ?? null;
    if (begun === null) return null;
    return {
      settled: begun.settled,
      finish: async (claims) => {
        await begun.finish(claims);
        this.moveTo(rows, block.hash);
      },
    };
  }

  async connect(
    rows: RowTransaction,
    block: LoadedBlock,
    height: number,
    resolved: ResolvedInputs,
    claims?: ConnectedClaims,
  ): Promise<void> {
    if (!this.follows(block.header.prevHash)) return;
    await this.index.connect(rows, block, height, resolved, claims);
    this.moveTo(rows, block.hash);
  }

  private moveTo(rows: RowTransaction, hash: Bytes): void {
    this.last = Buffer.from(hash);
    this.writePosition(rows, this.index.version);
  }

  async disconnect(rows: RowTransaction, block: LoadedBlock, height: number, undo: Buffer): Promise<void> {
    if (!equalBytes(this.last, block.hash)) return;
    if ((await this.index.canTakeBack?.(rows, height)) === false) {
      this.lose(rows);
      return;
    }
    await this.index.disconnect(rows, block, height, undo);
    this.moveTo(rows, block.header.prevHash);
  }

  /** Leaves the rows to be dropped outside of any block's commit; a start that finds them so drops them itself. */
  private lose(rows: RowTransaction): void {
    this.last = NO_BLOCK;
    this.synced = false;
    this.isLost = true;
    this.writePosition(rows, DROPPING);
    this.onLost();
  }

  private writePosition(rows: Pick<RowTransaction, 'put'>, version: number): void {
    rows.put(indexPositionKey(this.index.name), formatIndexPosition(version, this.last));
  }
}
