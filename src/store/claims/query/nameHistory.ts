/**
 * The history of one name by block: items (claims and supports) that were created, activated, removed and moved, the
 * controlling claim, and its amount. The history is read from the item rows and the history of controlling claims, which are
 * never deleted. It does not contain outputs that were created and spent within a block.
 */
import { ownerOf, type NameOwner } from '../../../claimtrie/forecast.js';
import { compareCreation, REMOVAL, type Item } from '../../../claimtrie/item.js';
import { normalizeKey } from '../../../claimtrie/nameKey.js';
import {
  addActiveItems,
  addSupport,
  emptyNameState,
  findById,
  indexOnly,
  removeActiveClaims,
  type NameState,
} from '../../../claimtrie/nameState.js';
import { u32Key } from '../../rows/keys.js';
import type { RowReader } from '../../rows/rows.js';
import { YieldTimer } from '../../../scheduler/yieldTimer.js';
import { itemsKey, parseItemKey } from '../rows/claimKeys.js';
import { aliveItems, itemsSince, wasFiled, type ItemSource } from './itemHistory.js';
import { parseItemRow } from '../rows/itemRow.js';
import { ownershipsAfter, readOwnership } from './ownership.js';

/**
 * Event types of an item (claim or support) under the name. `claim`, `update`, `support`: an output was created (it may be
 * pending). `abandon`: the item was spent without an update under this name. `arrival` and `departure`: the normalization
 * fork moved the item from or to another spelling. `activation`: a pending item became active. `expiration`: the item's term
 * ended.
 */
export const NAME_EVENTS = [
  'claim',
  'update',
  'support',
  'abandon',
  'departure',
  'arrival',
  'activation',
  'expiration',
] as const;
export type NameEventType = (typeof NAME_EVENTS)[number];

export interface NameEvent {
  type: NameEventType;
  item: Item;
  /** For `claim`, `update`, `support` and `arrival`: whether the item (claim or support) is active at the end of the block. */
  isActive?: boolean;
  /** For `update`: the output that the update replaced, if that output was stored under this name. */
  replaces?: Item;
  /** For `arrival` and `departure`: the other name, latin1. */
  otherName?: string;
}

/** A block that changed the name, and the name's state after it. */
export interface NameBlock {
  height: number;
  /** Events in the order of `NAME_EVENTS`, and then in the order of creation. */
  events: NameEvent[];
  /** Active claims. */
  claims: number;
  owner: NameOwner | null;
  /** Claim id (latin1) of the claim that controlled the name before the block; empty without such a claim. */
  formerId: string;
  /** Takeover height of the controlling claim; 0 if the name has none. */
  takeover: number;
  /**
   * New effective amounts that the block changed, by claim id (latin1). 0 for a claim that is not active under this name any
   * more.
   */
  amounts: Map<string, bigint>;
}

/** Whether the block changed the controlling claim of the name. Includes changes from or to no controlling claim. */
export function isTakeover({ owner, formerId }: NameBlock): boolean {
  return (owner?.claimId ?? '') !== formerId;
}

export interface NameHistoryQuery {
  /** Name as stored in the trie. */
  name: string;
  /** First and last block of the requested range (inclusive). */
  from: number;
  to: number;
  /** Number of events of a page. The page ends with the block in which this number is reached. */
  count: number;
}

export interface NameHistoryPage {
  blocks: NameBlock[];
  /** Height of the next block to read; null at the end. */
  next: number | null;
}

export async function readNameHistory(rows: RowReader, query: NameHistoryQuery): Promise<NameHistoryPage> {
  const { name, from, to, count } = query;
  if (from > to) return { blocks: [], next: null };
  const base = from > 0 ? await aliveItems(rows, name, from - 1) : [];
  const { items, until } = await itemsOfPage(rows, query);
  const byHeight = await changedByHeight(base, items, from, until);
  const life = await lifeFrom(rows, name, base, from, [...byHeight.values()].flat());
  const heights = [...byHeight.keys()].sort((a, b) => a - b);
  const blocks: NameBlock[] = [];
  const yieldTimer = new YieldTimer();
  let listed = 0;
  for (const height of heights) {
    if (listed >= count) break;
    const block = await life.block(height, byHeight.get(height)!.sort(compareCreation));
    listed += block.events.length + (isTakeover(block) ? 1 : 0);
    blocks.push(block);
    await yieldTimer.pause();
  }
  await addTakeovers(rows, name, from, blocks);
  const isWhole = blocks.length === heights.length && until === to;
  return { blocks, next: isWhole ? null : (blocks.at(-1)?.height ?? until) + 1 };
}

function addTo(byHeight: Map<number, Item[]>, height: number, item: Item): void {
  const changed = byHeight.get(height);
  if (changed) changed.push(item);
  else byHeight.set(height, [item]);
}

/** The items (claims and supports) that each block from `from` to `until` changed, by height. */
async function changedByHeight(
  base: readonly Item[],
  items: readonly Item[],
  from: number,
  until: number,
): Promise<Map<number, Item[]>> {
  const yieldTimer = new YieldTimer();
  const byHeight = new Map<number, Item[]>();
  for (const item of [...base, ...items]) {
    // The normalization fork's block may move an item (claim or support) right after its creation. Then its creation
    // belongs to the other name.
    if (item.removed === item.since) continue;
    const { since, activated, removed } = item;
    // A moved item (claim or support) may have become active before, under its other name. A height of 0 means that the event
    // has not happened.
    if (since >= from && since <= until) addTo(byHeight, since, item);
    if (activated > since && activated >= from && activated <= until) addTo(byHeight, activated, item);
    if (removed > since && removed !== activated && removed >= from && removed <= until)
      addTo(byHeight, removed, item);
    if (yieldTimer.isDue) await yieldTimer.pause();
  }
  return byHeight;
}

/**
 * The state of the name before block `from`. `base` contains the items (claims and supports) that are stored under the name
 * at that time, `changing` those that the following blocks change.
 */
async function lifeFrom(
  rows: RowReader,
  name: string,
  base: readonly Item[],
  from: number,
  changing: readonly Item[],
): Promise<NameLife> {
  const life = new NameLife(name, rows);
  life.begin(
    base.filter((item) => isActiveAfter(item, from - 1)),
    changing,
  );
  await new YieldTimer().pause();
  return life;
}

export interface LatestHistoryQuery extends NameHistoryQuery {
  /** Number of events of block `to` to leave out, counted from the latest event. */
  readonly skip: number;
}

/** A block with a part of its events. */
export interface NameBlockPart extends NameBlock {
  /** Whether this part includes the block's takeover. The takeover is the last event of a block. */
  readonly showsTakeover: boolean;
}

export interface LatestHistoryPage {
  /** Blocks, sorted from the latest; the events of each block too. */
  readonly blocks: readonly NameBlockPart[];
  /** Start of the next page: the block, and the number of its events to skip. Null at the end. */
  readonly next: { readonly to: number; readonly skip: number } | null;
}

/**
 * Numbers of blocks in which the events are searched, counted back from the last block. A larger window is used if the
 * previous one has too few events. Arbitrary.
 */
const WINDOWS: readonly number[] = [1000, 30_000, Infinity];

/** The latest `count` events up to block `to`. `source` returns the items of the name. */
export async function readLatestHistory(
  rows: RowReader,
  source: ItemSource,
  { name, from, to, count, skip }: LatestHistoryQuery,
): Promise<LatestHistoryPage> {
  if (from > to) return { blocks: [], next: null };
  for (const window of WINDOWS) {
    const first = Math.max(from, to - window + 1);
    const base = first > 0 ? await source.aliveAt(first - 1) : [];
    const items = await source.madeIn(first, to);
    const byHeight = await changedByHeight(base, items, first, to);
    const heights = [...byHeight.keys()].sort((a, b) => a - b);
    let lowest = heights.length;
    for (let events = 0; lowest > 0 && events < count + skip; lowest--)
      events += leastEvents(heights[lowest - 1]!, byHeight.get(heights[lowest - 1]!)!);
    if (lowest === 0 && first > from) continue;
    const begin = heights[lowest] ?? first;
    const before = [...base, ...items].filter((item) => wasFiled(item, begin - 1));
    const shown = heights.slice(lowest);
    const changing = shown.flatMap((height) => byHeight.get(height)!);
    const life = await lifeFrom(rows, name, before, begin, changing);
    const blocks: NameBlock[] = [];
    const yieldTimer = new YieldTimer();
    for (const height of shown) {
      blocks.push(await life.block(height, byHeight.get(height)!.sort(compareCreation)));
      if (yieldTimer.isDue) await yieldTimer.pause();
    }
    await addTakeovers(rows, name, first, blocks);
    return latestParts(blocks, { to, count, skip, isAll: lowest === 0 });
  }
  return { blocks: [], next: null };
}

/**
 * A lower bound for the number of events of a block. Spent items (claims and supports) are not counted, because an update
 * may have spent them.
 */
function leastEvents(height: number, items: readonly Item[]): number {
  return items.reduce(
    (sum, { since, activated }) => sum + (since === height || activated === height ? 1 : 0),
    0,
  );
}

/** Selects the events of a page. `blocks` have the oldest block first. `isAll`: the name has no events before these blocks. */
function latestParts(
  blocks: readonly NameBlock[],
  { to, count, skip, isAll }: { to: number; count: number; skip: number; isAll: boolean },
): LatestHistoryPage {
  const parts: NameBlockPart[] = [];
  let left = count;
  for (let at = blocks.length - 1; at >= 0; at--) {
    const block = blocks[at]!;
    const { height, events } = block;
    const takeovers = isTakeover(block) ? 1 : 0;
    const begin = height === to ? Math.min(skip, events.length + takeovers) : 0;
    const end = Math.min(begin + left, events.length + takeovers);
    if (end > begin) parts.push(partOf(block, begin, end));
    left -= end - begin;
    if (left > 0) continue;
    if (end < events.length + takeovers) return { blocks: parts, next: { to: height, skip: end } };
    return { blocks: parts, next: at === 0 && isAll ? null : { to: height - 1, skip: 0 } };
  }
  return { blocks: parts, next: null };
}

/** The events of a block from `begin` to `end` (excluded), counted from the latest event. */
function partOf(block: NameBlock, begin: number, end: number): NameBlockPart {
  const takeovers = isTakeover(block) ? 1 : 0;
  const events = block.events
    .toReversed()
    .slice(Math.max(0, begin - takeovers), Math.max(0, end - takeovers));
  const showsTakeover = takeovers === 1 && begin === 0;
  if (events.length === block.events.length) return { ...block, events, showsTakeover };
  const shown = new Set(events.map(({ item }) => item.claimId));
  const amounts = new Map([...block.amounts].filter(([claimId]) => shown.has(claimId)));
  return { ...block, events, amounts, showsTakeover };
}

/**
 * Items (claims and supports) stored in whole blocks from block `from` on, until the page is full. `until` is the last block
 * that was read.
 */
async function itemsOfPage(
  rows: RowReader,
  { name, from, to, count }: NameHistoryQuery,
): Promise<{ items: Item[]; until: number }> {
  const prefix = itemsKey(name);
  const items: Item[] = [];
  const yieldTimer = new YieldTimer();
  for await (const [key, row] of rows.range({ gte: prefix + u32Key(from), lt: prefix + u32Key(to + 1) })) {
    const { since, point } = parseItemKey(key);
    const last = items.at(-1);
    if (last !== undefined && items.length >= count && last.since !== since)
      return { items, until: last.since };
    items.push(parseItemRow(name, since, point, row));
    if (yieldTimer.isDue) await yieldTimer.pause();
  }
  return { items, until: to };
}

function isActiveAfter({ activated }: Item, height: number): boolean {
  return activated !== 0 && activated <= height;
}

/** Sets the takeover height after each of the blocks. The first block is not below `from`. */
async function addTakeovers(
  rows: RowReader,
  name: string,
  from: number,
  blocks: readonly NameBlock[],
): Promise<void> {
  const last = blocks.at(-1);
  if (last === undefined) return;
  let current = from > 0 ? await readOwnership(rows, name, from - 1) : { hasClaims: false, takeover: 0 };
  const changes = await ownershipsAfter(rows, name, from - 1, last.height);
  let at = 0;
  for (const block of blocks) {
    for (; at < changes.length && changes[at]!.height <= block.height; at++) current = changes[at]!;
    block.takeover = block.owner === null ? 0 : current.takeover;
  }
}

/** The state of a name, which is updated block by block. */
class NameLife {
  private readonly name: string;
  private readonly rows: RowReader;
  private readonly state: NameState = emptyNameState();

  constructor(name: string, rows: RowReader) {
    this.name = name;
    this.rows = rows;
  }

  /** Enters the items that are active at the start. `changing`: the items that the blocks change. */
  begin(active: readonly Item[], changing: readonly Item[]): void {
    const supports = active.filter(({ kind }) => kind === 'support');
    this.enter(active.filter(({ kind }) => kind !== 'support'));
    indexOnly(this.state, new Set([...supports, ...changing].map(({ claimId }) => claimId)));
    this.enter(supports);
  }

  private enter(items: readonly Item[]): void {
    addActiveItems(this.state, items);
  }

  private leave(items: readonly Item[]): void {
    for (const { kind, claimId, amount } of items)
      if (kind === 'support') addSupport(this.state, claimId, -amount);
    removeActiveClaims(
      this.state,
      items.filter(({ kind }) => kind !== 'support'),
    );
  }

  /**
   * Applies the changes of block `height` to these items (claims and supports), which are in the order of creation. Returns
   * the events.
   */
  async block(height: number, items: readonly Item[]): Promise<NameBlock> {
    const { claims } = this.state;
    const formerId = claims[0]?.claimId ?? '';
    const amounts = new Map<string, bigint>();
    for (const { claimId } of items) amounts.set(claimId, this.effectiveOf(claimId));
    this.apply(height, items);
    for (const [claimId, before] of amounts) {
      const now = this.effectiveOf(claimId);
      if (now === before) amounts.delete(claimId);
      else amounts.set(claimId, now < 0n ? 0n : now);
    }
    const events = await this.eventsOf(height, items);
    const owner = ownerOf(this.state);
    return { height, events, claims: claims.length, owner, formerId, takeover: 0, amounts };
  }

  /** Effective amount of a claim; -1 if the claim is not active, since an active claim may have the amount 0. */
  private effectiveOf(claimId: string): bigint {
    return findById(this.state, claimId)?.effective ?? -1n;
  }

  /** Removes and adds amounts in the order of the consensus rules, so that supports apply to the updated claim. */
  private apply(height: number, items: readonly Item[]): void {
    const removed = items.filter((item) => item.removed === height);
    this.leave(removed.filter(({ removal, activated }) => removal !== REMOVAL.expired && activated !== 0));
    this.enter(
      items.filter(({ since, activated }) => activated !== 0 && Math.max(since, activated) === height),
    );
    this.leave(removed.filter(({ removal }) => removal === REMOVAL.expired));
  }

  private async eventsOf(height: number, items: readonly Item[]): Promise<NameEvent[]> {
    const events: NameEvent[] = [];
    for (const item of items) {
      const { since, activated } = item;
      const isActive = activated !== 0 && activated <= height;
      if (since === height) {
        if (item.height === since) events.push({ type: item.kind, item, isActive });
        else events.push({ type: 'arrival', item, isActive, otherName: item.rawName });
      }
      if (activated === height && item.height < height) events.push({ type: 'activation', item });
      if (item.removed === height) {
        if (item.removal === REMOVAL.expired) events.push({ type: 'expiration', item });
        else if (item.removal === REMOVAL.refiled)
          events.push({ type: 'departure', item, otherName: normalizeKey(this.name) });
      }
    }
    events.push(...(await this.spendings(height, items, events)));
    return events.sort((a, b) => NAME_EVENTS.indexOf(a.type) - NAME_EVENTS.indexOf(b.type));
  }

  /**
   * Adds the spent items (claims and supports) of block `height` to the events: as part of an `update`, or as an `abandon`
   * event.
   */
  private async spendings(
    height: number,
    items: readonly Item[],
    events: readonly NameEvent[],
  ): Promise<NameEvent[]> {
    const updates = new Map<string, NameEvent>();
    for (const event of events) if (event.type === 'update') updates.set(event.item.claimId, event);
    const found: NameEvent[] = [];
    let moved: ReadonlySet<string> | null = null;
    for (const item of items) {
      if (item.removed !== height || item.removal !== REMOVAL.spent) continue;
      const update = item.kind === 'support' ? undefined : updates.get(item.claimId);
      if (update !== undefined && update.replaces === undefined) {
        update.replaces = item;
        continue;
      }
      if (item.kind !== 'support') moved ??= await this.updatedElsewhere(height);
      if (item.kind !== 'support' && moved?.has(item.claimId) === true)
        found.push({ type: 'departure', item, otherName: normalizeKey(this.name) });
      else found.push({ type: 'abandon', item });
    }
    return found;
  }

  /** Ids of the claims that block `height` updated under the normalized name, if the normalized name differs from this name. */
  private async updatedElsewhere(height: number): Promise<ReadonlySet<string>> {
    const normalized = normalizeKey(this.name);
    if (normalized === this.name) return new Set();
    const made = await itemsSince(this.rows, normalized, height, height);
    return new Set(
      made.filter((item) => item.kind === 'update' && item.height === height).map(({ claimId }) => claimId),
    );
  }
}
