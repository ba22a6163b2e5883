/**
 * The supports of names with many items, by claim: what is filed under such a name can thereby be asked for the supports of one
 * claim alone. The rows follow from the rows of items, and are there exactly for names with `CROWDED_ITEMS` items or more.
 * In a folder of an older version they are made when a block changes the name; until then all items of the name are read. Whoever
 * reads these rows holds them against the name's row, and reads all items where they do not fit.
 */
import type { Item } from '../../claimtrie/item.js';
import type { Bytes } from '../../util/bytes.js';
import { prefixEnd, type RowTransaction } from '../rows.js';
import type { RowsAtHand } from '../rowsAtHand.js';
import { parseItemKey, supportKey, supportsKey, supportsOfKey } from './claimKeys.js';
import { aliveItems } from './itemHistory.js';
import type { SnapshotEntry } from './queueRow.js';
import { RowDecoder, RowEncoder } from './rowCodec.js';

/** Names with fewer items have no such rows: all of their items are read at once. Arbitrary. */
export const CROWDED_ITEMS = 64;

const NOTHING: Bytes = new Uint8Array(0);
const encoder = new RowEncoder();

/** How many supports of the name have rows; null when none has. */
export function countSupportRows(rows: RowsAtHand, name: string): number | null {
  const row = rows.get(supportsKey(name));
  return row === undefined ? null : new RowDecoder(row).number();
}

/** Where the supports of one claim are, one more than `most` if there are more. */
export function supportPlaces(
  rows: RowsAtHand,
  name: string,
  claimId: string,
  most: number,
): SnapshotEntry[] {
  const prefix = supportsOfKey(name, claimId);
  const found = rows.getRange({ gte: prefix, lt: prefixEnd(prefix), limit: most + 1 });
  return found.map(([key]) => parseItemKey(key));
}

/** A name that a block changed, with what became of the supports under it. */
export interface ChangedName {
  readonly name: string;
  /** Items filed under it now. */
  readonly alive: number;
  /** Supports whose rows of items were written; those that are not filed any more among them. */
  readonly supports: ReadonlyMap<Item, boolean>;
}

const keyOf = ({ name, claimId, since, point }: Item): string => supportKey(name, claimId, since, point);

/** Brings the rows of these names up to their items, which have been written. `height` is of the block that is in work. */
export async function putSupportRows(
  rows: RowTransaction,
  height: number,
  names: readonly ChangedName[],
): Promise<void> {
  const counts = await rows.getMany(names.map(({ name }) => supportsKey(name)));
  for (const [i, changed] of names.entries()) {
    const { name, alive } = changed;
    const row = counts[i];
    if (alive < CROWDED_ITEMS) {
      if (row !== undefined) await dropRows(rows, name);
    } else if (row === undefined) await makeRows(rows, name, height);
    else await changeRows(rows, changed, new RowDecoder(row).number());
  }
}

async function dropRows(rows: RowTransaction, name: string): Promise<void> {
  const prefix = supportsKey(name);
  for await (const [key] of rows.range({ gte: prefix, lt: prefixEnd(prefix) })) rows.del(key);
}

async function makeRows(rows: RowTransaction, name: string, height: number): Promise<void> {
  let count = 0;
  for (const item of await aliveItems(rows, name, height)) {
    if (item.kind !== 'support') continue;
    rows.put(keyOf(item), NOTHING);
    count++;
  }
  rows.put(supportsKey(name), encoder.number(count).finish());
}

async function changeRows(
  rows: RowTransaction,
  { name, supports }: ChangedName,
  before: number,
): Promise<void> {
  if (supports.size === 0) return;
  const keys = [...supports.keys()].map(keyOf);
  const known = await rows.getMany(keys);
  let count = before;
  let at = 0;
  for (const isFiled of supports.values()) {
    const key = keys[at]!;
    const isKnown = known[at++] !== undefined;
    if (isFiled && !isKnown) rows.put(key, NOTHING);
    if (!isFiled && isKnown) rows.del(key);
    count += Number(isFiled) - Number(isKnown);
  }
  rows.put(supportsKey(name), encoder.number(count).finish());
}
