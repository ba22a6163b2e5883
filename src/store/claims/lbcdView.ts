/**
 * A name as lbcd keeps it: a list of claims and one of supports, which grow at the end and lose what is spent or expires at
 * the end of a block, the last one taking the empty place. The order of supports and the sequence numbers of claims follow
 * from it, so the name's whole life is gone through. Nothing here touches the trie.
 * Source: lbcd claimtrie/node/node.go `ApplyChange`, `handleExpiredAndActivated`; node/normalizing_manager.go.
 *
 * What lbcd answers beside the chain alone is left out: a claim made and spent within one block leaves nothing here, while
 * there it counts in the numbers of those made behind it in that block; and the takeover height of a name without claims
 * also depends there on what was asked before, and on spends of what had expired.
 */
import { compareCreation, REMOVAL, type Item } from '../../claimtrie/item.js';
import { normalizeKey } from '../../claimtrie/nameKey.js';
import { filesNormalized } from '../../claimtrie/rules.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import { fromLatin1, type Bytes } from '../../util/bytes.js';
import type { RowReader } from '../rows.js';
import { Breather } from './breather.js';
import { filedName, outputOf, type ClaimInfo, type NameInfo, type OutputInfo } from './claimQueries.js';
import { itemsByOrdinal, itemsSince } from './itemHistory.js';
import { readLogUntil } from './logRow.js';
import { readOwnership } from './ownership.js';
import { readStranded } from './stranded.js';

export interface LbcdNameQuery {
  name: Bytes;
  /** After which block. */
  height: number;
  /** From the normalization fork on lbcd takes what was moved for old under its new name. */
  tipHeight: number;
}

/** An item that lbcd lists under the name. */
export interface Listed {
  readonly item: Item;
  /** Whether the normalization fork brought it: it is listed since it was made, and counts since the fork. */
  readonly moved: boolean;
}

interface Entry {
  listed: Listed;
  /** How many claims were listed when the first of its outputs came. */
  readonly sequence: number;
}

interface Lists {
  readonly claims: readonly Entry[];
  readonly supports: readonly Entry[];
  /** The last block that did anything to the name. */
  readonly lastChange: number;
}

/** What lbcd answers about a name after a block of the active chain; null for a name unknown by then. */
export async function readLbcdName(
  rows: RowReader,
  rules: ClaimRules,
  query: LbcdNameQuery,
): Promise<NameInfo | null> {
  const { height } = query;
  const name = filedName(rules, query.name, height);
  const everListed = await listedUnder(rows, rules, name, query);
  const listed = everListed.filter(({ item }) => item.height <= height);
  if (listed.length === 0) return null;
  const { claims, supports, lastChange } = await replay(rows, rules, listed, height);
  const shown = (entry: Entry): OutputInfo => describe(rules, entry.listed, height);
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

/** Everything that lbcd ever listed under the name, as far as blocks up to `height` or the fork made it. */
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

/** What was made under a name that is not normalized and was due after the fork is filed as it will be called then. */
async function pendingBeyondFork(rows: RowReader, rules: ClaimRules, rawName: string): Promise<Item[]> {
  const fork = rules.normalizationForkHeight;
  const items = await itemsSince(rows, normalizeKey(rawName), 0, fork - 1);
  return items.filter((item) => item.rawName === rawName);
}

/** What lbrycrd's fork left behind, which lbcd moves. It may be spent long after it expired. */
async function strandedUnder(rows: RowReader, rules: ClaimRules, name: string): Promise<Item[]> {
  return (await readStranded(rows, name)).map((item) => {
    const removed = lbcdExpiry(rules, item.height);
    const isSpent = item.removed !== 0 && item.removed < removed;
    return isSpent ? item : { ...item, removed, removal: REMOVAL.expired };
  });
}

/** Height at which lbcd lets something made in block `created` expire. Source: `handleExpiredAndActivated`. */
export function lbcdExpiry(rules: ClaimRules, created: number): number {
  const due = created + rules.originalExpiration;
  return due > rules.extendedExpirationForkHeight ? created + rules.extendedExpiration : due;
}

/** What the fork's own block spent: lbcd moves it all the same. Its log has spends before anything is moved. */
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

/** The lists after block `height`. */
async function replay(
  rows: RowReader,
  rules: ClaimRules,
  listed: readonly Listed[],
  height: number,
): Promise<Lists> {
  const fork = rules.normalizationForkHeight;
  const breather = new Breather();
  const rankOf = await movedRanks(rows, rules, listed);
  const arrivals = [...listed].sort(
    (a, b) =>
      a.item.height - b.item.height ||
      Number(a.moved) - Number(b.moved) ||
      (rankOf.get(a.item.point) ?? 0) - (rankOf.get(b.item.point) ?? 0) ||
      compareCreation(a.item, b.item),
  );
  const heights = new Set<number>();
  for (const { item, moved } of listed) {
    heights.add(item.height);
    if (item.removed !== 0) heights.add(item.removed);
    if (moved) heights.add(fork);
  }
  const claims: Entry[] = [];
  const supports: Entry[] = [];
  let next = 0;
  let lastChange = 0;
  for (const at of [...heights].sort((a, b) => a - b)) {
    if (at > height) break;
    if (breather.isDue) await breather.pause();
    for (; next < arrivals.length && arrivals[next]!.item.height === at; next++) {
      const arrival = arrivals[next]!;
      if (arrival.item.kind === 'support') supports.push({ listed: arrival, sequence: 0 });
      else arrive(claims, arrival);
    }
    sweep(claims, at);
    sweep(supports, at);
    lastChange = at;
  }
  return { claims, supports, lastChange };
}

/** An update takes the place of what its transaction spent. */
function arrive(claims: Entry[], listed: Listed): void {
  const { item, moved } = listed;
  const before =
    item.kind === 'update' && !moved
      ? claims.find((entry) => entry.listed.item.claimId === item.claimId)
      : undefined;
  if (before?.listed.item.removed === item.height) before.listed = listed;
  else claims.push({ listed, sequence: claims.length });
}

/** Takes out what left in this block. */
function sweep(entries: Entry[], height: number): void {
  for (let at = 0; at < entries.length;) {
    const { removed } = entries[at]!.listed.item;
    if (removed === 0 || removed > height) {
      at++;
      continue;
    }
    const last = entries.pop()!;
    if (at < entries.length) entries[at] = last;
  }
}

/**
 * The order in which the fork moved what was made in one block: by the names it was under, and as it was listed there.
 * Read only where two came of one block.
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
    const { claims, supports } = await replay(
      rows,
      rules,
      await listedUnder(rows, rules, rawName, query),
      before,
    );
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
