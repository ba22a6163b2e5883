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
  /** State of a name. It may be shared with other callers and must not be changed. */
  nameAt(query: NameQuery): MaybePromise<NameInfo>;
  /** One claim of a name, without reading the other claims. The result may be shared and must not be changed. */
  claimAt(query: NameQuery, choice: ClaimChoice): MaybePromise<ClaimOfName>;
  /** How outputs of one transaction are in the trie after a block; null for one that is not filed. */
  standings(query: StandingsQuery): MaybePromise<(Standing | null)[]>;
  /** What became of the claims and supports that one transaction of the active chain made; null for what never counted. */
  outputStates(query: OutputStatesQuery): MaybePromise<(OutputState | null)[]>;
  /** The outputs that hold these claims of a name at the tip, by id as latin1; of a claim under another name there is none. */
  outputsOf(name: Bytes, claimIds: readonly Bytes[]): Promise<Map<string, PresentOutput>>;
  /** The name as lbcd keeps it after block `height`; null when nothing was known of it by then. */
  lbcdNameAt(name: Bytes, height: number): Promise<NameInfo | null>;
  /** Names with an active claim after block `height`, in byte order. */
  namesAt(height: number): AsyncIterable<Bytes>;
  /** The live claim that the reference finds for these first digits of an id. */
  findClaim(idDigits: string): MaybePromise<ClaimLocation | null>;
  /** Names, as their scripts have them, of the claims alive at the tip with these ids; null for other ids. */
  aliveNames(claimIds: readonly Bytes[]): MaybePromise<(Bytes | null)[]>;
  /** Throws `ProofUnavailableError` for a block below the window. */
  proofAt(query: ProofQuery): MaybePromise<NameProof>;
  changesIn(height: number): Promise<BlockChanges>;
  /** What a block of the active chain with these claim operations did, as the notifications tell it. */
  eventsOf(block: ClaimBlock): Promise<ClaimEvent[]>;
  /** The names that a block touched, as lbcd calls them. */
  lbcdChangesIn(height: number): Promise<Bytes[]>;
  /** Totals at the tip. */
  totals(): Promise<ClaimTotals>;
  /** Names with an active claim after a block, a page of them. */
  listNames(query: NamesQuery): Promise<NamesPage>;
  /** What became of a name, block by block. */
  historyOf(name: Bytes, span: HistorySpan): Promise<NameHistoryPage & { readonly name: Bytes }>;
  /** The latest events of a name, the latest first. */
  latestHistoryOf(name: Bytes, span: LatestSpan): Promise<LatestHistoryPage & { readonly name: Bytes }>;
  /** The oldest block for which a forecast is given. */
  oldestForeseeing(): Promise<number>;
  /**
   * What comes for a name after block `height`, up to block `until`, from what is known of it; null for a block older than
   * that.
   */
  foresee(info: NameInfo, height: number, until: number): Promise<Foreseen | null>;
  /** What comes after block `height`, not older than that; null when a block came or went meanwhile. */
  upcoming(query: UpcomingQuery): Promise<UpcomingPage | null>;
}

export interface NamesQuery {
  readonly height: number;
  /** Prefix as given; normalized like names. */
  readonly prefix: Bytes;
  /** A name as it is filed, behind which the page begins; null for the first page. */
  readonly after: Bytes | null;
  readonly count: number;
}

export interface NamesPage {
  /** Names in byte order. */
  readonly names: readonly ListedName[];
  /** The name behind which there are more; null when these are all. */
  readonly next: Bytes | null;
}

/** A span of history up to block `to`, at which the name is looked up. */
export type HistorySpan = Pick<NameHistoryQuery, 'from' | 'to' | 'count'>;
export type LatestSpan = Omit<LatestHistoryQuery, 'name'>;
