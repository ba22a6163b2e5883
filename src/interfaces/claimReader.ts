/**
 * Queries of the claim trie for RPC methods, for the state after any block of the active chain. Names, ids and txids are raw
 * bytes in wire order; formatters convert them to text. A result belongs to the requested block, even if more blocks are
 * connected during the query. The caller must detect a reorg that disconnects the requested block
 * (`rpc/methods/claimtrie/atBlock.ts`).
 */
import { type Foreseen } from '../claimtrie/forecast.js';
import type { NameProof } from '../claimtrie/proof.js';
import type { ClaimBlock, ClaimEvent, ClaimRules } from '../claimtrie/types.js';
import {
  type BlockChanges,
  type ClaimLocation,
  type NameInfo,
  type NameQuery,
} from '../store/claims/query/claimQueries.js';
import { type BidsOfName, type BidsPage } from '../store/claims/query/nameTimeline.js';
import { type ListedName } from '../store/claims/query/nameList.js';
import {
  type LatestHistoryPage,
  type LatestHistoryQuery,
  type NameHistoryPage,
  type NameHistoryQuery,
} from '../store/claims/query/nameHistory.js';
import { type NewestPage, type NewestPlace } from '../store/claims/query/newestClaims.js';
import { type UpcomingPage, type UpcomingQuery } from '../store/claims/query/upcoming.js';
import { type ProofQuery } from '../store/claims/query/proofQueries.js';
import { type ClaimChoice, type ClaimOfName } from '../store/claims/query/oneClaim.js';
import { type OutputState, type OutputStatesQuery } from '../store/claims/query/outputStates.js';
import { type PresentOutput, type Standing, type StandingsQuery } from '../store/claims/query/standings.js';
import type { ClaimTotals } from '../store/claims/rows/summaryRow.js';
import { type Bytes } from '../util/bytes.js';
import type { CacheUsage } from '../util/threadMemory.js';
import type { JsonFrame } from '../util/json/jsonFrame.js';
import { type MaybePromise } from '../util/maybePromise.js';

/** Cached text of the answer about a name as of the tip. It stays valid until a block changes the name. */
export interface NameText {
  /** Null if no text is cached. */
  readonly known: JsonFrame | null;
  /** Caches the text, unless the tip has changed since this object was created. */
  keep(frame: JsonFrame): void;
}

export interface ClaimReader {
  readonly rules: ClaimRules;
  /** Cached text of a name, in the form of the documented profile. Null if texts of the queried block are not cached. */
  textOf(query: NameQuery): NameText | null;
  /** Caches of names and of trie nodes with their sizes, which are estimates. */
  caches(): readonly CacheUsage[];
  /** State of a name after a block. The result may be shared with other callers and must not be modified. */
  nameAt(query: NameQuery): MaybePromise<NameInfo>;
  /**
   * A page of the claims for a name after a block, and its upcoming events. The result may be shared with other callers and must
   * not be modified.
   */
  bidsAt(query: BidsQuery): Promise<NameBids>;
  /** One claim of a name, without reading the other claims. The result may be shared and must not be modified. */
  claimAt(query: NameQuery, choice: ClaimChoice): MaybePromise<ClaimOfName>;
  /** States in the claim trie of a transaction's outputs after a block; null for an output that the trie does not contain. */
  standings(query: StandingsQuery): MaybePromise<(Standing | null)[]>;
  /**
   * Later states of the claims and supports that a transaction of the active chain created; null for an output that never
   * became part of the claim trie.
   */
  outputStates(query: OutputStatesQuery): MaybePromise<readonly (OutputState | null)[]>;
  /** Latest outputs of these claims under a name at the tip, by claim id (latin1). Claims with another name are omitted. */
  outputsOf(name: Bytes, claimIds: readonly Bytes[]): Promise<Map<string, PresentOutput>>;
  /** State of the name in lbcd after block `height`; null if the name has no state in lbcd. */
  lbcdNameAt(name: Bytes, height: number): Promise<NameInfo | null>;
  /** Names with an active claim after block `height`, in byte order. */
  namesAt(height: number): AsyncIterable<Bytes>;
  /** Claim that the reference finds for the first digits of a claim id; null if there is none. */
  findClaim(idDigits: string): MaybePromise<ClaimLocation | null>;
  /**
   * Returns for each id the name (as spelled in the script) of the claim with this id; null if no claim with this id is live
   * at the tip.
   */
  aliveNames(claimIds: readonly Bytes[]): MaybePromise<(Bytes | null)[]>;
  /** Proof for a name. Throws `ProofUnavailableError` for a block that is older than the window of proofs. */
  proofAt(query: ProofQuery): MaybePromise<NameProof>;
  changesIn(height: number): Promise<BlockChanges>;
  /** Events of a block of the active chain with the given claim operations, as in notifications. */
  eventsOf(block: ClaimBlock): Promise<ClaimEvent[]>;
  /** The claims that were created last, from a place downwards. Claims that have ended since are included. */
  newestClaims(place: NewestPlace, count: number): Promise<NewestPage>;
  /** Names that a block changed, in the form that lbcd returns. */
  lbcdChangesIn(height: number): Promise<Bytes[]>;
  /** Totals of the claim trie at the tip. */
  totals(): Promise<ClaimTotals>;
  /** A page of the names with an active claim after a block. */
  listNames(query: NamesQuery): Promise<NamesPage>;
  /** The history of a name, block by block. */
  historyOf(name: Bytes, span: HistorySpan): Promise<NameHistoryPage & { readonly name: Bytes }>;
  /** The latest events of a name, sorted from the latest. */
  latestHistoryOf(name: Bytes, span: LatestSpan): Promise<LatestHistoryPage & { readonly name: Bytes }>;
  /** Height of the oldest block for which upcoming events can be computed. */
  oldestForeseeing(): Promise<number>;
  /**
   * Upcoming events of all names after block `height`, which must not be older than `oldestForeseeing`. Null if a block was
   * connected or disconnected during the call.
   */
  upcoming(query: UpcomingQuery): Promise<UpcomingPage | null>;
}

export interface BidsQuery extends BidsPage {
  readonly name: Bytes;
  /** Height of the block after which the state is queried. */
  readonly height: number;
  /** Number of upcoming events after which the others need not be computed. */
  readonly coming: number;
}

/** A page of the claims for a name, and data about the name. */
export interface NameBids extends Omit<BidsOfName, 'items'> {
  /** The name as it is stored. */
  readonly name: Bytes;
  /** Height of the last takeover; 0 if the name has no controlling claim. */
  readonly lastTakeoverHeight: number;
  /**
   * Upcoming events up to the latest block in which a claim of the next block can become active. Null for a block older than
   * `oldestForeseeing`.
   */
  readonly coming: Foreseen | null;
}

export interface NamesQuery {
  readonly height: number;
  /** Prefix as the caller gave it. It is normalized in the same way as names. */
  readonly prefix: Bytes;
  /** Stored name after which the page starts; null for the first page. */
  readonly after: Bytes | null;
  readonly count: number;
}

export interface NamesPage {
  /** Names in byte order. */
  readonly names: readonly ListedName[];
  /** Last name of the page if more names follow; otherwise null. */
  readonly next: Bytes | null;
}

/** Range of the history of a name up to block `to`. The name is looked up in the state after that block. */
export type HistorySpan = Pick<NameHistoryQuery, 'from' | 'to' | 'count'>;
export type LatestSpan = Omit<LatestHistoryQuery, 'name'>;
