/**
 * What the claim methods ask of the claim trie, as of any block of the active chain, and the adapter over the claim
 * store. Names, ids and txids are raw bytes in wire order here; text is the formatters' business.
 *
 * Answers are of the block asked for, whatever is connected meanwhile. A reorganisation that takes that very block away
 * is the caller's to notice (`methods/claimtrie/atBlock.ts`).
 */
import type { ActiveChain } from '../../chain/index/activeChain.js';
import { foreseeName, type Foreseen } from '../../claimtrie/forecast.js';
import { pointKey, type Item } from '../../claimtrie/item.js';
import type { NameProof } from '../../claimtrie/proof.js';
import { normalizeNameInSlices } from '../../claimtrie/normalizeSlices.js';
import { filesNormalized, hashesAllClaims } from '../../claimtrie/rules.js';
import type { ClaimBlock, ClaimEvent, ClaimRules } from '../../claimtrie/types.js';
import { claimIdKey } from '../../store/claims/rows/claimKeys.js';
import {
  filedName,
  findClaimById,
  readChanges,
  readName,
  readNames,
  readPresentName,
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
import { KeptClaims } from '../../store/claims/keptClaims.js';
import type { KnownHeads } from '../../store/claims/query/nameHeads.js';
import {
  readLatestHistory,
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
import { KeptNames, type Touched } from './keptNames.js';
import { chosenClaim } from './nameLookup.js';
import {
  readPresentClaim,
  type ClaimChoice,
  type ClaimOfName,
  type KnownPlaces,
} from '../../store/claims/query/oneClaim.js';
import { readTouchedNames } from '../../store/claims/touchedNames.js';
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
import { isPromise, whenResolved, type MaybePromise } from '../../util/maybePromise.js';

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

/** The check if the chain has moved. */
export type TipView = Pick<ActiveChain, 'height' | 'tip' | 'disconnects'>;

/**
 * Longer names are not looked for: scripts hold 255 bytes of a name (`bad-txns-claimscriptname-toolarge`), and
 * normalization makes at most nine times as many of them, three by decomposing and three by folding.
 */
const LONGEST_FILED_BYTES = 4096;

/** A name that is too long to be in a script, in the form in which it would be filed. */
async function longFiledName(rules: ClaimRules, name: Bytes, height: number): Promise<Bytes> {
  return filesNormalized(rules, height) ? inSlices(normalizeNameInSlices(name)) : name;
}

async function longNameAt(rows: RowReader, rules: ClaimRules, query: NameQuery): Promise<NameInfo> {
  const { exact, height } = query;
  const name = exact === true ? query.name : await longFiledName(rules, query.name, height);
  if (name.length <= LONGEST_FILED_BYTES) return readName(rows, rules, { ...query, name });
  return { name, lastTakeoverHeight: 0, claims: [], supportsWithoutClaim: [] };
}

/** The same question about no more of a long name than matters: no path in the trie is longer. */
async function longProofQuery(rules: ClaimRules, query: ProofQuery): Promise<ProofQuery> {
  const { name, height } = query;
  const asked = hashesAllClaims(rules, height) ? name : await longFiledName(rules, name, height);
  return { ...query, name: asked.subarray(0, LONGEST_FILED_BYTES + 1) };
}

function keyOfChoice(choice: ClaimChoice): string {
  if ('bid' in choice) return `bid ${choice.bid}`;
  if ('sequence' in choice) return `sequence ${choice.sequence}`;
  return 'claimId' in choice ? `id ${toLatin1(choice.claimId)}` : `digits ${choice.digits}`;
}

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

/**
 * The claim store of the node as `ClaimReader`; `rows` are the committed ones, and change in the same turn as the tip of
 * `active` does.
 */
export function claimReader(
  rows: RowReader,
  { rules, proofWindow }: { rules: ClaimRules; proofWindow: ProofWindow },
  active: TipView,
): ClaimReader {
  const kept = new KeptNames();
  const keptClaims = new KeptClaims();
  const touched: Touched = (from, to) => {
    const fork = rules.normalizationForkHeight;
    // The normalization fork may change any name.
    return from <= fork && fork <= to ? null : readTouchedNames(rows, from, to);
  };
  /** Updates the cache to the latest block. */
  const follow = (): MaybePromise<void> => kept.follow(active, touched);
  /**
   * The answer from the rows of the present, when the latest block is asked about and stays the latest, else from those of
   * the past.
   */
  function preferPresent<T>(
    height: number,
    present: () => MaybePromise<T>,
    past: () => Promise<T>,
  ): MaybePromise<T> {
    if (height !== active.height) return past();
    return whenResolved(follow(), () => {
      if (height !== active.height) return past();
      const { tip, disconnects } = active;
      const answer = present();
      return isPromise(answer) ? unlessMoved(answer, past, tip, disconnects) : answer;
    });
  }
  /** The normalized name of the query, if the current rows answer it; otherwise null. */
  function presentName({ name, exact, asReference, height }: NameQuery): string | null {
    if (height !== active.height || (asReference && asReference.tipHeight !== height)) return null;
    // The answer for a root without claims depends on other names.
    return (exact === true ? toLatin1(name) : filedName(rules, name, height)) || null;
  }
  function nameAt(query: NameQuery): MaybePromise<NameInfo> {
    if (query.name.length > LONGEST_FILED_BYTES) return longNameAt(rows, rules, query);
    const past = (): Promise<NameInfo> => readName(rows, rules, query);
    const name = presentName(query);
    if (name === null) return past();
    const form = query.asReference ? 'reference' : 'documented';
    const present = (): MaybePromise<NameInfo> => {
      const known = kept.find(form, name, active);
      if (known !== undefined) return known;
      const { tip, disconnects } = active;
      return whenResolved(readPresentName(rows, name, query), (info) => {
        kept.keep(form, name, info, { tip, disconnects }, active);
        return info;
      });
    };
    return preferPresent(query.height, present, past);
  }
  function claimAt(query: NameQuery, choice: ClaimChoice): MaybePromise<ClaimOfName> {
    const asReference = query.asReference !== undefined;
    const form = asReference ? 'reference' : 'documented';
    const fromAll = (): MaybePromise<ClaimOfName> =>
      whenResolved(nameAt(query), (info) => {
        const { name, lastTakeoverHeight } = info;
        return { name, lastTakeoverHeight, claim: chosenClaim(info, choice, asReference) };
      });
    const name = query.name.length > LONGEST_FILED_BYTES ? null : presentName(query);
    if (name === null) return fromAll();
    const present = (): MaybePromise<ClaimOfName | null> => {
      if (kept.find(form, name, active) !== undefined) return null;
      const wanted = keyOfChoice(choice);
      const known = kept.findClaim(form, name, wanted, active);
      if (known !== undefined) return known;
      const { tip, disconnects } = active;
      const asked = { height: query.height, asReference, choice };
      return whenResolved(readPresentClaim(rows, name, asked, presentPlaces()), (found) => {
        if (found !== null) kept.keepClaim(form, name, wanted, found, { tip, disconnects }, active);
        return found;
      });
    };
    const found = preferPresent<ClaimOfName | null>(query.height, present, async () => null);
    return whenResolved(found, (claim) => claim ?? fromAll());
  }
  /** The cached positions, for one query after the latest block. */
  function presentPlaces(): KnownPlaces {
    const { tip, disconnects } = active;
    return {
      find: (name) => kept.findPlaces(name, active),
      keep: (name, places) => kept.keepPlaces(name, places, { tip, disconnects }, active),
    };
  }
  /** The heads that are kept, for one query after the latest block. */
  function presentHeads(): KnownHeads {
    const { tip, disconnects } = active;
    return {
      find: (name) => kept.findHead(name, active),
      keep: (name, head) => kept.keepHead(name, head, { tip, disconnects }, active),
    };
  }
  async function unlessMoved<T>(
    present: Promise<T>,
    past: () => Promise<T>,
    tip: number,
    disconnects: number,
  ): Promise<T> {
    try {
      const answer = await present;
      if (active.tip === tip && active.disconnects === disconnects) return answer;
    } catch (error) {
      if (active.tip === tip && active.disconnects === disconnects) throw error;
    }
    return past();
  }
  /** The latest events of a filed name. Those up to the latest block are kept until a block changes the name. */
  async function latestOf(name: string, span: LatestSpan): Promise<LatestHistoryPage> {
    const { from, to, count, skip } = span;
    const read = (): Promise<LatestHistoryPage> => readLatestHistory(rows, { name, ...span });
    if (skip > 0) return read();
    const choice = `${from} ${count}`;
    const present = async (): Promise<LatestHistoryPage> => {
      const known = kept.findHistory(name, choice, active);
      if (known !== undefined) return known;
      const { tip, disconnects } = active;
      const page = await read();
      kept.keepHistory(name, choice, page, { tip, disconnects }, active);
      return page;
    };
    return preferPresent(to, present, read);
  }
  /** The name as it is filed after block `height`; null when it is too long to be. */
  async function filed(name: Bytes, height: number): Promise<string | null> {
    if (name.length <= LONGEST_FILED_BYTES) return filedName(rules, name, height);
    const long = await longFiledName(rules, name, height);
    return long.length <= LONGEST_FILED_BYTES ? toLatin1(long) : null;
  }
  return {
    rules,
    nameAt,
    claimAt,
    standings: (query) =>
      preferPresent(
        query.height,
        () => readPresentStandings(rows, rules, query, presentHeads()),
        () => readStandings(rows, rules, query),
      ),
    outputStates(query) {
      const read = (): MaybePromise<(OutputState | null)[]> =>
        readOutputStates(rows, rules, query, presentHeads());
      // Of another tip the answer is as right as of this one, if it is of one.
      return preferPresent(active.height, read, async () => read());
    },
    outputsOf: (name, claimIds) => readClaimOutputs(rows, rules, { name, height: active.height, claimIds }),
    async lbcdNameAt(asked, height) {
      const isLong = asked.length > LONGEST_FILED_BYTES;
      const name = isLong ? await longFiledName(rules, asked, height) : asked;
      if (name.length > LONGEST_FILED_BYTES) return null;
      return readLbcdName(rows, rules, { name, height, tipHeight: active.height });
    },
    namesAt: (height) => readNames(rows, height),
    findClaim: (idDigits) => findClaimById(rows, idDigits),
    aliveNames: (claimIds) =>
      readAtHand(rows, (atHand) => {
        const found = atHand.getMany(claimIds.map((id) => claimIdKey(toLatin1(id))));
        // Absent rows are holes in the list, which `map` over it would pass over.
        return claimIds.map((_, i) => found[i] ?? null);
      }),
    proofAt(asked) {
      const isLong = asked.name.length > LONGEST_FILED_BYTES;
      return whenResolved(isLong ? longProofQuery(rules, asked) : asked, (query) =>
        preferPresent(
          query.height,
          () => readPresentProof(rows, rules, query, { heads: presentHeads(), claims: keptClaims }),
          () => readProof(rows, rules, proofWindow, query),
        ),
      );
    },
    changesIn: (height) => readChanges(rows, height),
    eventsOf: (block) => readPastEvents(rows, rules, block),
    lbcdChangesIn: (height) => readLbcdChanges(rows, rules, height),
    totals: () => readTotals(rows),
    async listNames({ height, prefix, after, count }) {
      const start = await filed(prefix, height);
      if (start === null || (after !== null && after.length > LONGEST_FILED_BYTES))
        return { names: [], next: null };
      const behind = after === null ? null : toLatin1(after);
      const found = await namesBehind(rows, { height, prefix: start, after: behind, count });
      const wanted = found.slice(0, count);
      const names = await preferPresent(
        height,
        () => describePresentNames(rows, wanted),
        () => describePastNames(rows, rules, wanted, height),
      );
      return { names, next: found.length > count ? names.at(-1)!.name : null };
    },
    async historyOf(asked, span) {
      const name = await filed(asked, span.to);
      if (name === null) return { name: asked, blocks: [], next: null };
      return { name: fromLatin1(name), ...(await readNameHistory(rows, { name, ...span })) };
    },
    async latestHistoryOf(asked, span) {
      const name = await filed(asked, span.to);
      if (name === null) return { name: asked, blocks: [], next: null };
      return { name: fromLatin1(name), ...(await latestOf(name, span)) };
    },
    async oldestForeseeing() {
      const provable = await oldestProvable(rows, proofWindow, active.height);
      return Math.max(provable, active.height - FORESEEN_BLOCKS_BEHIND);
    },
    async foresee(info, height, until) {
      const provable = await oldestProvable(rows, proofWindow, active.height);
      if (height < Math.max(provable, active.height - FORESEEN_BLOCKS_BEHIND)) return null;
      const name = toLatin1(info.name);
      const isClaimed = info.claims[0]?.active === true;
      const isParting =
        !isClaimed &&
        (await isNodeAfter(rows, rules, proofWindow, { name, height, tipHeight: () => active.height }));
      const items = itemsOf(info);
      return inSlices(foreseeName(rules, { name, items, height, until, isParting }));
    },
    async upcoming(query) {
      const { tip, disconnects } = active;
      const { height } = query;
      if (height > active.height) return null;
      const due = await readDueNames(rows, query, active.height);
      if (active.tip !== tip || active.disconnects !== disconnects) return null;
      return readUpcoming(rows, rules, query, due, (name) =>
        isNodeAfter(rows, rules, proofWindow, { name, height, tipHeight: () => active.height }),
      );
    },
  };
}
