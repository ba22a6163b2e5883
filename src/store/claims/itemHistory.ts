/**
 * Which claims and supports were filed under a name after a block, at any height: from the item rows, which are never
 * deleted, and the name's last snapshot before. Costs in proportion to what is alive, not to the name's age.
 */
import type { Item } from '../../claimtrie/item.js';
import { u32Key } from '../keys.js';
import type { RowReader } from '../rows.js';
import { Breather } from './breather.js';
import { itemKey, itemsKey, parseItemKey, readU32, snapshotKey } from './claimKeys.js';
import { parseItemRow } from './itemRow.js';
import { parseSnapshotRow } from './queueRow.js';

function wasFiled(item: Item, height: number): boolean {
  return item.since <= height && (item.removed === 0 || item.removed > height);
}

/** Items whose `since` lies in `[from, to]`. */
export async function itemsSince(rows: RowReader, name: string, from: number, to: number): Promise<Item[]> {
  const prefix = itemsKey(name);
  const items: Item[] = [];
  const breather = new Breather();
  for await (const [key, row] of rows.range({ gte: prefix + u32Key(from), lt: prefix + u32Key(to + 1) })) {
    if (breather.isDue) await breather.pause();
    const { since, point } = parseItemKey(key);
    items.push(parseItemRow(name, since, point, row));
  }
  return items;
}

/** Items first filed under the name in block `since`, by their number among them. */
export async function itemsByOrdinal(
  rows: RowReader,
  name: string,
  since: number,
): Promise<Map<number, Item>> {
  const items = new Map<number, Item>();
  for (const item of await itemsSince(rows, name, since, since)) items.set(item.ordinal, item);
  return items;
}

/** Items filed under the name after block `height`, pending and active, in key order. Their rows are as of now. */
export async function aliveItems(rows: RowReader, name: string, height: number): Promise<Item[]> {
  const items: Item[] = [];
  let from = 0;
  const range = { gte: snapshotKey(name, 0), lt: snapshotKey(name, height + 1), reverse: true, limit: 1 };
  for await (const [key, row] of rows.range(range)) {
    from = readU32(key, key.length - 4) + 1;
    const entries = parseSnapshotRow(row);
    const found = await rows.getMany(entries.map(({ since, point }) => itemKey(name, since, point)));
    entries.forEach(({ since, point }, i) => {
      const itemRow = found[i];
      if (itemRow) items.push(parseItemRow(name, since, point, itemRow));
    });
  }
  return items.concat(await itemsSince(rows, name, from, height)).filter((item) => wasFiled(item, height));
}
