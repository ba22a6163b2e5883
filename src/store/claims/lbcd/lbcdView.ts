/**
 * The state of a name in lbcd: a list of claims and a list of supports. New entries are appended. At the end of a block,
 * spent and expired entries are removed, and the last entry moves to the free position. The order of supports and the
 * sequence numbers of claims depend on these steps, so the whole history of the name is replayed. This module does not
 * change the trie. Source: lbcd claimtrie/node/node.go `ApplyChange`, `handleExpiredAndActivated`;
 * node/normalizing_manager.go.
 *
 * lbcd caches names in memory, so its takeover height for a name without claims also depends on earlier requests. This code
 * returns the result of lbcd without the cache.
 */
import { compareCreation, REMOVAL, type Item } from '../../../claimtrie/item.js';
import { normalizeKey } from '../../../claimtrie/nameKey.js';
import { filesNormalized } from '../../../claimtrie/rules.js';
import type { ClaimRules } from '../../../claimtrie/types.js';
import { fromLatin1, type Bytes } from '../../../util/bytes.js';
import type { RowReader } from '../../rows/rows.js';
import { YieldTimer } from '../../../scheduler/yieldTimer.js';
import {
  filedName,
  outputOf,
  type ClaimInfo,
  type NameInfo,
  type OutputInfo,
} from '../query/claimQueries.js';
import { itemsByOrdinal, itemsSince } from '../query/itemHistory.js';
import { readFleeting, type Fleeting } from './lbcdFleeting.js';
import { LbcdList, type LbcdEntry, type Listed } from './lbcdList.js';
import { readLogUntil } from '../rows/logRow.js';
import { readOwnership } from '../query/ownership.js';
import { readStranded } from '../query/stranded.js';

export interface LbcdNameQuery {
  name: Bytes;
  /** Height of the block after which the state is computed. */
  height: number;
  /**
   * Height of the tip. If the tip is at or above the normalization fork, lbcd lists moved items (claims and supports) under
   * their new name, even for earlier blocks.
   */
  tipHeight: number;
}

interface Lists {
  readonly claims: readonly LbcdEntry[];
  readonly supports: readonly LbcdEntry[];
  /** Height of the last block that changed the name. */
  readonly lastChange: number;
}

interface Life {
  readonly listed: readonly Listed[];
  readonly fleeting: readonly Fleeting[];
  /** Height of the last block whose events were replayed. */
  readonly height: number;
}

/** lbcd's state of a name after a block of the active chain. Null if the name was unknown at that height. */
export async function readLbcdName(
  rows: RowReader,
  rules: ClaimRules,
  query: LbcdNameQuery,
): Promise<NameInfo | null> {
  const { height } = query;
  const name = filedName(rules, query.name, height);
  const fleeting = await readFleeting(rows, name, height);
  const everListed = await listedUnder(rows, rules, name, query);
  const listed = everListed.filter(({ item }) => item.height <= height);
  if (listed.length === 0 && fleeting.length === 0) return null;
  const { claims, supports, lastChange } = await replay(rows, rules, { listed, fleeting, height });
  const shown = (entry: LbcdEntry): OutputInfo => describe(rules, entry.listed, height);
  const byClaim = new Map<string, OutputInfo[]>();
  for (const entry of supports) {
    const { claimId } = entry.listed.item;
    const group = byClaim.get(claimId);
    if (group) group.push(shown(entry));
    else byClaim.set(claimId, [shown(entry)]);
  }
  const infos = claims.map((entry, bid): ClaimInfo => {
    const output = shown(entry);
    const mine = byClaim.get(entry.listed.item.claimId) ?? [];
    let effectiveAmount = output.active ? output.amount : 0n;
    let fullAmount = output.amount;
    for (const support of mine) {
      if (support.active) effectiveAmount += support.amount;
      fullAmount += support.amount;
    }
    return { ...output, effectiveAmount, fullAmount, supports: mine, bid, sequence: entry.sequence };
  });
  const isOwned = infos.some(({ active }) => active);
  return {
    name: fromLatin1(name),
    lastTakeoverHeight: isOwned ? (await readOwnership(rows, name, height)).takeover : lastChange,
    claims: infos,
    supportsWithoutClaim: [],
  };
}

/**
 * All items (claims and supports) that lbcd ever listed under the name: items created in blocks up to `height`, and items
 * that the normalization fork moved.
 */
export async function listedUnder(
  rows: RowReader,
  rules: ClaimRules,
  name: string,
  { height, tipHeight }: { height: number; tipHeight: number },
): Promise<Listed[]> {
  const fork = rules.normalizationForkHeight;
  const pastFork = filesNormalized(rules, tipHeight);
  const isRaw = normalizeKey(name) !== name;
  const filed = await itemsSince(rows, name, 0, pastFork && !isRaw ? Math.max(height, fork) : height);
  if (pastFork && !isRaw) filed.push(...(await strandedUnder(rows, rules, name)));
  if (isRaw) return [...filed, ...(await pendingBeyondFork(rows, rules, name))].map(native);
  const listed: Listed[] = [];
  for (const item of filed) {
    const moved = item.rawName !== name && item.height < fork;
    const reachedFork = item.removed === 0 || item.removed >= fork;
    if (!moved || (pastFork && reachedFork)) listed.push({ item, moved });
  }
  if (pastFork) for (const item of await spentInFork(rows, rules, name)) listed.push({ item, moved: true });
  return listed;
}

function native(item: Item): Listed {
  return { item, moved: false };
}

/**
 * Items (claims and supports) created under a raw name that are due after the normalization fork. They are stored under the
 * normalized name from the start.
 */
async function pendingBeyondFork(rows: RowReader, rules: ClaimRules, rawName: string): Promise<Item[]> {
  const fork = rules.normalizationForkHeight;
  const items = await itemsSince(rows, normalizeKey(rawName), 0, fork - 1);
  return items.filter((item) => item.rawName === rawName);
}

/**
 * Items (claims and supports) that the normalization fork did not move in lbrycrd, but moved in lbcd. They may be spent long
 * after they expired.
 */
async function strandedUnder(rows: RowReader, rules: ClaimRules, name: string): Promise<Item[]> {
  return (await readStranded(rows, name)).map((item) => {
    const removed = lbcdExpiry(rules, item.height);
    const isSpent = item.removed !== 0 && item.removed < removed;
    return isSpent ? item : { ...item, removed, removal: REMOVAL.expired };
  });
}

/** Height at which lbcd expires an item (claim or support) created in block `created`. Source: `handleExpiredAndActivated`. */
export function lbcdExpiry(rules: ClaimRules, created: number): number {
  const due = created + rules.originalExpiration;
  return due > rules.extendedExpirationForkHeight ? created + rules.extendedExpiration : due;
}

/**
 * Items (claims and supports) that the normalization fork's block spent. lbcd moves these items too. In the log of that
 * block the spends precede the moves.
 */
async function spentInFork(rows: RowReader, rules: ClaimRules, name: string): Promise<Item[]> {
  const fork = rules.normalizationForkHeight;
  const spent: Item[] = [];
  for (const event of await readLogUntil(rows, fork, 'refile')) {
    if (event.op !== 'spend' || event.ref.name === name || normalizeKey(event.ref.name) !== name) continue;
    const { ref } = event;
    const item = (await itemsByOrdinal(rows, ref.name, ref.since)).get(ref.ordinal);
    if (item?.removed === fork && item.removal === REMOVAL.spent) spent.push(item);
  }
  return spent;
}

/** Replays the events of a name. Returns lbcd's lists after the last block. */
async function replay(
  rows: RowReader,
  rules: ClaimRules,
  { listed, fleeting, height }: Life,
): Promise<Lists> {
  const fork = rules.normalizationForkHeight;
  const yieldTimer = new YieldTimer();
  const rankOf = await movedRanks(rows, rules, listed);
  const arrivals = listed.concat(fleeting.flatMap(({ items }) => items.map(native)));
  arrivals.sort(
    (a, b) =>
      a.item.height - b.item.height ||
      Number(a.moved) - Number(b.moved) ||
      (rankOf.get(a.item.point) ?? 0) - (rankOf.get(b.item.point) ?? 0) ||
      compareCreation(a.item, b.item),
  );
  const heights = new Set(fleeting.map((block) => block.height));
  for (const { item, moved } of listed) {
    heights.add(item.height);
    // A moved item is invisible before the fork, so its activation changes nothing there. Source: lbcd
    // claimtrie/node/node.go `NextUpdate`.
    if (item.activated !== 0) heights.add(moved ? Math.max(item.activated, fork) : item.activated);
    if (item.removed !== 0) heights.add(item.removed);
    if (moved) heights.add(fork);
  }
  const claims = new LbcdList();
  const supports = new LbcdList();
  let next = 0;
  let lastChange = 0;
  for (const at of [...heights].sort((a, b) => a - b)) {
    if (at > height) break;
    if (yieldTimer.isDue) await yieldTimer.pause();
    for (; next < arrivals.length && arrivals[next]!.item.height === at; next++) {
      const arrival = arrivals[next]!;
      if (arrival.item.kind === 'support') supports.add(arrival);
      else if (!replacesSpent(arrival, claims)) claims.add(arrival);
    }
    claims.sweep(at);
    supports.sweep(at);
    lastChange = at;
  }
  return { claims: claims.entries, supports: supports.entries, lastChange };
}

/** Replaces the entry that the transaction of an update spent. Returns whether an entry was replaced. */
function replacesSpent(update: Listed, claims: LbcdList): boolean {
  const { item, moved } = update;
  if (item.kind !== 'update' || moved) return false;
  const before = claims.find(item.claimId);
  if (before?.listed.item.removed !== item.height) return false;
  claims.replace(before, update);
  return true;
}

/**
 * Position of each item (claim or support) in the order in which the normalization fork moved items created in the same
 * block: by raw name, then by position in the list of the raw name. Computed only if two items have the same block.
 */
async function movedRanks(
  rows: RowReader,
  rules: ClaimRules,
  listed: readonly Listed[],
): Promise<Map<string, number>> {
  const moved = listed.filter((entry) => entry.moved);
  const ranks = new Map<string, number>();
  if (new Set(moved.map(({ item }) => item.height)).size === moved.length) return ranks;
  const before = rules.normalizationForkHeight - 1;
  for (const rawName of [...new Set(moved.map(({ item }) => item.rawName))].sort(byteOrder)) {
    const query = { height: before, tipHeight: before };
    const { claims, supports } = await replay(rows, rules, {
      listed: await listedUnder(rows, rules, rawName, query),
      fleeting: await readFleeting(rows, rawName, before),
      height: before,
    });
    for (const { listed: entry } of [...claims, ...supports]) ranks.set(entry.item.point, ranks.size);
  }
  return ranks;
}

function byteOrder(a: string, b: string): number {
  return Buffer.compare(fromLatin1(a), fromLatin1(b));
}

function describe(rules: ClaimRules, { item, moved }: Listed, height: number): OutputInfo {
  const fork = rules.normalizationForkHeight;
  const hidden = moved && height < fork;
  const until = hidden ? fork - 1 : height;
  const wasActive = item.activated !== 0 && item.activated <= until;
  return outputOf(item, wasActive && !hidden, wasActive ? item.activated : item.dueHeight);
}
