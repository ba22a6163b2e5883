/**
 * What the claim methods ask of the claim trie, as of any block of the active chain, and the adapter over the claim
 * store. Names, ids and txids are raw bytes in wire order here; text is the formatters' business.
 *
 * Answers are of the block asked for, whatever is connected meanwhile. A reorganisation that takes that very block away
 * is the caller's to notice (`methods/claimtrie/atBlock.ts`).
 */
import { foreseeName, type Foreseen } from '../../claimtrie/forecast.js';
import { pointKey, type Item } from '../../claimtrie/item.js';
import type { NameProof } from '../../claimtrie/proof.js';
import type { ClaimBlock, ClaimEvent, ClaimRules } from '../../claimtrie/types.js';
import { claimIdKey } from '../../store/claims/rows/claimKeys.js';
import {
  findClaimById,
  readChanges,
  readNames,
  readTotals,
  type BlockChanges,
  type ClaimLocation,
  type NameInfo,
  type NameQuery,
  type OutputInfo,
} from '../../store/claims/query/claimQueries.js';
import {
  describePastNames,
  describePresentNames,
  namesBehind,
  type ListedName,
} from '../../store/claims/query/nameList.js';
import {
  readNameHistory,
  type LatestHistoryPage,
  type LatestHistoryQuery,
  type NameHistoryPage,
  type NameHistoryQuery,
} from '../../store/claims/query/nameHistory.js';
import {
  FORESEEN_BLOCKS_BEHIND,
  readDueNames,
  readUpcoming,
  type UpcomingPage,
  type UpcomingQuery,
} from '../../store/claims/query/upcoming.js';
import { readLbcdChanges } from '../../store/claims/lbcd/lbcdSchedule.js';
import { readLbcdName } from '../../store/claims/lbcd/lbcdView.js';
import {
  isNodeAfter,
  readPresentProof,
  readProof,
  type ProofQuery,
} from '../../store/claims/query/proofQueries.js';
import { type ClaimChoice, type ClaimOfName } from '../../store/claims/query/oneClaim.js';
import { readPastEvents } from '../../store/claims/query/pastEvents.js';
import {
  readOutputStates,
  type OutputState,
  type OutputStatesQuery,
} from '../../store/claims/query/outputStates.js';
import {
  readClaimOutputs,
  readPresentStandings,
  readStandings,
  type PresentOutput,
  type Standing,
  type StandingsQuery,
} from '../../store/claims/query/standings.js';
import type { ClaimTotals } from '../../store/claims/rows/summaryRow.js';
import { oldestProvable, type ProofWindow } from '../../store/claims/versions.js';
import { readAtHand } from '../../store/rows/rowsAtHand.js';
import type { RowReader } from '../../store/rows/rows.js';
import { fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import { inSlices } from '../../scheduler/slices.js';
import { whenResolved, type MaybePromise } from '../../util/maybePromise.js';
import {
  LONGEST_FILED_BYTES,
  longFiledName,
  longProofQuery,
  PresentClaims,
  type TipView,
} from './presentClaims.js';

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

/** What is filed under a name as the forecast needs it: of pending items the height for which they are queued. */
function itemsOf({ name, claims, supportsWithoutClaim }: NameInfo): Item[] {
  const filed = toLatin1(name);
  const items: Item[] = [];
  const add = (output: OutputInfo, kind: Item['kind']): void => {
    const { txid, n, claimId, amount, height, txOffset, validAtHeight, active, name: rawName } = output;
    items.push({
      name: filed,
      since: height,
      point: pointKey(txid, n),
      kind,
      claimId: toLatin1(claimId),
      amount,
      height,
      txOffset,
      dueHeight: validAtHeight,
      activated: active ? validAtHeight : 0,
      removed: 0,
      removal: 0,
      rawName: toLatin1(rawName),
      ordinal: 0,
      isNew: false,
    });
  };
  for (const claim of claims) {
    add(claim, 'update');
    for (const support of claim.supports) add(support, 'support');
  }
  for (const support of supportsWithoutClaim) add(support, 'support');
  return items;
}

type Outputs = Pick<ClaimReader, 'standings' | 'outputStates' | 'outputsOf' | 'findClaim' | 'aliveNames'>;

function outputs(claims: PresentClaims): Outputs {
  const { rows, rules, active } = claims;
  return {
    standings: (query) =>
      claims.prefer(
        query.height,
        () => readPresentStandings(rows, rules, query, claims.heads()),
        () => readStandings(rows, rules, query),
      ),
    outputStates(query) {
      const read = (): MaybePromise<(OutputState | null)[]> =>
        readOutputStates(rows, rules, query, claims.heads());
      // Of another tip the answer is as right as of this one, if it is of one.
      return claims.prefer(active.height, read, async () => read());
    },
    outputsOf: (name, claimIds) => readClaimOutputs(rows, rules, { name, height: active.height, claimIds }),
    findClaim: (idDigits) => findClaimById(rows, idDigits),
    aliveNames: (claimIds) =>
      readAtHand(rows, (atHand) => {
        const found = atHand.getMany(claimIds.map((id) => claimIdKey(toLatin1(id))));
        // Absent rows are holes in the list, which `map` over it would pass over.
        return claimIds.map((_, i) => found[i] ?? null);
      }),
  };
}

type Blocks = Pick<ClaimReader, 'changesIn' | 'eventsOf' | 'lbcdChangesIn' | 'lbcdNameAt' | 'totals'>;

function blocks({ rows, rules, active }: PresentClaims): Blocks {
  return {
    changesIn: (height) => readChanges(rows, height),
    eventsOf: (block) => readPastEvents(rows, rules, block),
    lbcdChangesIn: (height) => readLbcdChanges(rows, rules, height),
    async lbcdNameAt(asked, height) {
      const isLong = asked.length > LONGEST_FILED_BYTES;
      const name = isLong ? await longFiledName(rules, asked, height) : asked;
      if (name.length > LONGEST_FILED_BYTES) return null;
      return readLbcdName(rows, rules, { name, height, tipHeight: active.height });
    },
    totals: () => readTotals(rows),
  };
}

type Names = Pick<ClaimReader, 'namesAt' | 'listNames' | 'historyOf' | 'latestHistoryOf'>;

function names(claims: PresentClaims): Names {
  const { rows, rules } = claims;
  return {
    namesAt: (height) => readNames(rows, height),
    async listNames({ height, prefix, after, count }) {
      const start = await claims.filed(prefix, height);
      if (start === null || (after !== null && after.length > LONGEST_FILED_BYTES))
        return { names: [], next: null };
      const behind = after === null ? null : toLatin1(after);
      const found = await namesBehind(rows, { height, prefix: start, after: behind, count });
      const wanted = found.slice(0, count);
      const listed = await claims.prefer(
        height,
        () => describePresentNames(rows, wanted),
        () => describePastNames(rows, rules, wanted, height),
      );
      return { names: listed, next: found.length > count ? listed.at(-1)!.name : null };
    },
    async historyOf(asked, span) {
      const name = await claims.filed(asked, span.to);
      if (name === null) return { name: asked, blocks: [], next: null };
      return { name: fromLatin1(name), ...(await readNameHistory(rows, { name, ...span })) };
    },
    async latestHistoryOf(asked, span) {
      const name = await claims.filed(asked, span.to);
      if (name === null) return { name: asked, blocks: [], next: null };
      return { name: fromLatin1(name), ...(await claims.latestHistory(name, span)) };
    },
  };
}

type Forecasts = Pick<ClaimReader, 'oldestForeseeing' | 'foresee' | 'upcoming'>;

function forecasts({ rows, rules, active }: PresentClaims, proofWindow: ProofWindow): Forecasts {
  const oldestForeseeing = async (): Promise<number> => {
    const provable = await oldestProvable(rows, proofWindow, active.height);
    return Math.max(provable, active.height - FORESEEN_BLOCKS_BEHIND);
  };
  const isNode = (name: string, height: number): Promise<boolean> =>
    isNodeAfter(rows, rules, proofWindow, { name, height, tipHeight: () => active.height });
  return {
    oldestForeseeing,
    async foresee(info, height, until) {
      if (height < (await oldestForeseeing())) return null;
      const name = toLatin1(info.name);
      const isClaimed = info.claims[0]?.active === true;
      const isParting = !isClaimed && (await isNode(name, height));
      const items = itemsOf(info);
      return inSlices(foreseeName(rules, { name, items, height, until, isParting }));
    },
    async upcoming(query) {
      const { tip, disconnects } = active;
      const { height } = query;
      if (height > active.height) return null;
      const due = await readDueNames(rows, query, active.height);
      if (active.tip !== tip || active.disconnects !== disconnects) return null;
      return readUpcoming(rows, rules, query, due, (name) => isNode(name, height));
    },
  };
}

/**
 * The claim store of the node as `ClaimReader`; `rows` are the committed ones, and change in the same turn as the tip of
 * `active` does.
 */
export function claimReader(
  rows: RowReader,
  { rules, proofWindow }: { rules: ClaimRules; proofWindow: ProofWindow },
  active: TipView,
): ClaimReader {
  const claims = new PresentClaims(rows, rules, active);
  return {
    rules,
    nameAt: (query) => claims.nameAt(query),
    claimAt: (query, choice) => claims.claimAt(query, choice),
    proofAt(asked) {
      const isLong = asked.name.length > LONGEST_FILED_BYTES;
      return whenResolved(isLong ? longProofQuery(rules, asked) : asked, (query) =>
        claims.prefer(
          query.height,
          () => readPresentProof(rows, rules, query, { heads: claims.heads(), claims: claims.keptClaims }),
          () => readProof(rows, rules, proofWindow, query),
        ),
      );
    },
    ...outputs(claims),
    ...blocks(claims),
    ...names(claims),
    ...forecasts(claims, proofWindow),
  };
}
