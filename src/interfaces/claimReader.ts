/**
 * What the claim methods ask of the claim trie, as of any block of the active chain. Names, ids and txids are raw bytes in wire
 * order here; text is the formatters' business.
 *
 * Answers are of the block asked for, whatever is connected meanwhile. A reorganisation that takes that very block away
 * is the caller's to notice (`rpc/methods/claimtrie/atBlock.ts`).
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
import { type ListedName } from '../store/claims/query/nameList.js';
import {
  type LatestHistoryPage,
  type LatestHistoryQuery,
  type NameHistoryPage,
  type NameHistoryQuery,
} from '../store/claims/query/nameHistory.js';
import { type UpcomingPage, type UpcomingQuery } from '../store/claims/query/upcoming.js';
import { type ProofQuery } from '../store/claims/query/proofQueries.js';
import { type ClaimChoice, type ClaimOfName } from '../store/claims/query/oneClaim.js';
import { type OutputState, type OutputStatesQuery } from '../store/claims/query/outputStates.js';
import { type PresentOutput, type Standing, type StandingsQuery } from '../store/claims/query/standings.js';
import type { ClaimTotals } from '../store/claims/rows/summaryRow.js';
import { type Bytes } from '../util/bytes.js';
import { type MaybePromise } from '../util/maybePromise.js';

export interface ClaimReader {
  readonly rules: ClaimRules;
  /** State of a name. It may be shared with other callers and must not be modified. */
  nameAt(query: NameQuery): MaybePromise<NameInfo>;
  /** One claim of a name, without reading the other claims. The result may be shared and must not be modified. */
  claimAt(query: NameQuery, choice: ClaimChoice): MaybePromise<ClaimOfName>;
  /** States in the trie of a transaction's outputs after a block; null for an output that is not stored. */
  standings(query: StandingsQuery): MaybePromise<(Standing | null)[]>;
  /**
   * The later states of the claims and supports that a transaction of the active chain created; null for outputs that never
   * took effect.
   */
  outputStates(query: OutputStatesQuery): MaybePromise<readonly (OutputState | null)[]>;
  /** The outputs of these claims of a name at the tip, by id as latin1; claims under another name are omitted. */
  outputsOf(name: Bytes, claimIds: readonly Bytes[]): Promise<Map<string, PresentOutput>>;
  /** The name in lbcd's state after block `height`; null if lbcd had no state of it by then. */
  lbcdNameAt(name: Bytes, height: number): Promise<NameInfo | null>;
  /** Names with an active claim after block `height`, in byte order. */
  namesAt(height: number): AsyncIterable<Bytes>;
  /** The live claim that the reference finds for a prefix of an id. */
  findClaim(idDigits: string): MaybePromise<ClaimLocation | null>;
  /** Names, as in their scripts, of the claims alive at the tip with these ids; null for other ids. */
  aliveNames(claimIds: readonly Bytes[]): MaybePromise<(Bytes | null)[]>;
  /** Throws `ProofUnavailableError` for a block below the window. */
  proofAt(query: ProofQuery): MaybePromise<NameProof>;
  changesIn(height: number): Promise<BlockChanges>;
  /** The events of a block of the active chain with these claim operations, as in the notifications. */
  eventsOf(block: ClaimBlock): Promise<ClaimEvent[]>;
  /** The names changed by a block, in lbcd's form. */
  lbcdChangesIn(height: number): Promise<Bytes[]>;
  /** Totals at the tip. */
  totals(): Promise<ClaimTotals>;
  /** A page of the names with an active claim after a block. */
  listNames(query: NamesQuery): Promise<NamesPage>;
  /** The history of a name, block by block. */
  historyOf(name: Bytes, span: HistorySpan): Promise<NameHistoryPage & { readonly name: Bytes }>;
  /** The latest events of a name, the latest first. */
  latestHistoryOf(name: Bytes, span: LatestSpan): Promise<LatestHistoryPage & { readonly name: Bytes }>;
  /** The oldest block for which a forecast is possible. */
  oldestForeseeing(): Promise<number>;
  /**
   * The forecast for a name after block `height`, up to block `until`, computed from its state; null for a block older than
   * `oldestForeseeing`.
   */
  foresee(info: NameInfo, height: number, until: number): Promise<Foreseen | null>;
  /**
   * The upcoming events after block `height`, which must not be older than `oldestForeseeing`; null when a block was
   * connected or disconnected during the call.
   */
  upcoming(query: UpcomingQuery): Promise<UpcomingPage | null>;
}

export interface NamesQuery {
  readonly height: number;
  /** Prefix as given; normalized like names. */
  readonly prefix: Bytes;
  /** The stored name after which the page begins; null for the first page. */
  readonly after: Bytes | null;
  readonly count: number;
}

export interface NamesPage {
  /** Names in byte order. */
  readonly names: readonly ListedName[];
  /** The last name of the page if more names follow; else null. */
  readonly next: Bytes | null;
}

/** A span of history up to block `to`, at which the name is looked up. */
export type HistorySpan = Pick<NameHistoryQuery, 'from' | 'to' | 'count'>;
export type LatestSpan = Omit<LatestHistoryQuery, 'name'>;
