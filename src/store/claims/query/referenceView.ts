/**
 * Differences between the reference's results for a name and the actual state. The reference walks its queue too often, and
 * for a past block it disconnects block by block from the tip, which has side effects. Nothing here changes the trie. QUIRK:
 * all of this. Test: test/vectors/claimAnswers.test.ts.
 */
import { compareCreation, REMOVAL, type Item } from '../../../claimtrie/item.js';
import { normalizeKey } from '../../../claimtrie/nameKey.js';
import type { ClaimRules } from '../../../claimtrie/types.js';
import type { RowReader } from '../../rows/rows.js';
import { aliveItems, itemsSince } from './itemHistory.js';
import { readLog, type ItemRef } from '../rows/logRow.js';
import type { Ownership } from '../rows/markRow.js';
import { ownedNames, ownershipsAfter, readOwnership } from './ownership.js';

/** Number of blocks of ownership for which a claim waits one block. */
const BLOCKS_PER_DELAY = 32;

/** Maximum depth of a block for which the reference answers. Source: `MAX_RPC_BLOCK_DECREMENTS`. */
const MAX_ROLLBACK_BLOCKS = 500;

/** Longer lists are returned without repetitions, because they grow with the square of the number of pending items. Arbitrary. */
const MAX_REPEATED = 100_000;

/**
 * The reference visits the queue row of a height once for each pending item of the name, so k items due at the same height
 * are each listed k times. Source: `insertRowsFromQueue`.
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

/** The block that ended the state which the item had after block `height`; Infinity if it still has it. */
function leftAt(item: Item, height: number): number {
  return item.activated > height ? item.activated : item.removed || Infinity;
}

/**
 * The order in which a block changed several of the items: their positions in the log of that block. Only for heights for
 * which the reference answers.
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
 * Compares items by the order in which disconnecting the blocks appends them to the list again: the latest block first, and
 * within a block the last removed item first. Items without a position in `places` are compared by creation, the youngest
 * first. 0 for items that were never removed. Source: `undoDecrement`, `undoSpend`.
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
 * Takeover height shown for a name that has no claims after block `height`. A node without claims at which names branch has
 * its last takeover height. Disconnecting deletes it together with the claims, but the node gets that of the tip again when
 * the node above it loses its claims. Source: `cacheData`, `removeClaimFromTrie`.
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

/** Whether names with claims branched at `name` after block `height`. */
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
 * Items of the normalization fork's own block that stay in the queue when the reference disconnects that block: it searches
 * them under the normalized name when the raw name has claims. Source: `remove`, called by `undoAddClaim` and
 * `undoAddSupport`.
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
  // Claims that the block spent are restored only after the search for its own items.
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
