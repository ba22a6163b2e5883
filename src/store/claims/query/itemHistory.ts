/**
 * Reads the claims and supports stored under a name after any block. Uses the item rows, which are never deleted, and the
 * last snapshot of the name before that block. The cost is proportional to the number of unspent items, not to the age of
 * the name.
 */
import type { Item } from '../../../claimtrie/item.js';
import { u32Key } from '../../rows/keys.js';
import type { Bytes } from '../../../util/bytes.js';
import type { MaybePromise } from '../../../util/maybePromise.js';
import type { RowRange, RowReader } from '../../rows/rows.js';
import { YieldTimer } from '../../../scheduler/yieldTimer.js';
import { itemKey, itemsKey, parseItemKey, readU32, snapshotKey } from '../rows/claimKeys.js';
import { isRemovedRow, parseItemRow } from '../rows/itemRow.js';
import type { ItemRef } from '../rows/logRow.js';
import { parseSnapshotRow, SNAPSHOT_ITEMS, type SnapshotEntry } from '../rows/queueRow.js';

/** Whether the item was stored under its name after block `height`, pending or active. */
export function wasFiled(item: Item, height: number): boolean {
  return item.since <= height && (item.removed === 0 || item.removed > height);
}

/** Items (claims and supports) of one name. The data of the items is that of the latest block. */
export interface ItemSource {
  /** Items stored under the name after block `height`, pending and active. */
  aliveAt(height: number): MaybePromise<Item[]>;
  /** Items that were first stored under the name in blocks `from` to `to` (inclusive). */
  madeIn(from: number, to: number): MaybePromise<Item[]>;
}

/** Reads the items of a name from their rows. */
export function itemsInRows(rows: RowReader, name: string): ItemSource {
  return {
    aliveAt: (height) => aliveItems(rows, name, height),
    madeIn: (from, to) => itemsSince(rows, name, from, to),
  };
}

/**
 * Number of items (claims and supports) that the first call reads; further items are read by iteration. Enough for the items
 * since a snapshot of a name with fewer live items than this.
 */
const ITEMS_AT_ONCE = 2 * SNAPSHOT_ITEMS;

/** Items (claims and supports) that were stored under the name in blocks `from` to `to` (inclusive). */
export function itemsSince(rows: RowReader, name: string, from: number, to: number): Promise<Item[]> {
  return collectSince(rows, name, { from, to }, (row) => parseRow(name, row));
}

/** Calls `parse` for the item rows of these blocks. Returns the results that are not null. */
async function collectSince(
  rows: RowReader,
  name: string,
  { from, to }: { from: number; to: number },
  parse: (row: readonly [string, Bytes]) => Item | null,
): Promise<Item[]> {
  const prefix = itemsKey(name);
  const range = { gte: prefix + u32Key(from), lt: prefix + u32Key(to + 1) };
  const items: Item[] = [];
  const add = (row: readonly [string, Bytes]): void => {
    const item = parse(row);
    if (item !== null) items.push(item);
  };
  const first = await rows.getRange({ ...range, limit: ITEMS_AT_ONCE });
  for (const row of first) add(row);
  if (first.length < ITEMS_AT_ONCE) return items;
  const yieldTimer = new YieldTimer();
  for await (const row of rows.range({ ...range, gte: `${first.at(-1)![0]}\0` })) {
    if (yieldTimer.isDue) await yieldTimer.pause();
    add(row);
  }
  return items;
}

function parseRow(name: string, [key, row]: readonly [string, Bytes], ids?: KnownIds): Item {
  const { since, point } = parseItemKey(key);
  return parseItemRow(name, since, point, row, ids?.get(point));
}

/** Claim ids that are known, by outpoint of the claim. */
export type KnownIds = ReadonlyMap<string, string>;

/**
 * Items (claims and supports) stored under a name after the latest block, in key order. Removed items are skipped. The
 * result is invalid if a block is connected or disconnected during the call.
 */
export async function presentItems(
  rows: RowReader,
  name: string,
  height: number,
  ids: KnownIds,
): Promise<Item[]> {
  const parse = (row: readonly [string, Bytes]): Item | null =>
    isRemovedRow(row[1]) ? null : parseRow(name, row, ids);
  const snapshot = await lastSnapshot(rows, name, height);
  if (snapshot === null) return collectSince(rows, name, { from: 0, to: height }, parse);
  const keys = itemKeys(name, snapshot.entries);
  const found = await rows.getMany(keys);
  const items: Item[] = [];
  const yieldTimer = new YieldTimer();
  for (const [i, key] of keys.entries()) {
    if (yieldTimer.isDue) await yieldTimer.pause();
    const row = found[i];
    const item = row && parse([key, row]);
    if (item) items.push(item);
  }
  const younger = await collectSince(rows, name, { from: snapshot.height + 1, to: height }, parse);
  for (const item of younger) items.push(item);
  return items;
}

/**
 * The items (claims and supports) of a name after the block at `height`, and references to the items that changed since the
 * previous version. Immutable.
 */
export interface KeptItems {
  /** Items (claims and supports) by `itemNumber`, in the order of their keys. */
  readonly items: ReadonlyMap<string, Item>;
  readonly height: number;
  readonly changed: readonly ItemRef[];
}

/** Identifies an item among all items of its name. */
export function itemNumber({ since, ordinal }: Pick<ItemRef, 'since' | 'ordinal'>): string {
  return `${since}:${ordinal}`;
}

export function keptItems(items: readonly Item[], height: number): KeptItems {
  return { items: new Map(items.map((item) => [itemNumber(item), item])), height, changed: [] };
}

/**
 * Updates cached items (claims and supports) to the latest block, at `height`. Reads only changed items. Returns null if all
 * items must be read. The result is invalid if a block is connected or disconnected during the call.
 */
export async function renewItems(
  rows: RowReader,
  name: string,
  kept: KeptItems,
  height: number,
): Promise<KeptItems | null> {
  const items = new Map(kept.items);
  const known = new Map<string, Item>();
  const made = new Set<number>();
  for (const ref of kept.changed) {
    const number = itemNumber(ref);
    const item = items.get(number);
    if (item !== undefined) known.set(number, item);
    else if (ref.since > kept.height) made.add(ref.since);
    else return null;
  }
  const found = await rows.getMany(itemKeys(name, [...known.values()]));
  for (const [at, [number, { since, point, claimId }]] of [...known].entries()) {
    const row = found[at];
    if (row === undefined || isRemovedRow(row)) items.delete(number);
    else items.set(number, parseItemRow(name, since, point, row, claimId));
  }
  for (const since of [...made].sort((a, b) => a - b))
    for (const item of await itemsSince(rows, name, since, since))
      if (item.removed === 0) items.set(itemNumber(item), item);
  return { items, height, changed: [] };
}

/** Items (claims and supports) that were first stored under the name in block `since`, by ordinal. */
export async function itemsByOrdinal(
  rows: RowReader,
  name: string,
  since: number,
): Promise<Map<number, Item>> {
  const items = new Map<number, Item>();
  for (const item of await itemsSince(rows, name, since, since)) items.set(item.ordinal, item);
  return items;
}

/**
 * Maximum number of items (claims and supports) that are read in one call, without a search for a snapshot. Most names have
 * fewer. Arbitrary, but less than the number of items before a first snapshot.
 */
export const FEW_ITEMS = 16;

/**
 * Items (claims and supports) stored under the name after block `height`, pending and active, in key order. The data of the
 * items is that of the latest block.
 */
export async function aliveItems(rows: RowReader, name: string, height: number): Promise<Item[]> {
  const few = aliveOfFew(name, await rows.getRange(rangeOfFew(name, height)), height);
  return few ?? (await itemsOfMany(rows, name, height)).filter((item) => wasFiled(item, height));
}

/**
 * Range of the first read of a name's items (claims and supports) up to block `height`. Its limit is one row more than
 * `FEW_ITEMS`.
 */
export function rangeOfFew(name: string, height: number): RowRange {
  const prefix = itemsKey(name);
  return { gte: prefix + u32Key(0), lt: prefix + u32Key(height + 1), limit: FEW_ITEMS + 1 };
}

/**
 * Items (claims and supports) of the rows `few` that were stored after block `height`; null if there are more than
 * `FEW_ITEMS` rows.
 */
export function aliveOfFew(name: string, few: readonly [string, Bytes][], height: number): Item[] | null {
  const items = itemsOfFew(name, few);
  return items && filedAt(items, height);
}

/** The items (claims and supports) of the rows `few`; null if there are more than `FEW_ITEMS` rows. */
export function itemsOfFew(name: string, few: readonly [string, Bytes][]): Item[] | null {
  return few.length > FEW_ITEMS ? null : few.map((row) => parseRow(name, row));
}

/** Returns the items that the claim trie contained after block `height`, pending and active. */
export function filedAt(items: readonly Item[], height: number): Item[] {
  return items.filter((item) => wasFiled(item, height));
}

/** The last snapshot of the name at or before block `height`; null if there is none. */
async function lastSnapshot(
  rows: RowReader,
  name: string,
  height: number,
): Promise<{ height: number; entries: SnapshotEntry[] } | null> {
  const [snapshot] = await rows.getRange({
    gte: snapshotKey(name, 0),
    lt: snapshotKey(name, height + 1),
    reverse: true,
    limit: 1,
  });
  if (snapshot === undefined) return null;
  const [key, row] = snapshot;
  return { height: readU32(key, key.length - 4), entries: parseSnapshotRow(row) };
}

/**
 * The items (claims and supports) of the last snapshot up to block `height`, and the items that were stored since the
 * snapshot.
 */
async function itemsOfMany(rows: RowReader, name: string, height: number): Promise<Item[]> {
  const snapshot = await lastSnapshot(rows, name, height);
  if (snapshot === null) return itemsSince(rows, name, 0, height);
  const items = await itemsAt(rows, name, snapshot.entries);
  return items.concat(await itemsSince(rows, name, snapshot.height + 1, height));
}

/** Key of an item, and its claim id if it is known. */
type ItemPlace = SnapshotEntry & { readonly claimId?: string };

/** Number of items that are read and parsed between two yields to the event loop. Arbitrary: each takes microseconds. */
const ITEMS_A_STEP = 512;

/** The items (claims and supports) at these keys. Keys without an item are omitted. */
export async function itemsAt(rows: RowReader, name: string, places: readonly ItemPlace[]): Promise<Item[]> {
  const items: Item[] = [];
  const yieldTimer = new YieldTimer();
  for (let at = 0; at < places.length; at += ITEMS_A_STEP) {
    if (yieldTimer.isDue) await yieldTimer.pause();
    const some = places.slice(at, at + ITEMS_A_STEP);
    items.push(...parseItems(name, some, await rows.getMany(itemKeys(name, some))));
  }
  return items;
}

export function itemKeys(name: string, places: readonly SnapshotEntry[]): string[] {
  return places.map(({ since, point }) => itemKey(name, since, point));
}

/** The items (claims and supports) at these keys. `found` are the rows at their keys. */
export function parseItems(
  name: string,
  places: readonly ItemPlace[],
  found: readonly (Bytes | undefined)[],
): Item[] {
  const items: Item[] = [];
  places.forEach((place, i) => {
    const { since, point } = place;
    const row = found[i];
    if (row) items.push(parseItemRow(name, since, point, row, place.claimId));
  });
  return items;
}
