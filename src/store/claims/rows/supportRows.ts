/**
 * Rows that index the supports of names with many items by claim, so that the supports of one claim can be read without the other
 * items. The rows are derived from the rows of items. Only names with `CROWDED_ITEMS` items or more have these rows. In a
 * data folder of an older version, the rows of a name are created when a block changes the name. Until then all items of the
 * name are read. A reader must compare these rows with the name's row, and read all items if they do not match.
 */
import type { Item } from '../../../claimtrie/item.js';
import type { Bytes } from '../../../util/bytes.js';
import { prefixEnd, type RowTransaction } from '../../rows/rows.js';
import type { RowsAtHand } from '../../rows/rowsAtHand.js';
import { parseItemKey, supportKey, supportsKey, supportsOfKey } from './claimKeys.js';
import { aliveItems } from '../query/itemHistory.js';
import type { SnapshotEntry } from './queueRow.js';
import { RowDecoder, RowEncoder } from './rowCodec.js';

/** Minimum number of items (claims and supports) of a name with these rows. For other names all items are read. Arbitrary. */
export const CROWDED_ITEMS = 64;

const NOTHING: Bytes = new Uint8Array(0);
const encoder = new RowEncoder();

/** Number of supports of the name that have rows in this index; null for a name without these rows. */
export function countSupportRows(rows: RowsAtHand, name: string): number | null {
  const row = rows.get(supportsKey(name));
  return row === undefined ? null : new RowDecoder(row).number();
}

/** The outpoints of the supports of one claim. If there are more than `most`, only `most` + 1 of them are returned. */
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

/** A name that a block changed, with its changed supports. */
export interface ChangedName {
  readonly name: string;
  /** Current number of items (claims and supports) of the name. */
  readonly alive: number;
  /**
   * Supports whose item rows were written, including removed supports. The value tells whether the support remains under the
   * name.
   */
  readonly supports: ReadonlyMap<Item, boolean>;
}

const keyOf = ({ name, claimId, since, point }: Item): string => supportKey(name, claimId, since, point);

/**
 * Updates the rows that index supports by claim, for the names that the current block changed. Must be called after the item
 * rows were written. `height` is the height of the block.
 */
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
