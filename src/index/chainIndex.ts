/**
 * An index over the blocks of the active chain, and its position. The rows and the position are written in one commit, so
 * the rows always match the block of the position. An index behind the tip is filled in the background
 * (`backgroundFill.ts`). An index at the tip is updated with every block.
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
import type { TrieChanges } from '../store/claims/claimStore.js';
import type { RowStore } from '../store/rows/rowStore.js';
import { prefixEnd, type RowTransaction } from '../store/rows/rows.js';
import { equalBytes, type Bytes } from '../util/bytes.js';
import { whenResolved, type MaybePromise } from '../util/maybePromise.js';

/**
 * Implementation of an index: its rows, and the changes that a block makes to them. Blocks are connected in the order of one
 * branch, each once.
 */
export interface ChainIndex extends BlockContributor {
  /** Name of the index in `getindexinfo`. */
  readonly name: string;
  /** Version of the rows, from 1 to 255. If the version on disk differs, the rows are deleted and built again. */
  readonly version: number;
  /** Prefixes of the index's rows. Other indexes must not use them. */
  readonly prefixes: readonly string[];
  /**
   * Whether the last block of the index, at `height`, can be disconnected. If the function is absent, every block
   * can.
   */
  canTakeBack?(rows: RowTransaction, height: number): Promise<boolean>;
  /** Starts a batch of blocks whose rows are added together. Absent if the index adds the rows of each block alone. */
  startBatch?(): BlockBatch;
}

/** Consecutive blocks whose rows are added together. */
export interface BlockBatch {
  /** Whether so many blocks wait that their rows should be added. */
  readonly isFull: boolean;
  /** Adds a block, with the arguments of `connect`. `rows` must be those after the block or a later one. */
  add(
    rows: RowTransaction,
    block: LoadedBlock,
    height: number,
    resolved: ResolvedInputs,
    claims?: TrieChanges,
  ): MaybePromise<void>;
  /** Removes the last block. */
  drop(): void;
  /** Adds the rows of all blocks. The batch must not be used afterwards. */
  finish(rows: RowTransaction): Promise<void>;
}

/** Status of an index, as `getindexinfo` shows it. */
export interface IndexStatus {
  readonly name: string;
  /** Whether the index has reached the tip and is updated with every block. */
  readonly synced: boolean;
  /** Height of the last block in the index; 0 if it has none. */
  readonly height: number;
  /** Reason why the fill of the index has stopped; null while it continues. */
  readonly failure: string | null;
  /** Whether `failure` only says what the index waits for, because the node was started from a snapshot. */
  readonly isWaiting?: boolean;
}

const HASH_BYTES = 32;
/** Block id that stands for "no block" in the position of an index. */
const NO_BLOCK = Buffer.alloc(HASH_BYTES);
/** Version in the position row of an index while the rows of the index are being deleted. */
const DROPPING = 0;
/**
 * Number of rows that are deleted in one step, during which the chain cannot change. Arbitrary: takes some hundredths of a
 * second.
 */
const DROPPED_AT_ONCE = 5000;
/** A batch starts with a block only if at least this number of blocks follow it. Arbitrary: fewer blocks gain little. */
const LEAST_BATCH = 16;

/**
 * An index together with its position. The chain calls it for every block; a block that does not follow the position is
 * ignored.
 */
export class TrackedIndex implements OpenedContributor {
  readonly index: ChainIndex;
  private readonly positionKey: string;
  private last: Bytes = NO_BLOCK;
  /** Key below which all rows have been deleted; null if the rows are not being deleted. */
  private droppedTo: string | null = null;
  /** Blocks above `last` whose rows are not added yet; null if there are none. */
  private batch: BlockBatch | null = null;
  /** Ids of the blocks of the batch, in wire order. */
  private waiting: Bytes[] = [];
  /** Whether the last connected block did not follow the position. */
  private isBehind = false;
  /** Whether many further blocks follow the last one. */
  private isInRun = false;
  /** Whether the index has reached the tip. Blocks may wait in a batch. */
  synced = false;
  failure: string | null = null;
  /**
   * True after the last block could not be disconnected. In this case the rows are invalid and must be deleted and built
   * again.
   */
  isLost = false;
  /** Called when `isLost` becomes true, within the change of the chain that caused it. */
  onLost: () => void = () => undefined;

  constructor(index: ChainIndex) {
    this.index = index;
    this.positionKey = indexPositionKey(index.name);
  }

  /** Whether `connect` needs the changes of the claim trie. An index that is behind ignores the block. */
  get usesClaims(): boolean {
    return this.index.usesClaims === true && !this.isBehind;
  }

  /** Id of the last block in the index, in wire order; null if it has none. */
  get lastBlock(): Bytes | null {
    return equalBytes(this.last, NO_BLOCK) ? null : this.last;
  }

  /** Whether blocks wait in a batch. Until its rows are added, the rows of the index do not belong to the tip. */
  get isWaiting(): boolean {
    return this.batch !== null;
  }

  /**
   * Whether readers may use the rows: the index is at the tip, and no run of blocks is being added in batches.
   */
  get isReadable(): boolean {
    return this.synced && !this.isInRun && this.batch === null;
  }

  endRun(): void {
    this.isInRun = false;
  }

  async open(store: RowStore): Promise<void> {
    const row = await store.get(this.positionKey);
    if (row === undefined) return;
    if (row.length !== 1 + HASH_BYTES || row[0] !== this.index.version)
      await this.drop(store, () => store.flush());
    else this.last = Buffer.from(row.subarray(1));
  }

  /** Deletes all rows of the index. If the process is killed during the deletion, `open` continues it. */
  async drop(store: RowStore, flush: () => Promise<void>): Promise<void> {
    while (!(await this.dropSome(store, flush)));
  }

  /** Deletes some rows of the index. Returns true when all rows are deleted. Until then the index ignores all blocks. */
  async dropSome(store: RowStore, flush: () => Promise<void>): Promise<boolean> {
    if (this.droppedTo === null) {
      this.last = NO_BLOCK;
      this.forgetBatch();
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

  /** Whether a block whose parent has this id (wire order) is the next block for the index. */
  follows(parentHash: Bytes): boolean {
    return !this.isLost && equalBytes(this.waiting.at(-1) ?? this.last, parentHash);
  }

  begin(
    rows: RowTransaction,
    block: LoadedBlock,
    height: number,
    resolved: ResolvedInputs,
  ): BegunBlock | null {
    if (this.isWaiting || !this.follows(block.header.prevHash)) return null;
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

  connect(
    rows: RowTransaction,
    block: LoadedBlock,
    height: number,
    resolved: ResolvedInputs,
    claims?: TrieChanges,
    ahead = 0,
  ): MaybePromise<void> {
    this.isBehind = !this.follows(block.header.prevHash);
    if (this.isBehind) return;
    if (this.batch === null && ahead >= LEAST_BATCH) this.batch = this.index.startBatch?.() ?? null;
    const { batch } = this;
    this.isInRun = batch !== null && ahead > 0;
    if (batch === null) {
      const connected = this.index.connect(rows, block, height, resolved, claims);
      return connected ? connected.then(() => this.moveTo(rows, block.hash)) : this.moveTo(rows, block.hash);
    }
    return whenResolved(batch.add(rows, block, height, resolved, claims), () => {
      this.waiting.push(Buffer.from(block.hash));
      return ahead === 0 || batch.isFull ? this.settle(rows) : undefined;
    });
  }

  /** Adds the rows of the blocks that wait in a batch. */
  async settle(rows: RowTransaction): Promise<void> {
    const { batch, waiting } = this;
    if (batch === null) return;
    await batch.finish(rows);
    this.forgetBatch();
    this.moveTo(rows, waiting.at(-1)!);
  }

  private forgetBatch(): void {
    this.batch = null;
    this.waiting = [];
  }

  private moveTo(rows: RowTransaction, hash: Bytes): void {
    this.last = Buffer.from(hash);
    this.writePosition(rows, this.index.version);
  }

  async disconnect(rows: RowTransaction, block: LoadedBlock, height: number, undo: Buffer): Promise<void> {
    if (this.batch !== null && equalBytes(this.waiting.at(-1)!, block.hash)) {
      this.batch.drop();
      this.waiting.pop();
      if (this.waiting.length === 0) this.forgetBatch();
      return;
    }
    if (!equalBytes(this.last, block.hash)) return;
    if ((await this.index.canTakeBack?.(rows, height)) === false) {
      this.lose(rows);
      return;
    }
    await this.index.disconnect(rows, block, height, undo);
    this.moveTo(rows, block.header.prevHash);
  }

  /** Marks the rows as invalid. They are deleted later, at the latest at the next start, and not in the commit of a block. */
  private lose(rows: RowTransaction): void {
    this.last = NO_BLOCK;
    this.synced = false;
    this.isLost = true;
    this.writePosition(rows, DROPPING);
    this.onLost();
  }

  private writePosition(rows: Pick<RowTransaction, 'put'>, version: number): void {
    rows.put(this.positionKey, formatIndexPosition(version, this.last));
  }
}
