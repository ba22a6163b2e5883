/**
 * How the reference's answers about a name differ from the plain facts: its queue is walked once too often, and for a
 * past block it disconnects block by block from the tip, which leaves traces. Nothing here touches the trie.
 * QUIRK, all of it. Test: test/vectors/claimAnswers.test.ts.
 */
import { compareCreation, REMOVAL, type Item } from '../../claimtrie/item.js';
import { normalizeKey } from '../../claimtrie/nameKey.js';
import { hashesAllClaims } from '../../claimtrie/rules.js';
import { findSlot } from '../../claimtrie/trieNode.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import type { RowReader } from '../rows.js';
import { nodeKey, ownerKey, parseOwnerKey, type Generation } from './claimKeys.js';
import { aliveItems, itemsSince } from './itemHistory.js';
import { parseOwnerRow, type Ownership } from './markRow.js';
import { parseNodeRow } from './nodeRow.js';

/** Blocks of ownership that a delay of one block takes. */
const BLOCKS_PER_DELAY = 32;

/**
 * It visits the queue's row of a height once for each pending item of the name, so that k items due at one height are
 * listed k times. Source: `insertRowsFromQueue`.
 */
export function repeatPending(pending: readonly Item[]): Item[] {
  return pending.flatMap((item) => pending.filter((other) => other.dueHeight === item.dueHeight));
}

/**
 * What was pending after block `height` and is not any more joins the end of the queue as blocks are disconnected, the
 * latest block's first. Source: `undoDecrement`, `undoSpend`.
 */
export function compareQueued(height: number): (a: Item, b: Item) => number {
  const left = (item: Item): number => (item.activated > height ? item.activated : item.removed || Infinity);
  return (a, b) => {
    if (left(a) !== left(b)) return left(a) > left(b) ? -1 : 1;
    return left(a) === Infinity ? compareCreation(a, b) : compareCreation(b, a);
  };
}

/** Likewise active supports which have been spent or have expired since. */
export function compareRestored(a: Item, b: Item): number {
  const left = (item: Item): number => item.removed || Infinity;
  if (left(a) === left(b)) return 0;
  return left(a) > left(b) ? -1 : 1;
}

/**
 * Takeover height shown for a name that has no claims after block `height`. A node that names merely part at keeps the
 * one it was given last. Disconnecting takes it away together with claims, but the node looks its tip's one up again
 * when its parent loses its claims. Source: `cacheData`, `removeClaimFromTrie`.
 */
export async function staleTakeover(
  rows: RowReader,
  rules: ClaimRules,
  name: string,
  ownership: Ownership,
  height: number,
  tipHeight: number,
): Promise<number> {
  const later = await readOwnerships(rows, name, height, tipHeight);
  const latest = later.at(-1) ?? ownership;
  const claimed = later.find((entry) => entry.hasClaims);
  if (!claimed) return latest.takeover;
  const parent = await parentNode(rows, hashesAllClaims(rules, tipHeight) ? '1' : '0', name);
  if (parent === null) return 0;
  const parentClaimed = (await readOwnerships(rows, parent, height, claimed.height)).some(
    (entry) => entry.hasClaims,
  );
  return parentClaimed ? latest.takeover : 0;
}

/** What changed about a name's owner in the blocks from `above` (exclusive) to `to`. */
async function readOwnerships(
  rows: RowReader,
  name: string,
  above: number,
  to: number,
): Promise<(Ownership & { height: number })[]> {
  const found: (Ownership & { height: number })[] = [];
  for await (const [key, row] of rows.range({ gte: ownerKey(name, above + 1), lt: ownerKey(name, to + 1) })) {
    const { height } = parseOwnerKey(key);
    found.push({ ...parseOwnerRow(row, height), height });
  }
  return found;
}

/** Path of the node above a node at the tip; null for the root and for a name that is no node. */
async function parentNode(rows: RowReader, generation: Generation, name: string): Promise<string | null> {
  for (let path = ''; path.length < name.length;) {
    const row = await rows.get(nodeKey(generation, path));
    const slots = row ? parseNodeRow(row).slots : [];
    const at = findSlot(slots, name.charCodeAt(path.length));
    if (at < 0 || !name.startsWith(slots[at]!.edge, path.length)) return null;
    const child = path + slots[at]!.edge;
    if (child === name) return path;
    path = child;
  }
  return null;
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
