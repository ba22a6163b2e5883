/**
 * Searches the mempool claims, in an index separate from the index of confirmed claims. The search thread builds a document
 * when a claim arrives and when its data changes. Source: OdyseeTeam/hub, hub/db/pending.py `search`.
 */
import type { ClaimIndexQueries } from '../../index/claims/claimIndexQueries.js';
import type { PlainClaim } from '../../index/claims/claimReader.js';
import type { WaitingClaims } from '../../index/waiting/waitingClaims.js';
import { describeWaiting, keyTagsOf } from '../../index/waiting/waitingIndex.js';
import type { WaitingOutput } from '../../index/waiting/waitingOutputs.js';
import { inNextRound } from '../../scheduler/rounds.js';
import type { AddressPrefixes } from '../../script/address.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import type { Censor } from '../hits/censor.js';
import { makeDocument, type ClaimDocument } from '../document/document.js';
import { readMetadata } from '../document/documentSource.js';
import type { OrderTerm } from '../query/order.js';
import { MAX_HITS } from '../hits/pages.js';
import type { Condition, SearchQuery } from '../query/searchQuery.js';
import { WaitingColumns, type WaitingDocument } from './waitingColumns.js';
import { candidatesFor, conditionTest, placeOrder, textTest, type PlaceTest } from './waitingQuery.js';

/** Number of documents that are built in one step. */
const CLAIMS_A_PART = 128;
/** Maximum number of milliseconds for which the event loop is blocked by building or scanning documents. */
const SLICE_MS = 4;
/** Number of positions scanned between two checks of the clock. */
const PLACES_A_LOOK = 512;
/** Maximum number of new blocks whose changes are applied to the documents. After more blocks all documents are built again. */
const MAX_BLOCKS = 10;
/**
 * Maximum number of documents in sorted orders, and maximum number of cached orders. Arbitrary: sorting more documents
 * blocks the event loop for too long.
 */
const MAX_SORTED = 100_000;
const MAX_ORDERS = 16;
/** Position of the first mempool transaction in creation order. It is beyond the positions of all transactions of the chain. */
const FIRST_TX_NUM = 2 ** 31;

export interface WaitingTip {
  readonly height: number;
  readonly tip: number;
  readonly disconnects: number;
}

export interface WaitingSearchDeps {
  readonly waiting: WaitingClaims;
  readonly index: Pick<ClaimIndexQueries, 'read' | 'value' | 'changes'>;
  readonly tip: () => WaitingTip;
  /** Returns the times of blocks by height. */
  readonly timesOf: (heights: readonly number[]) => Promise<readonly number[]>;
  readonly censor: () => Promise<Censor>;
  readonly prefixes: AddressPrefixes;
}

export class WaitingSearch {
  private readonly deps: WaitingSearchDeps;
  private readonly columns = new WaitingColumns();
  private readonly orders = new Map<string, { readonly version: number; readonly places: number[] }>();
  /** Tags of the keys with which signatures were verified, by channel id. A tag changes with the key. */
  private readonly tags = new Map<string, string | null>();
  /** Ids of claims whose documents must be built or removed before the next search. */
  private dirty = new Set<string>();
  /** Ids of claims whose documents may be outdated because of a new block. The documents are rebuilt in the background. */
  private readonly stale = new Set<string>();
  private refreshing: Promise<void> | null = null;
  private made: WaitingTip = { height: -1, tip: -1, disconnects: -1 };
  private making: Promise<void> | null = null;
  /** Settles when the last part is built. Parts run one after another, so that a part never replaces a document by an older one. */
  private lastPart: Promise<unknown> = Promise.resolve();
  private isScheduled = false;
  /** Counter of the changes by blocks that were applied. */
  private blocks = 0;
  private noting: Promise<void> | null = null;

  constructor(deps: WaitingSearchDeps) {
    this.deps = deps;
    const { waiting } = deps;
    for (const { claimId } of waiting.outputs()) this.dirty.add(claimId);
    waiting.listen({
      changed: (claimId, before, after) => this.noteChange(claimId, before, after),
      supported: (claimId) => void (waiting.of(claimId) && this.dirty.add(claimId)),
    });
  }

  /** Number that changes when the result of a search may have changed. */
  get version(): number {
    return this.deps.waiting.version + this.blocks;
  }

  /** Builds documents in the background, so that a search does not have to wait for many of them. */
  prepareSoon(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    inNextRound(() => {
      this.isScheduled = false;
      // The error is ignored here, because the next search fails with it too.
      this.prepare().catch(() => undefined);
    });
  }

  /**
   * Returns the first claims of a search in the requested order, or by descending amount. Claims that blocking or filtering
   * channels hide are omitted.
   */
  async find(query: SearchQuery): Promise<WaitingOutput[]> {
    const { limit, only, allPages } = query;
    const most = only > 0 ? only : allPages ? MAX_HITS : limit;
    if (query.findsNothing || most === 0 || this.deps.waiting.size === 0) return [];
    await this.prepare();
    const [conditions, controlling] = withoutControlling(query.conditions);
    const entries = await this.search({ ...query, conditions }, controlling === null ? most : Infinity);
    const { waiting } = this.deps;
    const outputs = entries.map(({ claimId }) => waiting.of(claimId)).filter((output) => output !== null);
    const found = controlling === null ? outputs : await this.standing(outputs, controlling, most);
    return only > 0 ? found.slice(only - 1, only) : found;
  }

  private async search(query: SearchQuery, most: number): Promise<WaitingDocument[]> {
    const { columns } = this;
    const tests = query.conditions.map((condition) => conditionTest(condition, columns));
    if (query.text !== null) tests.push(textTest(query.text));
    const censor = await this.deps.censor();
    if (!censor.isEmpty) tests.push((_place, { document }) => censor.of(document).type === 0);
    const order = query.only > 0 ? [] : query.order;
    const candidates = candidatesFor(query.conditions, query.text, columns, this.deps.waiting);
    const isSorted =
      columns.size <= MAX_SORTED && isScanned(candidates?.size ?? Infinity, columns.size, most);
    const first = isSorted ? null : new FirstPlaces(placeOrder(order, columns), most);
    const places = isSorted ? this.sorted(order) : (candidates?.places() ?? columns.documents.keys());
    const found: WaitingDocument[] = [];
    let since = performance.now();
    let looked = 0;
    for (const place of places) {
      if (++looked % PLACES_A_LOOK === 0) since = await yieldIfDue(since, SLICE_MS);
      const entry = columns.documents[place];
      if (entry === undefined || !satisfies(tests, place, entry)) continue;
      if (first !== null) first.offer(place);
      else if (found.push(entry) >= most) break;
    }
    return first === null ? found : first.take().flatMap((place) => columns.documents[place] ?? []);
  }

  /** Returns all positions in an order. The order is cached, and updated for changed documents. */
  private sorted(order: readonly OrderTerm[]): readonly number[] {
    const { columns, orders } = this;
    const key = JSON.stringify(order);
    const known = orders.get(key);
    orders.delete(key);
    if (known?.version === columns.version) {
      orders.set(key, known);
      return known.places;
    }
    const places = this.followed(known, placeOrder(order, columns));
    orders.set(key, { version: columns.version, places });
    for (const oldest of orders.keys()) {
      if (orders.size <= MAX_ORDERS) break;
      orders.delete(oldest);
    }
    return places;
  }

  /** Returns a cached order after applying the changes since it was sorted. If there are too many changes, sorts again. */
  private followed(
    known: { readonly version: number; readonly places: number[] } | undefined,
    compare: (a: number, b: number) => number,
  ): number[] {
    const { columns } = this;
    const isThere = (place: number): boolean => columns.documents[place] !== undefined;
    const changed = known === undefined ? null : columns.changedSince(known.version);
    if (changed === null) return [...columns.documents.keys()].filter(isThere).sort(compare);
    const places = known!.places.filter((place) => !changed.has(place));
    for (const place of changed) if (isThere(place)) places.splice(placeIn(places, place, compare), 0, place);
    return places;
  }

  /** Returns the first `most` of the claims that control their names or, if the query asks for it, of those that do not. */
  private async standing(
    outputs: readonly WaitingOutput[],
    isControlling: boolean,
    most: number,
  ): Promise<WaitingOutput[]> {
    const { index, waiting } = this.deps;
    const found: WaitingOutput[] = [];
    for (let at = 0; at < outputs.length && found.length < most; at += CLAIMS_A_PART) {
      const part = outputs.slice(at, at + CLAIMS_A_PART);
      const claims = await index.read((scope) => describeWaiting(scope, waiting, part));
      found.push(...part.filter(({ point }) => claims.get(point)?.isControlling === isControlling));
    }
    return found.slice(0, most);
  }

  private noteChange(claimId: string, before: WaitingOutput | null, after: WaitingOutput | null): void {
    const { waiting } = this.deps;
    this.dirty.add(claimId);
    for (const output of [before, after]) {
      // The numbers of claims of the channel and of reposts of the target have changed.
      for (const id of [output?.channelId, output?.repostedId])
        if (id && waiting.of(id) !== null) this.dirty.add(id);
    }
    if (before?.channelId && !waiting.hasOfChannel(before.channelId)) this.tags.delete(before.channelId);
    for (const { claimId: id } of waiting.repostsOf(claimId)) this.dirty.add(id);
    if (before?.keyTag !== after?.keyTag)
      for (const { claimId: id } of waiting.ofChannel(claimId).outputs) this.dirty.add(id);
  }

  /** Resolves when the documents include all changes that happened before the call. */
  private async prepare(): Promise<void> {
    if (this.making !== null) await this.making;
    // Changes by blocks are processed in the background and not awaited.
    this.noting ??= this.noteBlocks().finally(() => (this.noting = null));
    if (this.stale.size > 0) this.refreshSoon();
    if (this.dirty.size > 0) this.making ??= this.make().finally(() => (this.making = null));
    // Another search may have started to build the documents, so its end is awaited.
    await this.making;
  }

  /** Finds the mempool claims that new blocks affect, and marks their documents as outdated. */
  private async noteBlocks(): Promise<void> {
    const { tip: tipOf, index, waiting } = this.deps;
    const { made } = this;
    const now = tipOf();
    if (now.tip === made.tip && now.disconnects === made.disconnects) return;
    this.made = now;
    try {
      if (now.disconnects !== made.disconnects || now.height - made.height > MAX_BLOCKS)
        throw new Error('too many blocks changed');
      for (let height = made.height + 1; height <= now.height; height++) {
        const { touched, deleted } = await index.changes(height);
        const ids = [...touched, ...deleted].map(toLatin1);
        for (const id of ids) {
          if (waiting.of(id) !== null) this.stale.add(id);
          for (const { claimId } of waiting.repostsOf(id)) this.stale.add(claimId);
        }
        await this.noteKeys(ids.filter((id) => this.tags.has(id)));
      }
    } catch {
      this.tags.clear();
      for (const { claimId } of waiting.outputs()) this.stale.add(claimId);
    }
    this.blocks++;
    this.refreshSoon();
  }

  private refreshSoon(): void {
    this.refreshing ??= this.refresh().finally(() => (this.refreshing = null));
    // The ids of a failed part are stale again, and the next search repeats it.
    this.refreshing.catch(() => undefined);
  }

  /** Marks the documents of claims whose channels have changed their keys as outdated. */
  private async noteKeys(channelIds: readonly string[]): Promise<void> {
    const { index, waiting } = this.deps;
    if (channelIds.length === 0) return;
    const tags = await index.read(({ records }) => keyTagsOf(channelIds, waiting, records));
    for (const [i, channelId] of channelIds.entries()) {
      if (this.tags.get(channelId) === tags[i]) continue;
      this.tags.set(channelId, tags[i]!);
      for (const { claimId } of waiting.ofChannel(channelId).outputs) this.stale.add(claimId);
    }
  }

  /** Rebuilds outdated documents in parts, with yields between them. */
  private async refresh(): Promise<void> {
    let since = performance.now();
    while (this.stale.size > 0) {
      const ids: string[] = [];
      for (const id of this.stale) {
        if (ids.length === CLAIMS_A_PART) break;
        ids.push(id);
        this.stale.delete(id);
      }
      try {
        await this.makePart(ids);
      } catch (error) {
        for (const id of ids) this.stale.add(id);
        throw error;
      }
      this.blocks++;
      since = await yieldIfDue(since, SLICE_MS);
    }
  }

  private async make(): Promise<void> {
    const { dirty } = this;
    this.dirty = new Set();
    const ids = [...dirty];
    let since = performance.now();
    try {
      for (let at = 0; at < ids.length; at += CLAIMS_A_PART) {
        await this.makePart(ids.slice(at, at + CLAIMS_A_PART));
        ids.fill('', at, at + CLAIMS_A_PART);
        since = await yieldIfDue(since, SLICE_MS);
      }
    } catch (error) {
      for (const id of ids) if (id !== '') this.dirty.add(id);
      throw error;
    }
  }

  private makePart(ids: readonly string[]): Promise<void> {
    const part = this.lastPart.then(() => this.putDocuments(ids));
    this.lastPart = part.catch(() => undefined);
    return part;
  }

  private async putDocuments(ids: readonly string[]): Promise<void> {
    const { index, waiting, timesOf } = this.deps;
    const outputs = ids.map((id) => waiting.of(id)).filter((output) => output !== null);
    const channelIds = [...new Set(outputs.flatMap(({ channelId }) => channelId ?? []))];
    const [claims, tags] = await index.read(async (scope) => [
      await describeWaiting(scope, waiting, outputs),
      await keyTagsOf(channelIds, waiting, scope.records),
    ]);
    for (const [i, channelId] of channelIds.entries()) this.tags.set(channelId, tags[i]!);
    const updates = [...claims.values()].filter(({ waiting: facts }) => facts!.creationTimeSec === null);
    const heights = [...new Set(updates.map(({ creationHeight }) => creationHeight))];
    const times = heights.length === 0 ? [] : await timesOf(heights);
    const timeAt = new Map(heights.map((height, i) => [height, times[i]!]));
    for (const id of ids) {
      const output = waiting.of(id);
      const claim = output && claims.get(output.point);
      const document = claim && (await this.documentOf(claim, output, timeAt));
      if (document) this.columns.put({ claimId: id, document, arrival: output.arrival });
      else this.columns.take(id);
    }
  }

  private async documentOf(
    claim: PlainClaim,
    { arrival }: WaitingOutput,
    timeAt: ReadonlyMap<number, number>,
  ): Promise<ClaimDocument | null> {
    const { prefixes } = this.deps;
    const { timeSec, creationTimeSec, value } = claim.waiting!;
    const metadata = readMetadata(value, prefixes);
    if (metadata === null) return null;
    const repostedValue = claim.repostedId && (await this.valueOf(claim.repostedId));
    const reposted = repostedValue && readMetadata(repostedValue, prefixes);
    const places = {
      txNum: FIRST_TX_NUM + arrival,
      creationTxNum: 0,
      timeSec,
      creationTimeSec: creationTimeSec ?? timeAt.get(claim.creationHeight) ?? timeSec,
    };
    return makeDocument(claim, places, metadata, reposted);
  }

  private async valueOf(claimId: Bytes): Promise<Bytes | null> {
    const { waiting, index } = this.deps;
    const output = waiting.of(toLatin1(claimId));
    return output === null ? index.value(fromLatin1(toLatin1(claimId))) : output.value;
  }
}

function satisfies(tests: readonly PlaceTest[], place: number, entry: WaitingDocument): boolean {
  for (const test of tests) if (!test(place, entry)) return false;
  return true;
}

/**
 * Separates the condition whether a claim controls its name from the other conditions. Control depends on other claims of
 * the name, so it is looked up and not stored in documents.
 */
function withoutControlling(conditions: readonly Condition[]): [readonly Condition[], boolean | null] {
  const isStanding = (condition: Condition): boolean =>
    condition.kind === 'bool' && condition.column === 'is_controlling';
  const wanted = conditions.find(isStanding) as (Condition & { kind: 'bool' }) | undefined;
  return [conditions.filter((condition) => !isStanding(condition)), wanted?.value ?? null];
}

/**
 * Whether to scan an order until enough documents are found, instead of comparing all candidates. With evenly spread
 * candidates, a scan ends after `all * most / candidates` positions.
 */
function isScanned(candidates: number, all: number, most: number): boolean {
  return candidates * candidates > all * most;
}

/** Returns the index in a sorted list at which a position must be inserted. */
function placeIn(
  places: readonly number[],
  place: number,
  compare: (a: number, b: number) => number,
): number {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(place, places[middle]!) < 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Collects the first positions of an order from any number of candidates, without sorting all of them. */
class FirstPlaces {
  private readonly compare: (a: number, b: number) => number;
  private readonly most: number;
  private places: number[] = [];

  constructor(compare: (a: number, b: number) => number, most: number) {
    this.compare = compare;
    this.most = most;
  }

  offer(place: number): void {
    const { places, compare, most } = this;
    if (most === Infinity || places.length < most) {
      places.push(place);
      if (places.length === most) places.sort(compare);
      return;
    }
    if (compare(place, places[most - 1]!) >= 0) return;
    places.splice(placeIn(places, place, compare), 0, place);
    places.pop();
  }

  take(): readonly number[] {
    if (this.places.length < this.most) this.places.sort(this.compare);
    return this.places;
  }
}
