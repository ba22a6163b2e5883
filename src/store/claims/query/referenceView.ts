/**
 * Differences between the reference's results for a name and the actual state. The reference reads its queue too often. For
 * a past block it disconnects blocks one by one from the tip, which has side effects. This module reproduces these results
 * and does not change the trie. QUIRK: all functions. Test: test/vectors/claimAnswers.test.ts.
 */
import { compareCreation, REMOVAL, type Item } from '../../../claimtrie/item.js';
import { normalizeKey } from '../../../claimtrie/nameKey.js';
import type { ClaimRules } from '../../../claimtrie/types.js';
import type { RowReader } from '../../rows/rows.js';
import { aliveItems, itemsSince } from './itemHistory.js';
import { readLog, type ItemRef } from '../rows/logRow.js';
import type { Ownership } from '../rows/markRow.js';
import { ownedNames, ownershipsAfter, readOwnership } from './ownership.js';

/** Activation delay: a new claim waits one block for each 32 blocks since the last takeover. */
const BLOCKS_PER_DELAY = 32;

/** Maximum number of blocks below the tip for which the reference returns a result. Source: `MAX_RPC_BLOCK_DECREMENTS`. */
const MAX_ROLLBACK_BLOCKS = 500;

/**
 * Maximum length of a list with the reference's repetitions. Longer lists are returned without repetitions, because their
 * length grows with the square of the number of pending items (claims and supports). Arbitrary.
 */
const MAX_REPEATED = 100_000;

/**
 * The reference visits the queue row of a height once for each pending item (claim or support) of the name, so k items due
 * at the same height are each listed k times. Source: `insertRowsFromQueue`.
 */
export function repeatPending(pending: Item[]): Item[] {
  const rows = new Map<number, Item[]>();
  for (const item of pending) {
    const row = rows.get(item.dueHeight);
    if (row) row.push(item);
    else rows.set(item.dueHeight, [item]);
  }
  let listed = 0;
  for (const row of rows.values()) listed += row.length ** 2;
  return listed > MAX_REPEATED ? pending : pending.flatMap((item) => rows.get(item.dueHeight)!);
}

/**
 * Height of the block that ended the state that an item (claim or support) had after block `height`; Infinity if the item
 * still has that state.
 */
function leftAt(item: Item, height: number): number {
  return item.activated > height ? item.activated : item.removed || Infinity;
}

/**
 * For blocks that changed several of the items (claims and supports): the position of each item in the log of the block.
 * Computed only for heights for which the reference gives a result.
 */
export async function leavingOrder(
  rows: RowReader,
  items: readonly Item[],
  { height, tipHeight }: { height: number; tipHeight: number },
): Promise<ReadonlyMap<Item, number>> {
  const places = new Map<Item, number>();
  if (tipHeight - height > MAX_ROLLBACK_BLOCKS) return places;
  const leaving = new Map<number, Item[]>();
  for (const item of items) {
    const block = leftAt(item, height);
    const others = leaving.get(block);
    if (others) others.push(item);
    else if (block !== Infinity) leaving.set(block, [item]);
  }
  for (const [block, group] of leaving) {
    if (group.length < 2) continue;
    const keyOf = ({ name, since, ordinal }: ItemRef): string => `${since} ${ordinal} ${name}`;
    const wanted = new Map(group.map((item) => [keyOf(item), item]));
    for (const [place, event] of (await readLog(rows, block)).entries()) {
      if (!('ref' in event) || event.op === 'create') continue;
      const item = wanted.get(keyOf(event.ref));
      if (item) places.set(item, place);
    }
  }
  return places;
}

/**
 * Compares items (claims and supports) by the order in which the reference appends them to its list while it disconnects
 * blocks: items of the latest block first, and within a block the last removed item first. Items without a position in
 * `places` are compared by creation, the youngest first. The result is 0 for items that were not changed since. Source:
 * `undoDecrement`, `undoSpend`.
 */
export function compareRestored(
  height: number,
  places: ReadonlyMap<Item, number>,
): (a: Item, b: Item) => number {
  return (a, b) => {
    const [ofA, ofB] = [leftAt(a, height), leftAt(b, height)];
    if (ofA !== ofB) return ofA > ofB ? -1 : 1;
    if (ofA === Infinity) return 0;
    const [placeA, placeB] = [places.get(a), places.get(b)];
    return placeA !== undefined && placeB !== undefined ? placeB - placeA : compareCreation(b, a);
  };
}

/**
 * Takeover height shown for a name that has no claims after block `height`. A node without claims at which names branch
 * keeps its last takeover height. When the reference disconnects blocks, it deletes this height together with the claims.
 * The node gets the takeover height of the tip again when the node above it loses its claims. Source: `cacheData`,
 * `removeClaimFromTrie`.
 */
export async function staleTakeover(
  rows: RowReader,
  name: string,
  ownership: Ownership,
  height: number,
  tipHeight: number,
): Promise<number> {
  const later = await ownershipsAfter(rows, name, height, tipHeight);
  const latest = later.at(-1) ?? ownership;
  const claimed = later.find((entry) => entry.hasClaims);
  if (!claimed) return latest.takeover;
  if (!(await wasParting(rows, name, height))) return 0;
  for (let length = name.length - 1; length >= 0; length--) {
    const above = name.slice(0, length);
    const changes = await ownershipsAfter(rows, above, height, claimed.height);
    if (changes.some((entry) => entry.hasClaims)) return latest.takeover;
    if ((await readOwnership(rows, above, height)).hasClaims || (await wasParting(rows, above, height)))
      break;
  }
  return 0;
}

/** Whether names with active claims branched at `name` after block `height`, so that the trie had a node there. */
async function wasParting(rows: RowReader, name: string, height: number): Promise<boolean> {
  for await (const longer of ownedNames(rows, height, name)) {
    if (longer === name) continue;
    const way = longer.slice(0, name.length + 1);
    for await (const _ of ownedNames(rows, height, name, way)) return true;
    return false;
  }
  return false;
}

/**
 * Items (claims and supports) that the normalization fork's block created and that stay in the queue when the reference
 * disconnects that block. The reference searches them under the normalized name if the raw name has claims. Source:
 * `remove`, called by `undoAddClaim` and `undoAddSupport`.
 */
export async function leftBehind(
  rows: RowReader,
  rules: ClaimRules,
  name: string,
  height: number,
  tipHeight: number,
): Promise<Item[]> {
  const fork = rules.normalizationForkHeight;
  if (height >= fork || tipHeight < fork || fork < BLOCKS_PER_DELAY) return [];
  const normalized = normalizeKey(name);
  if (normalized === name) return [];
  // The reference restores the claims that the block spent only after it has searched for the block's own items, so these
  // claims do not count.
  const owned = (await aliveItems(rows, name, fork - 1)).some(
    ({ kind, activated, removed, removal }) =>
      kind !== 'support' && activated !== 0 && !(removed === fork && removal === REMOVAL.spent),
  );
  if (!owned) return [];
  const made = await itemsSince(rows, normalized, fork, fork);
  return made
    .filter((item) => item.height === fork && item.rawName === name && item.dueHeight === fork)
    .map((item) => ({ ...item, activated: 0, removed: 0, removal: 0 }));
}
