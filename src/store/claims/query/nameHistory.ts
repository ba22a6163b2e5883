/**
 * The history of one name by block: items that were filed, entered, left and moved, the owner, and its amount. It is read
 * from the item rows and the history of owners, which are never dropped. Outputs that were created and spent within a block
 * are not in it.
 */
import { ownerOf, type Owner } from '../../../claimtrie/forecast.js';
import { compareCreation, REMOVAL, type Item } from '../../../claimtrie/item.js';
import { normalizeKey } from '../../../claimtrie/nameKey.js';
import {
  addActiveClaim,
  addSupport,
  emptyNameState,
  findById,
  removeActiveClaim,
  type NameState,
} from '../../../claimtrie/nameState.js';
import { u32Key } from '../../rows/keys.js';
import type { RowReader } from '../../rows/rows.js';
import { YieldTimer } from '../../../scheduler/yieldTimer.js';
import { itemsKey, parseItemKey } from '../rows/claimKeys.js';
import { aliveItems, itemsSince } from './itemHistory.js';
import { parseItemRow } from '../rows/itemRow.js';
import { ownershipsAfter, readOwnership } from './ownership.js';

/**
 * What happened to an item under the name. `claim`, `update`, `support`: an output was created (it may be pending);
 * `abandon`: it was spent without an update that is filed here; `arrival` and `departure`: it moved from or to another
 * spelling, at the normalization fork; `activation`: a pending item entered; `expiration`: its term ended.
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
  /** For `claim`, `update`, `support` and `arrival`: whether it is in the trie at the end of the block. */
  isActive?: boolean;
  /** For an `update`: the output that it replaced, if that was filed here. */
  replaces?: Item;
  /** For `arrival` and `departure`: the other name, latin1. */
  otherName?: string;
}

/** A block that changed the name, and the name's state after it. */
export interface NameBlock {
  height: number;
  /** In the order of `NAME_EVENTS`, and of creation. */
  events: NameEvent[];
  /** Active claims. */
  claims: number;
  owner: Owner | null;
  /** Claim id of the previous owner, latin1; empty without one. */
  formerId: string;
  /** 0 without an owner. */
  takeover: number;
  /** Changed effective amounts by claim id (latin1); 0 if the claim is not active under this name any more. */
  amounts: Map<string, bigint>;
}

/** Whether the block changed the owner of the name, including from or to none. */
export function isTakeover({ owner, formerId }: NameBlock): boolean {
  return (owner?.claimId ?? '') !== formerId;
}

export interface NameHistoryQuery {
  /** Name as filed in the trie. */
  name: string;
  /** First and last block of the range. */
  from: number;
  to: number;
  /** The page ends with the block in which the number of events reaches this. */
  count: number;
}

export interface NameHistoryPage {
  blocks: NameBlock[];
  /** Next block to read; null at the end. */
  next: number | null;
}

export async function readNameHistory(rows: RowReader, query: NameHistoryQuery): Promise<NameHistoryPage> {
  const { name, from, to, count } = query;
  if (from > to) return { blocks: [], next: null };
  const base = from > 0 ? await aliveItems(rows, name, from - 1) : [];
  const { items, until } = await itemsOfPage(rows, query);
  const byHeight = await changedByHeight(base, items, from, until);
  const life = await lifeFrom(rows, name, base, from);
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

/** The items that each block from `from` to `until` changed. */
async function changedByHeight(
  base: readonly Item[],
  items: readonly Item[],
  from: number,
  until: number,
): Promise<Map<number, Item[]>> {
  const yieldTimer = new YieldTimer();
  const byHeight = new Map<number, Item[]>();
  for (const item of [...base, ...items]) {
    // The normalization fork's block may file an item under another name right after its creation. Then it was created
    // there.
    if (item.removed === item.since) continue;
    for (const height of new Set([item.since, item.activated, item.removed])) {
      // A moved item may have entered under another name before. 0 means that the event has not happened.
      if (height < item.since || height < from || height > until) continue;
      const changed = byHeight.get(height);
      if (changed) changed.push(item);
      else byHeight.set(height, [item]);
    }
    if (yieldTimer.isDue) await yieldTimer.pause();
  }
  return byHeight;
}

/** The name as it is before block `from`; `base` is what is filed under it then. */
async function lifeFrom(
  rows: RowReader,
  name: string,
  base: readonly Item[],
  from: number,
): Promise<NameLife> {
  const yieldTimer = new YieldTimer();
  const life = new NameLife(name, rows);
  for (const item of base) {
    if (isActiveAfter(item, from - 1)) life.enter(item);
    if (yieldTimer.isDue) await yieldTimer.pause();
  }
  return life;
}

export interface LatestHistoryQuery extends NameHistoryQuery {
  /** The latest events of block `to` that are left out. */
  readonly skip: number;
}

/** A block with some of its events. */
export interface NameBlockPart extends NameBlock {
  /** Whether a takeover belongs to these events; it is the last of its block. */
  readonly showsTakeover: boolean;
}

export interface LatestHistoryPage {
  /** The latest block first, and the latest event of each block first. */
  readonly blocks: readonly NameBlockPart[];
  /** The block and the events to skip for the next page; null at the end. */
  readonly next: { readonly to: number; readonly skip: number } | null;
}

/** Blocks before the last one in which events are searched, until there are enough. Arbitrary. */
const WINDOWS: readonly number[] = [1000, 30_000, Infinity];

/** The latest `count` events up to block `to`. */
export async function readLatestHistory(
  rows: RowReader,
  { name, from, to, count, skip }: LatestHistoryQuery,
): Promise<LatestHistoryPage> {
  if (from > to) return { blocks: [], next: null };
  for (const window of WINDOWS) {
    const first = Math.max(from, to - window + 1);
    const base = first > 0 ? await aliveItems(rows, name, first - 1) : [];
    const items = await itemsSince(rows, name, first, to);
    const byHeight = await changedByHeight(base, items, first, to);
    const heights = [...byHeight.keys()].sort((a, b) => a - b);
    let lowest = heights.length;
    for (let events = 0; lowest > 0 && events < count + skip; lowest--)
      events += leastEvents(heights[lowest - 1]!, byHeight.get(heights[lowest - 1]!)!);
    if (lowest === 0 && first > from) continue;
    const life = await lifeFrom(rows, name, base, first);
    const blocks: NameBlock[] = [];
    const yieldTimer = new YieldTimer();
    for (const [i, height] of heights.entries()) {
      const changed = byHeight.get(height)!.sort(compareCreation);
      if (i < lowest) life.pass(height, changed);
      else blocks.push(await life.block(height, changed));
      if (yieldTimer.isDue) await yieldTimer.pause();
    }
    await addTakeovers(rows, name, first, blocks);
    return latestParts(blocks, { to, count, skip, isAll: lowest === 0 });
  }
  return { blocks: [], next: null };
}

/** A lower bound of the events of a block: what was spent may belong to an update. */
function leastEvents(height: number, items: readonly Item[]): number {
  return items.reduce(
    (sum, { since, activated }) => sum + (since === height || activated === height ? 1 : 0),
    0,
  );
}

/** `blocks` have the oldest first; `isAll`: nothing happened before them. */
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

/** The events from `begin` to `end`, counted from the latest one. */
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

/** Items filed from block `from` on, for whole blocks, until the page is full; `until` is the last block read. */
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

/** Takeover heights after each of the blocks; the first block is not below `from`. */
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

/** The state of the name, advanced block by block. */
class NameLife {
  private readonly name: string;
  private readonly rows: RowReader;
  private readonly state: NameState = emptyNameState();

  constructor(name: string, rows: RowReader) {
    this.name = name;
    this.rows = rows;
  }

  enter(item: Item): void {
    if (item.kind === 'support') addSupport(this.state, item.claimId, item.amount);
    else addActiveClaim(this.state, item);
  }

  private leave(item: Item): void {
    if (item.kind === 'support') addSupport(this.state, item.claimId, -item.amount);
    else removeActiveClaim(this.state, item.point);
  }

  /** Applies block `height` without a description. */
  pass(height: number, items: readonly Item[]): void {
    this.apply(height, items);
  }

  /** Applies the effects of block `height` on these items, in order of creation. */
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

  /** -1 without an active claim, because a claim may have amount 0. */
  private effectiveOf(claimId: string): bigint {
    return findById(this.state, claimId)?.effective ?? -1n;
  }

  /** Removes and adds amounts in the order of the rules, so that supports are applied to the updated claim. */
  private apply(height: number, items: readonly Item[]): void {
    for (const item of items) {
      if (item.removed !== height || item.removal === REMOVAL.expired || item.activated === 0) continue;
      this.leave(item);
    }
    for (const item of items) {
      if (Math.max(item.since, item.activated) === height && item.activated !== 0) this.enter(item);
    }
    for (const item of items) {
      if (item.removed === height && item.removal === REMOVAL.expired) this.leave(item);
    }
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

  /** Adds the spent items: to an update among `events`, or as an event of its own. */
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

  /** Ids of the claims that block `height` updated under the normalized name, if that differs. */
  private async updatedElsewhere(height: number): Promise<ReadonlySet<string>> {
    const normalized = normalizeKey(this.name);
    if (normalized === this.name) return new Set();
    const made = await itemsSince(this.rows, normalized, height, height);
    return new Set(
      made.filter((item) => item.kind === 'update' && item.height === height).map(({ claimId }) => claimId),
    );
  }
}
