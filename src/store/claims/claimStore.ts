/**
 * The claim trie in the database: connects and disconnects blocks within a row transaction. It caches no rows between
 * blocks, because a block changes every node that it loads. Each database may have only one `ClaimStore` at a time. Queries
 * are in `claimQueries.ts` and `proofQueries.ts`.
 */
import type { ClaimBlock, ClaimRules } from '../../claimtrie/types.js';
import { TrieCorruptionError } from '../../claimtrie/corruption.js';
import type { Bytes } from '../../util/bytes.js';
import { ReadError } from '../../util/reader.js';
import type { RowReader, RowTransaction } from '../rows/rows.js';
import { CLAIM_PREFIX, SUMMARY_KEY } from './rows/claimKeys.js';
import { checkBeforeVerdict, checkTrie, repairTrie, type TrieTip } from './claimCheck.js';
import { connectClaims, type ConnectedClaims } from './connect.js';
import { disconnectClaims } from './disconnect.js';
import { differencesBefore, type LbcdDifference } from './lbcd/lbcdDifferences.js';
import { parseSummaryRow } from './rows/summaryRow.js';
import { epochStart, firstEpoch, versionsOf, VersionWriter, type ProofWindow } from './versions.js';
import { prefixEnd } from '../rows/rows.js';
import { IdleNames } from './idleNames.js';
import { LateReads, type LateRow } from './lateReads.js';
import { connectOrdinary, type OrdinaryBlock } from './ordinaryBlock.js';
import type { WorkStoreDeps } from './workStore.js';

export type {
  ClaimBlock,
  ClaimEvent,
  ClaimEntryKind,
  ClaimOutput,
  ClaimRules,
  ClaimSpend,
  ClaimTx,
} from '../../claimtrie/types.js';
export type { OrdinaryBlock } from './ordinaryBlock.js';
export type {
  TrieChanges,
  ClaimReport,
  ConnectedClaims,
  LoggedEvent,
  NamesAfter,
  StateAfter,
} from './connect.js';
export type { LbcdDifference } from './lbcd/lbcdDifferences.js';
export { checkTakenBack } from './claimCheck.js';
export type { TrieTip } from './claimCheck.js';
export type { ProofWindow } from './versions.js';

export interface ClaimStoreOptions {
  rules: ClaimRules;
  /**
   * Number of past blocks for which name proofs are available. A data folder must not change between a number and `all`,
   * because the rows have different layouts.
   */
  proofWindow: ProofWindow;
  /** Called when a row is read for the first time that was not prefetched. */
  onLateRead?: (row: LateRow) => void;
  /** Selects which rows are prefetched; if absent, all are. Tests leave some rows out. */
  fetches?: WorkStoreDeps['fetches'];
}

export class ClaimStore {
  readonly rules: ClaimRules;
  readonly proofWindow: ProofWindow;
  private readonly versions: VersionWriter;
  private readonly idle = new IdleNames();
  readonly lateReads: LateReads;
  private readonly fetches: WorkStoreDeps['fetches'];
  /**
   * What `prunable` has already returned: the epochs of node history below `namedEpochs`, and whether the nodes of the old
   * hash form were returned.
   */
  private namedEpochs = 0;
  private namedOldForm = false;

  constructor({ rules, proofWindow, onLateRead, fetches }: ClaimStoreOptions) {
    this.fetches = fetches;
    this.rules = rules;
    this.proofWindow = proofWindow;
    this.versions = new VersionWriter(proofWindow);
    this.lateReads = new LateReads(onLateRead);
  }

  /**
   * Applies the next block's claim operations to `rows`. The caller commits or discards `rows`; the store has no other state
   * to undo. Throws `ClaimCorruptionError` if rows are missing or corrupt, and `TrieCorruptionError` if `repair` can rebuild
   * them. `disconnect` throws the same errors. After an error `rows` must be discarded.
   */
  async connect(rows: RowTransaction, block: ClaimBlock): Promise<ConnectedClaims> {
    const deps = await this.deps(rows);
    return readable(() => connectClaims(this.rules, block, deps));
  }

  /**
   * Like `connect`, but only for ordinary blocks and synchronous. The rows are written by `OrdinaryBlock.write`. `describes`: the
   * result must have the changes. Returns null if `connect` must be called.
   */
  connectOrdinary(
    rows: RowTransaction,
    height: number,
    operations: () => Buffer,
    describes = false,
  ): OrdinaryBlock | null {
    const { rules, versions, idle } = this;
    return connectOrdinary(rows, height, operations, describes, { rules, versions, idle });
  }

  /** Disconnects the latest connected block, which must be at `height`. Returns the root before that block. */
  async disconnect(rows: RowTransaction, height: number): Promise<{ root: Bytes }> {
    const deps = await this.deps(rows);
    return { root: await readable(() => disconnectClaims(this.rules, height, deps)) };
  }

  /** See `checkBeforeVerdict`. */
  async checkBeforeVerdict(rows: RowReader, tip: TrieTip, block: ClaimBlock): Promise<void> {
    await this.idle.load(rows);
    await checkBeforeVerdict(rows, this.rules, this.idle, tip, block);
  }

  /**
   * Checks all rows of the trie. Throws `TrieCorruptionError` if `repair` can rebuild the corrupt rows, and
   * `ClaimCorruptionError` if names are missing. Reads the rows of all names.
   */
  async checkTrie(rows: RowReader, tip: TrieTip): Promise<void> {
    await this.idle.load(rows);
    await checkTrie(rows, this.rules, this.idle, tip);
  }

  /** See `repairTrie`. */
  async repair(rows: RowTransaction, tip: TrieTip): Promise<void> {
    await this.idle.load(rows);
    await repairTrie(rows, this.rules, this.idle, tip);
  }

  /** Blocks below `height` with claims or supports that lbcd stores differently. */
  differencesBefore(rows: RowReader, height: number): Promise<LbcdDifference[]> {
    return differencesBefore(rows, this.rules, height);
  }

  private async deps(rows: RowTransaction): Promise<WorkStoreDeps> {
    await this.idle.load(rows);
    const { versions, idle, lateReads, fetches } = this;
    return { rows, versions, idle, lateReads, fetches };
  }

  async readRoot(rows: RowReader): Promise<Bytes> {
    return parseSummaryRow(await rows.get(SUMMARY_KEY)).root;
  }

  /**
   * Key ranges that no query within the proof window needs once block `tipHeight` is on disk. The caller deletes the rows of
   * these ranges. Each range is returned once, because scanning an emptied range is slow. After a reorg below a range it is
   * returned once more.
   */
  prunable(tipHeight: number): { gte: string; lt: string }[] {
    const ranges: { gte: string; lt: string }[] = [];
    const first = firstEpoch(this.proofWindow, tipHeight);
    if (this.namedEpochs < first) ranges.push(versionsOf(this.namedEpochs, first));
    this.namedEpochs = first;
    const oldForm = first === 0 || epochStart(first) < this.rules.allClaimsForkHeight - 1;
    if (!oldForm && !this.namedOldForm) {
      const nodes = CLAIM_PREFIX.node + '0';
      ranges.push({ gte: nodes, lt: prefixEnd(nodes) });
    }
    this.namedOldForm = !oldForm;
    return ranges;
  }
}

/** Runs `step`. Reports an unreadable row as `TrieCorruptionError`, because the row may be one that can be rebuilt. */
async function readable<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw error instanceof ReadError ? new TrieCorruptionError(error.message) : error;
  }
}
