/**
 * How the reference's answers about a name differ from the plain facts: its queue is walked once too often, and for a
 * past block it disconnects block by block from the tip, which leaves traces. Nothing here touches the trie.
 * QUIRK, all of it. Test: test/vectors/claimAnswers.test.ts.
 */
import { compareCreation, REMOVAL, type Item } from '../../../claimtrie/item.js';
import { normalizeKey } from '../../../claimtrie/nameKey.js';
import type { ClaimRules } from '../../../claimtrie/types.js';
import type { RowReader } from '../../rows/rows.js';
import { aliveItems, itemsSince } from './itemHistory.js';
import { readLog, type ItemRef } from '../rows/logRow.js';
import type { Ownership } from '../rows/markRow.js';
import { ownedNames, ownershipsAfter, readOwnership } from './ownership.js';

/** Blocks of ownership that a delay of one block takes. */
const BLOCKS_PER_DELAY = 32;

/** So far back the reference answers. Source: `MAX_RPC_BLOCK_DECREMENTS`. */
const MAX_ROLLBACK_BLOCKS = 500;

/** A longer listing is given without repetitions: it grows with the square of what is pending. Arbitrary. */
const MAX_REPEATED = 100_000;

/**
 * It visits the queue's row of a height once for each pending item of the name, so that k items due at one height are
 * listed k times. Source: `insertRowsFromQueue`.
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

/** The block in which an item left the state in which it was after block `height`; Infinity when it is still in it. */
function leftAt(item: Item, height: number): number {
  return item.activated > height ? item.activated : item.removed || Infinity;
}

/**
 * In which order the items' own blocks changed them, as far as several left in the same one: places in the log of that
 * block. Only for heights from which the reference answers.
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
 * As blocks are disconnected, the latest first, what they took joins the end of the list again, the last taken first;
 * what has no place in `places` is younger the later it was made. 0 for what was always there.
 * Source: `undoDecrement`, `undoSpend`.
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
 * Takeover height shown for a name that has no claims after block `height`. A node that names merely part at keeps the
 * one it was given last. Disconnecting takes it away together with claims, but the node looks the tip's one up again
 * when the node above it loses its claims. Source: `cacheData`, `removeClaimFromTrie`.
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

/** Whether two or more names with claims parted at `name` after block `height`. */
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
 * Items of the normalization fork's own block which disconnecting it leaves in the queue: it looks for them under the
 * normalized name when the raw one has claims. Source: `remove`, called by `undoAddClaim` and `undoAddSupport`.
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
  // Claims which the block has spent come back only after what it made has been looked for.
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
