/**
 * The claim index (`-claimindex`): data about claims that wallets need and consensus does not store. It has claims by id,
 * the claims of a name by age, the claims of a channel, reposts, sums and counts, and the changes of each block. Once the
 * index is filled up to the tip, its rows are written in the commit of each block, and reverted when the block is
 * disconnected. Its rows have the prefix `L`. The effects of a block on claims are stored permanently in the log of the
 * claim trie (`blockItems.ts`), so an index that is filled for old blocks gets the same data as at the tip. The log of a
 * disconnected block is deleted, so the index stores undo rows. They cover as many blocks as name proofs do. A deeper reorg
 * rebuilds the index.
 */
import type { LoadedBlock } from '../../chain/blocks/loadedBlock.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import type { ResolvedInputs } from '../../native/binding.js';
import type { NetworkParams } from '../../params/network.js';
import { PREFIX } from '../../store/rows/keys.js';
import { SUMMARY_KEY } from '../../store/claims/rows/claimKeys.js';
import { parseSummaryRow } from '../../store/claims/rows/summaryRow.js';
import { readFleetingItems, type FleetingClaim } from '../../store/claims/lbcd/lbcdFleeting.js';
import type { TrieChanges, ProofWindow } from '../../store/claims/claimStore.js';
import { RecordWriter } from '../../store/rows/rowRecords.js';
import type { RowTransaction } from '../../store/rows/rows.js';
import { whenResolved, type MaybePromise } from '../../util/maybePromise.js';
import type { BlockBatch, ChainIndex } from '../chainIndex.js';
import { writeChanges, writeTrending } from './blockChanges.js';
import type { WorkBlock } from './blockEvents.js';
import { itemsOfLog, readBlockItems, type BlockItems } from './blockItems.js';
import { BlockWork, type WorkedBlock } from './blockWork.js';
import { changesKey, PAST_KEY, seriesKey, trendingKey, undoKey } from './claimIndexKeys.js';
import { formatSeriesRow, type SeriesEntry } from './claimPast.js';
import {
  canTakeBack,
  countChunks,
  dropChunks,
  firstUndoHeight,
  NotedRows,
  PackedRows,
  takeBack,
} from './notedRows.js';

/** Name of the index in `getindexinfo`. */
export const CLAIM_INDEX_NAME = 'claimindex';
/**
 * Version of the rows. Version 2 introduced rows that list claims under the keys that signed them; version 3 does the same
 * for supports.
 */
export const CLAIM_INDEX_VERSION = 3;
/** Maximum number of blocks whose undo rows are deleted while one block is connected. Arbitrary. */
const DROPPED_AT_ONCE = 20;
/**
 * Numbers of blocks, and of created and removed items (claims and supports), above which no further block is added to a batch.
 * Arbitrary: the rows of a batch are computed within some milliseconds.
 */
const BATCH_BLOCKS = 64;
const BATCH_ITEMS = 250;

export interface ClaimIndexOptions {
  readonly params: Pick<NetworkParams, 'base58'>;
  readonly rules: ClaimRules;
  /** Number of the latest blocks for which undo rows are stored. */
  readonly window: ProofWindow;
  /** Height of the chain's tip. While a block is being connected, this is the height of its parent. */
  readonly tipHeight: () => number;
}

class ClaimIndex implements ChainIndex {
  readonly name = CLAIM_INDEX_NAME;
  readonly version = CLAIM_INDEX_VERSION;
  readonly prefixes = [PREFIX.claimIndex];
  readonly usesClaims = true;
  private readonly options: ClaimIndexOptions;
  private readonly records = new RecordWriter();
  /** Lowest height for which undo rows are stored; null until this process has handled its first block. */
  private keptFrom: number | null = null;
  /**
   * Numbers of undo rows and of rows with changes, by height, for the blocks of the window that this process has connected.
   * With these numbers the rows are deleted later without being read.
   */
  private readonly chunks = new Map<number, BlockChunks>();

  constructor(options: ClaimIndexOptions) {
    this.options = options;
  }

  async connect(
    rows: RowTransaction,
    block: LoadedBlock,
    height: number,
    _resolved: ResolvedInputs,
    claims?: TrieChanges,
  ): Promise<void> {
    await this.connectAll(rows, [await this.collect(rows, block, height, claims)]);
  }

  startBatch(): BlockBatch {
    return new ClaimBatch(this);
  }

  /** Collects what the index needs to know about a block. `rows` must be those immediately after the block or a later one. */
  collect(
    rows: RowTransaction,
    block: LoadedBlock,
    height: number,
    claims?: TrieChanges,
  ): MaybePromise<CollectedBlock> {
    if (claims?.log) return this.collected(rows, block, height, itemsOfLog(claims.log), claims);
    return this.read(rows, block, height, claims);
  }

  private async read(
    rows: RowTransaction,
    block: LoadedBlock,
    height: number,
    claims?: TrieChanges,
  ): Promise<CollectedBlock> {
    const items = await readBlockItems(rows, height);
    const known = claims ?? { names: null, fleeting: await fleetingClaims(rows, block, height) };
    return this.collected(rows, block, height, items, known);
  }

  private collected(
    rows: RowTransaction,
    block: LoadedBlock,
    height: number,
    items: BlockItems,
    { names, fleeting, totals }: Pick<WorkBlock, 'names' | 'fleeting'> & Partial<Pick<TrieChanges, 'totals'>>,
  ): CollectedBlock {
    const tipHeight = Math.max(height, this.options.tipHeight());
    const { window } = this.options;
    const isPresent = height === tipHeight;
    return {
      block,
      height,
      items,
      isPresent,
      names,
      fleeting,
      keepsUndo: window === 'all' || height > tipHeight - window,
      // The numbers of names and claims after the block. For a block far behind the tip these numbers are not available.
      // `pastWalk.ts` computes the rows of all past blocks later.
      totals: totals ?? (isPresent ? parseSummaryRow(rows.getBlocking(SUMMARY_KEY)).totals : null),
    };
  }

  /** Adds the rows of consecutive blocks. */
  async connectAll(rows: RowTransaction, collected: readonly CollectedBlock[]): Promise<void> {
    const { params, rules, window } = this.options;
    const { height: lastHeight } = collected.at(-1)!;
    const blocks = collected.map((one) => {
      if (one.height === lastHeight) return one;
      // The rows are those after the last block. Undo rows that the last block would delete are not written.
      const keepsUndo = one.keepsUndo && (window === 'all' || one.height > lastHeight - window);
      return { ...one, isPresent: false, keepsUndo };
    });
    // The cached height is deleted when a rebuild starts, because after a reorg the rebuilt index may store undo rows of
    // lower blocks than before.
    if (blocks[0]!.height === 0) {
      this.keptFrom = null;
      this.chunks.clear();
    }
    const noted = new NotedRows(rows, this.records);
    const worked = await new BlockWork({ params, rules, rows, noted }, blocks).run();
    const dropped: string[] = [];
    for (const { height, keepsUndo } of blocks) {
      // A rebuild after a loss of the index continues from a much lower height, so the lowest height with undo rows may
      // decrease.
      if (keepsUndo && this.keptFrom !== null) this.keptFrom = Math.min(this.keptFrom, height);
      if (window !== 'all') dropped.push(...(await this.behind(rows, height - window)));
    }
    const out = new PackedRows(rows, this.records);
    for (const key of dropped) out.del(key);
    for (const [i, block] of blocks.entries()) await this.write(out, block, worked[i]!);
    await noted.finish(out);
    out.handOn();
  }

  /** Writes the rows that belong to one block. */
  private async write(
    out: PackedRows,
    { height, totals }: CollectedBlock,
    { changes, trending, undo }: WorkedBlock,
  ): Promise<void> {
    if (trending.length > 0) await writeTrending(out, height, trending);
    if (totals === null) out.del(PAST_KEY);
    else out.put(seriesKey(height), formatSeriesRow(totals));
    if (undo === null) return;
    const changeRows = await writeChanges(out, height, changes);
    for (const [chunk, row] of undo.entries()) {
      out.put(undoKey(height, chunk), row);
      await out.relieve();
    }
    if (this.options.window !== 'all') this.chunks.set(height, { undoRows: undo.length, changeRows });
  }

  canTakeBack(rows: RowTransaction, height: number): Promise<boolean> {
    return canTakeBack(rows, height);
  }

  async disconnect(rows: RowTransaction, _block: LoadedBlock, height: number): Promise<void> {
    await takeBack(rows, height);
    await dropChunks(rows, (chunk) => changesKey(height, chunk));
    await dropChunks(rows, (chunk) => trendingKey(height, chunk));
    rows.del(seriesKey(height));
    this.chunks.delete(height);
  }

  /** Returns keys of undo rows and rows with changes that are not needed any more: those of blocks up to this height. */
  private async behind(rows: RowTransaction, height: number): Promise<string[]> {
    // The lowest height is searched only once per start of the process, because a later search would have to skip all
    // deleted rows.
    this.keptFrom ??= (await firstUndoHeight(rows)) ?? height + 1;
    const keys: string[] = [];
    for (let count = 0; this.keptFrom <= height && count < DROPPED_AT_ONCE; count++) {
      const at = this.keptFrom++;
      const { undoRows, changeRows } = this.chunks.get(at) ?? (await countRows(rows, at));
      this.chunks.delete(at);
      for (let chunk = 0; chunk < undoRows; chunk++) keys.push(undoKey(at, chunk));
      for (let chunk = 0; chunk < changeRows; chunk++) keys.push(changesKey(at, chunk));
    }
    return keys;
  }
}

/** Consecutive blocks whose rows are added together. */
class ClaimBatch implements BlockBatch {
  private readonly index: ClaimIndex;
  private readonly blocks: CollectedBlock[] = [];
  private items = 0;

  constructor(index: ClaimIndex) {
    this.index = index;
  }

  get isFull(): boolean {
    return this.blocks.length >= BATCH_BLOCKS || this.items >= BATCH_ITEMS;
  }

  add(
    rows: RowTransaction,
    block: LoadedBlock,
    height: number,
    _resolved: ResolvedInputs,
    claims?: TrieChanges,
  ): MaybePromise<void> {
    return whenResolved(this.index.collect(rows, block, height, claims), (one) => {
      this.blocks.push(one);
      this.items += itemCount(one);
    });
  }

  drop(): void {
    this.items -= itemCount(this.blocks.pop()!);
  }

  finish(rows: RowTransaction): Promise<void> {
    return this.index.connectAll(rows, this.blocks);
  }
}

function itemCount({ items: { created, removed } }: CollectedBlock): number {
  return created.length + removed.length;
}

/** A block, and the numbers of names and claims after it; null if they are not known. */
interface CollectedBlock extends WorkBlock {
  readonly totals: SeriesEntry | null;
}

/** Number of undo rows of a block, and of rows with its changes. */
interface BlockChunks {
  readonly undoRows: number;
  readonly changeRows: number;
}

async function countRows(rows: RowTransaction, height: number): Promise<BlockChunks> {
  return {
    undoRows: await countChunks(rows, (chunk) => undoKey(height, chunk)),
    changeRows: await countChunks(rows, (chunk) => changesKey(height, chunk)),
  };
}

/** The claims and updates that a block created and spent, read from rows. */
async function fleetingClaims(
  rows: RowTransaction,
  { parsed }: LoadedBlock,
  height: number,
): Promise<readonly FleetingClaim[]> {
  // The block needs a coinbase, a transaction that creates the output, and one that spends it.
  if (parsed.txCount < 3) return [];
  return (await readFleetingItems(rows, height)).filter(({ kind }) => kind !== 'support');
}

/** Creates the claim index as an argument for `TrackedIndex`. */
export function claimIndex(options: ClaimIndexOptions): ChainIndex {
  return new ClaimIndex(options);
}
