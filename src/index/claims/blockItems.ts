/**
 * Effects of a block on claims and supports, read from the log of the claim trie. The log contains the decisions made when
 * the block was connected, including invalid updates, expirations and activations. It is stored as long as the block is
 * connected, so an index far behind the tip reads the same data as at the tip. The log does not contain outputs that were
 * created and spent in the same block.
 */
import { REMOVAL, type Item } from '../../claimtrie/item.js';
import { logKey } from '../../store/claims/rows/claimKeys.js';
import { itemsByOrdinal, itemsOfFew, rangeOfFew } from '../../store/claims/query/itemHistory.js';
import type { LoggedEvent } from '../../store/claims/claimStore.js';
import { parseLogChunk, type ItemRef, type LogEvent } from '../../store/claims/rows/logRow.js';
import type { RowReader } from '../../store/rows/rows.js';
import { assert } from '../../util/assert.js';
import { yieldIfDue } from '../../scheduler/yield.js';

export interface BlockItems {
  /** Items (claims and supports) that the block created and that are unspent at its end. */
  readonly created: readonly CreatedItem[];
  /** Items of earlier blocks that were spent or expired. */
  readonly removed: readonly Item[];
  /** Items of earlier blocks that became active in the block. */
  readonly activated: readonly Item[];
  /** Names, as stored in the claim trie, whose takeover height changed in the block. */
  readonly takeovers: readonly string[];
  /**
   * All items of some names, by name in the claim trie, that were stored in this block or before. Their data is that of the
   * latest block. Null if the block was just connected.
   */
  readonly filed: FiledItems | null;
}

type FiledItems = ReadonlyMap<string, readonly Item[]>;

export interface CreatedItem {
  readonly item: Item;
  /** Whether the item became active in this block. The fields of `item` describe its state at the tip. */
  readonly isActive: boolean;
}

/** Whether a removed item was spent; false if it expired. */
export const wasSpent = ({ removal }: Item): boolean => removal === REMOVAL.spent;

const refGroup = ({ name, since }: ItemRef): string => `${since}:${name}`;

/**
 * Reads the claims and supports to which log events of the block at `height` refer, without those that only moved to another
 * name. Adds the items of names with few items to `filed`, because the amounts of the name need them too.
 */
async function itemsOf(
  rows: RowReader,
  height: number,
  events: readonly LogEvent[],
  filed: Map<string, readonly Item[]>,
): Promise<(ref: ItemRef) => Item> {
  const groups = new Map<string, Map<number, Item>>();
  const many = new Set<string>();
  let since = performance.now();
  for (const event of events) {
    if (!('isSupport' in event) || event.op === 'refile') continue;
    const { name, since: from } = event.ref;
    if (!filed.has(name) && !many.has(name)) {
      const range = rangeOfFew(name, height);
      const few = itemsOfFew(name, rows.getRangeNow?.(range) ?? (await rows.getRange(range)));
      if (few === null) many.add(name);
      else filed.set(name, few);
    }
    if (many.has(name) && !groups.has(refGroup(event.ref)))
      groups.set(refGroup(event.ref), await itemsByOrdinal(rows, name, from));
    const slice = yieldIfDue(since);
    since = typeof slice === 'number' ? slice : await slice;
  }
  return (ref) => {
    const item =
      filed.get(ref.name)?.find((one) => one.since === ref.since && one.ordinal === ref.ordinal) ??
      groups.get(refGroup(ref))?.get(ref.ordinal);
    assert(item, 'an item of the log of a block is missing');
    return item;
  };
}

/** Computes the effects of a block from the log that the claim trie created while connecting it. */
export function itemsOfLog(log: readonly LoggedEvent[]): BlockItems {
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
  return { created, removed, activated, takeovers: [...takeovers], filed: null };
}

/**
 * Reads the effects of the block at this height. The block must be on the active chain, and the claim trie must have applied
 * it.
 */
export async function readBlockItems(rows: RowReader, height: number): Promise<BlockItems> {
  const created: CreatedItem[] = [];
  const removed: Item[] = [];
  const activated: Item[] = [];
  const takeovers = new Set<string>();
  const filed = new Map<string, readonly Item[]>();
  for (let chunk = 0; ; chunk++) {
    const row = await rows.get(logKey(height, chunk));
    if (row === undefined) break;
    const events = parseLogChunk(height, row);
    const find = await itemsOf(rows, height, events, filed);
    for (const event of events) {
      if (event.op === 'takeover') takeovers.add(event.name);
      else if (event.op === 'create') created.push({ item: find(event.ref), isActive: event.active });
      else if (event.op === 'spend' || event.op === 'expire') removed.push(find(event.ref));
      else if (event.op === 'activate') activated.push(find(event.ref));
    }
  }
  return { created, removed, activated, takeovers: [...takeovers], filed };
}
