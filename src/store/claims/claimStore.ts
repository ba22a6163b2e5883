/**
 * The claim trie in the database: connects and disconnects blocks within a row transaction, and keeps what is worth
 * keeping in memory between them. Owns no state but a bounded cache of decoded nodes, which is right whatever becomes
 * of the transaction. Queries are in `claimQueries.ts` and `proofQueries.ts`.
 */
import type { ClaimBlock, ClaimRules } from '../../claimtrie/types.js';
import type { Bytes } from '../../util/bytes.js';
import type { RowReader, RowTransaction } from '../rows.js';
import { CLAIM_PREFIX, SUMMARY_KEY } from './claimKeys.js';
import { connectClaims, type ConnectedClaims } from './connect.js';
import { disconnectClaims } from './disconnect.js';
import { NodeCache } from './nodeRow.js';
import { parseSummaryRow } from './summaryRow.js';
import { oldestKept, prunableVersions, VersionWriter, type ProofWindow } from './versions.js';
import { prefixEnd } from '../rows.js';

export type {
  ClaimBlock,
  ClaimEvent,
  ClaimKind,
  ClaimOutput,
  ClaimRules,
  ClaimSpend,
  ClaimTx,
} from '../../claimtrie/types.js';
export type { ConnectedClaims } from './connect.js';
export type { ProofWindow } from './versions.js';

/** Decoded nodes kept: the upper levels of the trie, which every block touches. About 2 KB each. */
const CACHED_NODES = 8192;

export interface ClaimStoreOptions {
  rules: ClaimRules;
  /**
   * Past blocks for which name proofs are answered. Must not change within a data folder between a number and `all`:
   * the rows are laid out differently.
   */
  proofWindow: ProofWindow;
}

export class ClaimStore {
  readonly rules: ClaimRules;
  readonly proofWindow: ProofWindow;
  private readonly cache = new NodeCache(CACHED_NODES);
  private readonly versions: VersionWriter;

  constructor({ rules, proofWindow }: ClaimStoreOptions) {
    this.rules = rules;
    this.proofWindow = proofWindow;
    this.versions = new VersionWriter(proofWindow);
  }

  /**
   * Applies the next block's claim operations to `rows`. Whether the outcome is kept is the caller's decision: it
   * commits `rows` or discards them, nothing else remembers.
   */
  connect(rows: RowTransaction, block: ClaimBlock): Promise<ConnectedClaims> {
    return connectClaims(this.rules, block, { rows, cache: this.cache, versions: this.versions });
  }

  /** Takes back the latest connected block, which has this height; answers the root before it. */
  async disconnect(rows: RowTransaction, height: number): Promise<{ root: Bytes }> {
    const deps = { rows, cache: this.cache, versions: this.versions };
    return { root: await disconnectClaims(this.rules, height, deps) };
  }

  async readRoot(rows: RowReader): Promise<Bytes> {
    return parseSummaryRow(await rows.get(SUMMARY_KEY)).root;
  }

  /**
   * Key ranges that no query within the proof window needs once block `tipHeight` is on disk; dropping them is the
   * caller's business, at any time.
   */
  prunable(tipHeight: number): { gte: string; lt: string }[] {
    const ranges: { gte: string; lt: string }[] = [];
    const versions = prunableVersions(this.proofWindow, tipHeight);
    if (versions) ranges.push(versions);
    const fork = this.rules.allClaimsForkHeight - 1;
    if (versions && oldestKept(this.proofWindow, tipHeight) >= fork) {
      const nodes = CLAIM_PREFIX.node + '0';
      ranges.push({ gte: nodes, lt: prefixEnd(nodes) });
    }
    return ranges;
  }
}
