/**
 * What a block did to claims and supports, from the log of the claim trie: it has what connecting decided, invalid
 * updates, expirations and activations included, and stays as long as the block does, so that an index far behind the tip
 * reads there what it would have seen at the tip. What came and went within the block is not in it.
 */
import type { WorkEvent } from '../../claimtrie/claimWork.js';
import { REMOVAL, type Item } from '../../claimtrie/item.js';
import { logKey } from '../../store/claims/rows/claimKeys.js';
import { itemsByOrdinal } from '../../store/claims/query/itemHistory.js';
import { parseLogChunk, type ItemRef, type LogEvent } from '../../store/claims/rows/logRow.js';
import type { RowReader } from '../../store/rows/rows.js';
import { assert } from '../../util/assert.js';
import { yieldIfDue } from '../../scheduler/yield.js';

export interface BlockItems {
  /** Made by the block and alive at its end. */
  readonly created: readonly CreatedItem[];
  /** Spent or expired. */
  readonly removed: readonly Item[];
  /** Items of earlier blocks that became active. */
  readonly activated: readonly Item[];
  /** Names, as they are filed, whose takeover height the block changed. */
  readonly takeovers: readonly string[];
}

export interface CreatedItem {
  readonly item: Item;
  /** Whether it entered the trie in this block. The item itself is as it became since. */
  readonly isActive: boolean;
}

/** Whether the item was spent, rather than that its term ended. */
export const wasSpent = ({ removal }: Item): boolean => removal === REMOVAL.spent;

const refGroup = ({ name, since }: ItemRef): string => `${since}:${name}`;

/** The claims and supports that a chunk of the log speaks of, but those which only moved to another name. */
async function itemsOf(rows: RowReader, events: readonly LogEvent[]): Promise<(ref: ItemRef) => Item> {
  const groups = new Map<string, Map<number, Item>>();
  let since = performance.now();
  for (const event of events) {
    if (!('isSupport' in event) || event.op === 'refile' || groups.has(refGroup(event.ref))) continue;
    const { ref } = event;
    groups.set(refGroup(ref), await itemsByOrdinal(rows, ref.name, ref.since));
    since = await yieldIfDue(since);
  }
  return (ref) => {
    const item = groups.get(refGroup(ref))?.get(ref.ordinal);
    assert(item, 'an item of the log of a block is missing');
    return item;
  };
}

/** Changes of a block that follow from connecting it to the claim trie. */
export function itemsOfLog(log: readonly WorkEvent[]): BlockItems {
  const created: CreatedItem[] = [];
  const removed: Item[] = [];
  const activated: Item[] = [];
  const takeovers = new Set<string>();
  for (const event of log) {
    if (event.op === 'takeover') takeovers.add(event.name);
    else if (event.op === 'create') created.push({ item: event.item, isActive: event.item.activated !== 0 });
    else if (event.op === 'spend' || event.op === 'expire') removed.push(event.item);
    else if (event.op === 'activate') activated.push(event.item);
  }
  return { created, removed, activated, takeovers: [...takeovers] };
}

/** What the block of this height did; it must be of the active chain, and connected to the claim trie. */
export async function readBlockItems(rows: RowReader, height: number): Promise<BlockItems> {
  const created: CreatedItem[] = [];
  const removed: Item[] = [];
  const activated: Item[] = [];
  const takeovers = new Set<string>();
  for (let chunk = 0; ; chunk++) {
    const row = await rows.get(logKey(height, chunk));
    if (row === undefined) break;
    const events = parseLogChunk(height, row);
    const find = await itemsOf(rows, events);
    for (const event of events) {
      if (event.op === 'takeover') takeovers.add(event.name);
      else if (event.op === 'create') created.push({ item: find(event.ref), isActive: event.active });
      else if (event.op === 'spend' || event.op === 'expire') removed.push(find(event.ref));
      else if (event.op === 'activate') activated.push(find(event.ref));
    }
  }
  return { created, removed, activated, takeovers: [...takeovers] };
}
