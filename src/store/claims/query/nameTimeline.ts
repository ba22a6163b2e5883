/**
 * All claims and supports (items) that were ever stored under a name, in memory. Answers queries about the name as of any block
 * without reading rows. Reading and parsing the rows of thousands of items takes many times longer than such an answer. A new
 * block changes few items, which are read again (`renew`).
 */
import { compareCreation, compareJoining, pointIndex, type Item } from '../../../claimtrie/item.js';
import { compareClaims } from '../../../claimtrie/nameState.js';
import { YieldTimer } from '../../../scheduler/yieldTimer.js';
import type { RowReader } from '../../rows/rows.js';
import { itemsKey, nameKey, parseItemKey } from '../rows/claimKeys.js';
import { parseItemRow } from '../rows/itemRow.js';
import type { ItemRef } from '../rows/logRow.js';
import { parseNameRow } from '../rows/nameRow.js';
import { u32Key } from '../../rows/keys.js';
import {
  describeClaim,
  matchSupports,
  SharedBytes,
  wasActive,
  type BidOrder,
  type ClaimInfo,
} from './claimQueries.js';
import { itemKeys, itemsSince, itemNumber, wasFiled, type ItemSource } from './itemHistory.js';

/** Maximum number of items of a timeline. Arbitrary: bounds the memory and the time of a query to a few milliseconds. */
const MOST_ITEMS = 16_384;

/** Greater than any number of claims of a timeline, so that an age and a position fit into one exact number. */
const PLACES = 2 ** 20;

/**
 * An item. `rank` is the rank of a claim among the ages of all claims of the timeline. Claims with equal height and output number
 * share a rank.
 */
interface Entry {
  item: Item;
  rank: number;
}

/** A page of the claims for a name after a block, and data about all of them. */
export interface BidsOfName {
  /** Numbers of claims, and of active claims. */
  readonly claims: number;
  readonly active: number;
  readonly supportsWithoutClaim: number;
  /** The controlling claim; undefined if the name has none. */
  readonly holder: ClaimInfo | undefined;
  readonly bids: readonly ClaimInfo[];
  /** All claims and supports after the block, for a forecast. */
  readonly items: readonly Item[];
}

export interface BidsPage {
  readonly order: BidOrder;
  /** Number of claims before the page. */
  readonly from: number;
  readonly count: number;
}

/** The order of bids without supports. */
function compareOwnAmounts(a: Item, b: Item): number {
  if (a.amount !== b.amount) return a.amount > b.amount ? -1 : 1;
  return a.height - b.height || (a.point < b.point ? -1 : 1);
}

const compareAges = (a: Item, b: Item): number =>
  a.height - b.height || pointIndex(a.point) - pointIndex(b.point);

export class NameTimeline implements ItemSource {
  private readonly name: string;
  private readonly items = new Map<string, Entry>();
  /** Claims, sorted by their own amount as in the order of bids. */
  private readonly claims: Entry[] = [];
  private readonly supports: Entry[] = [];
  /** The youngest claim. */
  private youngest: Entry | null = null;
  /** Items that blocks have changed since they were read. */
  private changed: ItemRef[] = [];
  private renewing: Promise<void> = Promise.resolve();

  private constructor(name: string) {
    this.name = name;
  }

  /** Reads all items of the name up to the latest block, at `height`. Null if there are too many. */
  static async read(rows: RowReader, name: string, height: number): Promise<NameTimeline | null> {
    const prefix = itemsKey(name);
    const row = await rows.get(nameKey(name));
    const ids = new Map(row && parseNameRow(row).claims.map(({ point, claimId }) => [point, claimId]));
    const items: Item[] = [];
    const yieldTimer = new YieldTimer();
    for await (const [key, value] of rows.range({
      gte: prefix + u32Key(0),
      lt: prefix + u32Key(height + 1),
    })) {
      if (items.length === MOST_ITEMS) return null;
      const { since, point } = parseItemKey(key);
      items.push(parseItemRow(name, since, point, value, ids.get(point)));
      if (yieldTimer.isDue) await yieldTimer.pause();
    }
    const timeline = new NameTimeline(name);
    timeline.add(items);
    return timeline;
  }

  /** Number of items. Each change that is not read yet counts as one. */
  get size(): number {
    return this.items.size + this.changed.length;
  }

  /** Notes that later blocks have changed these items. `renew` reads them again. */
  note(changed: readonly ItemRef[]): void {
    for (const ref of changed) this.changed.push(ref);
  }

  /** Whether the name has more items than a timeline may have. */
  get isTooLong(): boolean {
    return this.size > MOST_ITEMS;
  }

  /**
   * Reads the changed items again. If more blocks are connected during the call, the timeline may contain some of their changes,
   * which do not affect queries about earlier blocks.
   */
  async renew(rows: RowReader): Promise<void> {
    // A call during another renewal waits for that renewal.
    const renewing = this.renewing.then(() => this.readChanged(rows));
    this.renewing = renewing.catch(() => undefined);
    await renewing;
  }

  private async readChanged(rows: RowReader): Promise<void> {
    if (this.changed.length === 0) return;
    const refs = [...this.changed];
    const known = new Map<string, Item>();
    const made = new Set<number>();
    for (const ref of refs) {
      const entry = this.items.get(itemNumber(ref));
      if (entry === undefined) made.add(ref.since);
      else known.set(itemNumber(ref), entry.item);
    }
    const found = await rows.getMany(itemKeys(this.name, [...known.values()]));
    const renewed: Item[] = [];
    [...known.values()].forEach(({ since, point, claimId }, i) => {
      const row = found[i];
      if (row !== undefined) renewed.push(parseItemRow(this.name, since, point, row, claimId));
    });
    for (const since of made) renewed.push(...(await itemsSince(rows, this.name, since, since)));
    this.add(renewed);
    this.changed.splice(0, refs.length);
  }

  /** Adds new items, and replaces items by their newer versions, which have the same place in the order of claims. */
  private add(items: readonly Item[]): void {
    const added: Entry[] = [];
    for (const item of items) {
      const known = this.items.get(itemNumber(item));
      if (known !== undefined) known.item = item;
      else {
        const entry = { item, rank: 0 };
        this.items.set(itemNumber(item), entry);
        if (item.kind === 'support') this.supports.push(entry);
        else added.push(entry);
      }
    }
    if (added.length === 0) return;
    for (const entry of added) this.claims.push(entry);
    this.claims.sort((a, b) => compareOwnAmounts(a.item, b.item));
    this.rank(added);
  }

  /** Ranks the ages of added claims. If a claim is older than a known one, all claims are ranked again. */
  private rank(added: Entry[]): void {
    const byAge = (a: Entry, b: Entry): number => compareAges(a.item, b.item);
    added.sort(byAge);
    const isYounger = this.youngest === null || byAge(this.youngest, added[0]!) <= 0;
    let last = isYounger ? this.youngest : null;
    for (const entry of isYounger ? added : this.claims.toSorted(byAge)) {
      entry.rank = last === null ? 0 : last.rank + (byAge(last, entry) === 0 ? 0 : 1);
      last = entry;
    }
    this.youngest = last;
  }

  aliveAt(height: number): Item[] {
    return this.select((item) => wasFiled(item, height));
  }

  madeIn(from: number, to: number): Item[] {
    return this.select(({ since }) => since >= from && since <= to);
  }

  private select(isWanted: (item: Item) => boolean): Item[] {
    const found: Item[] = [];
    for (const { item } of this.claims) if (isWanted(item)) found.push(item);
    for (const { item } of this.supports) if (isWanted(item)) found.push(item);
    return found;
  }

  /**
   * Returns a page of the claims after block `height`. Null if several claims have the same id, for which the whole name must be
   * read.
   */
  bidsAt(height: number, { order, from, count }: BidsPage): BidsOfName | null {
    const supports = this.supportsAt(height);
    const { claims, active } = this.claimsAt(height, supports);
    if (haveEqualIds(claims)) return null;
    const { matched, unmatched } =
      supports.length === 0
        ? { matched: null, unmatched: [] }
        : matchSupports(
            claims.map(({ item }) => item),
            supports,
          );
    const ages = agesOf(claims);
    const shared = new SharedBytes();
    const claimAt = (bid: number): ClaimInfo => {
      const { item, rank } = claims[bid]!;
      const place = { bid, sequence: placeIn(ages, rank * PLACES + bid) };
      return describeClaim(item, matched?.[bid] ?? [], place, height, shared);
    };
    const end = Math.min(claims.length, from + count);
    const bids: ClaimInfo[] = [];
    for (let at = from; at < end; at++) {
      const age = order === 'newest' ? claims.length - 1 - at : at;
      bids.push(claimAt(order === 'bid' ? at : ages[age]! % PLACES));
    }
    return {
      claims: claims.length,
      active,
      supportsWithoutClaim: unmatched.length,
      holder: active > 0 ? claimAt(0) : undefined,
      bids,
      items: claims.map(({ item }) => item).concat(supports),
    };
  }

  /** Supports after block `height`: active ones in the order in which they became active, then pending ones. */
  private supportsAt(height: number): Item[] {
    const filed = this.supports.map(({ item }) => item).filter((item) => wasFiled(item, height));
    if (filed.length === 0) return filed;
    const active = filed.filter((item) => wasActive(item, height)).sort(compareJoining);
    return active.concat(filed.filter((item) => !wasActive(item, height)).sort(compareCreation));
  }

  /** Claims after block `height` in the order of bids: active ones, then pending ones. */
  private claimsAt(height: number, supports: readonly Item[]): { claims: Entry[]; active: number } {
    const active: Entry[] = [];
    const pending: Entry[] = [];
    for (const entry of this.claims) {
      if (!wasFiled(entry.item, height)) continue;
      (wasActive(entry.item, height) ? active : pending).push(entry);
    }
    pending.sort((a, b) => compareCreation(a.item, b.item));
    return { claims: withSupports(active, supports, height).concat(pending), active: active.length };
  }
}

/** Sorts claims, which are in the order of their own amounts, by their effective amounts. Few claims have supports. */
function withSupports(claims: Entry[], supports: readonly Item[], height: number): Entry[] {
  const sums = new Map<string, bigint>();
  for (const support of supports) {
    if (wasActive(support, height))
      sums.set(support.claimId, (sums.get(support.claimId) ?? 0n) + support.amount);
  }
  if (sums.size === 0) return claims;
  const bidOf = (entry: Entry) => {
    const { item } = entry;
    const effective = item.amount + (sums.get(item.claimId) ?? 0n);
    return { entry, effective, height: item.height, point: item.point };
  };
  const raised = claims.filter(({ item }) => sums.has(item.claimId)).map(bidOf);
  raised.sort(compareClaims);
  const merged: Entry[] = [];
  let at = 0;
  for (const entry of claims) {
    if (sums.has(entry.item.claimId)) continue;
    while (at < raised.length && compareClaims(raised[at]!, bidOf(entry)) < 0)
      merged.push(raised[at++]!.entry);
    merged.push(entry);
  }
  while (at < raised.length) merged.push(raised[at++]!.entry);
  return merged;
}

/** Whether two of the claims have the same id. Claims that were never updated have different ids. */
function haveEqualIds(claims: readonly Entry[]): boolean {
  const updated = new Set<string>();
  for (const { item } of claims) {
    if (item.kind !== 'update') continue;
    if (updated.has(item.claimId)) return true;
    updated.add(item.claimId);
  }
  if (updated.size === 0) return false;
  return claims.some(({ item }) => item.kind === 'claim' && updated.has(item.claimId));
}

/** Ages of the claims with their positions in the order of bids, as sorted numbers. */
function agesOf(claims: readonly Entry[]): Float64Array {
  const ages = new Float64Array(claims.length);
  claims.forEach(({ rank }, bid) => (ages[bid] = rank * PLACES + bid));
  return ages.sort();
}

/** Position of a number in sorted numbers that contain it. */
function placeIn(sorted: Float64Array, wanted: number): number {
  let low = 0;
  for (let high = sorted.length; low < high;) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
