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
import type { ConnectedClaims, ProofWindow } from '../../store/claims/claimStore.js';
import { RecordWriter } from '../../store/rows/rowRecords.js';
import type { RowTransaction } from '../../store/rows/rows.js';
import type { ChainIndex } from '../chainIndex.js';
import { writeChanges, writeTrending, type NotedChanges, type NotedTrending } from './blockChanges.js';
import { itemsOfLog, readBlockItems, type BlockItems } from './blockItems.js';
import { BlockWork } from './blockWork.js';
import {
  changesKey,
  claimKey,
  endedKey,
  PAST_KEY,
  seriesKey,
  trendingKey,
  undoKey,
} from './claimIndexKeys.js';
import { formatEndedRow, formatSeriesRow } from './claimPast.js';
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
    claims?: ConnectedClaims,
  ): Promise<void> {
    const { params, rules, window } = this.options;
    // The cached height is deleted when a rebuild starts, because after a reorg the rebuilt index may store undo rows of
    // lower blocks than before.
    if (height === 0) {
      this.keptFrom = null;
      this.chunks.clear();
    }
    const tipHeight = Math.max(height, this.options.tipHeight());
    const keepsUndo = window === 'all' || height > tipHeight - window;
    const items = claims?.log ? itemsOfLog(claims.log) : await readBlockItems(rows, height);
    const noted = new NotedRows(rows, this.records);
    const isPresent = height === tipHeight;
    const deps = { params, rules, rows, isPresent, names: claims?.names ?? null, noted };
    const work = didNothing(items) ? null : new BlockWork(deps, block, height, items);
    const { changes, trending } = work === null ? NOTHING : await work.run();
    const fleeting = claims?.fleeting ?? (await fleetingClaims(rows, block, height));
    if (fleeting.length > 0) await noteFleetingEnds(noted, fleeting);
    await noted.complete();
    // A rebuild after a loss of the index continues from a much lower height, so the lowest height with undo rows may
    // decrease.
    if (keepsUndo && this.keptFrom !== null) this.keptFrom = Math.min(this.keptFrom, height);
    const dropped = window === 'all' ? [] : await this.behind(rows, height - window);
    // The numbers of names and claims after the block. For a block far behind the tip these numbers are not available.
    // `pastWalk.ts` computes the rows of all past blocks later.
    const totals = isPresent ? parseSummaryRow(rows.getBlocking(SUMMARY_KEY)).totals : null;
    const out = new PackedRows(rows, this.records);
    for (const key of dropped) out.del(key);
    const changeRows = keepsUndo ? await writeChanges(out, height, changes) : 0;
    if (trending.length > 0) await writeTrending(out, height, trending);
    const undoRows = await noted.finish(out, keepsUndo ? height : null);
    if (keepsUndo && window !== 'all') this.chunks.set(height, { undoRows, changeRows });
    if (totals === null) out.del(PAST_KEY);
    else out.put(seriesKey(height), formatSeriesRow(totals));
    out.handOn();
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

/**
 * Writes the rows of claims whose last output was created and spent by this block. Must be called after the block's work on the
 * claims.
 */
async function noteFleetingEnds(noted: NotedRows, fleeting: readonly FleetingClaim[]): Promise<void> {
  await noted.load(fleeting.flatMap(({ claimId }) => [claimKey(claimId), endedKey(claimId)]));
  for (const claim of fleeting)
    if (noted.get(claimKey(claim.claimId)) === null)
      noted.set(endedKey(claim.claimId), formatEndedRow(claim));
}

/** Result for a block without changes of claims, the most frequent case while the chain is little used. */
const NOTHING: { changes: NotedChanges; trending: NotedTrending[] } = {
  changes: { touched: [], rewritten: [], deleted: [], takeovers: [], signed: [] },
  trending: [],
};

function didNothing({ created, removed, activated, takeovers }: BlockItems): boolean {
  return created.length + removed.length + activated.length + takeovers.length === 0;
}

/** Creates the claim index as an argument for `TrackedIndex`. */
export function claimIndex(options: ClaimIndexOptions): ChainIndex {
  return new ClaimIndex(options);
}
