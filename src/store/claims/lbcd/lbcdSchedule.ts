/**
 * For which blocks lbcd had a name on its list: with each change of a name it notes the next block in which something of
 * it will become active or expire, and never strikes that out. So a block also names those for which something had once
 * been due in it that has left or become active since, unless something else of that name was due before as long as it
 * was there. Nothing of this is kept: it is found in the logs of the blocks that made what was due.
 * Source: lbcd claimtrie/claimtrie.go `AppendBlock`, node/node.go `NextUpdate`; temporal/.
 */
import type { Item } from '../../../claimtrie/item.js';
import { normalizeKey } from '../../../claimtrie/nameKey.js';
import { filesNormalized, MAX_DELAY } from '../../../claimtrie/rules.js';
import type { ClaimRules } from '../../../claimtrie/types.js';
import { fromLatin1, type Bytes } from '../../../util/bytes.js';
import type { RowReader } from '../../rows/rows.js';
import { YieldTimer } from '../../../scheduler/yieldTimer.js';
import { logKey, readU32 } from '../rows/claimKeys.js';
import { itemsByOrdinal } from '../query/itemHistory.js';
import { readFleetingNames } from './lbcdFleeting.js';
import { lbcdExpiry, listedUnder } from './lbcdView.js';
import { parseLogChunk, readLog, type ItemRef, type LogEvent } from '../rows/logRow.js';
import { readStranded } from '../query/stranded.js';

/**
 * The names that a block touched, and those that lbcd had noted for it. Before the normalization fork each by what its
 * script has, also what is due after the fork.
 */
export async function readLbcdChanges(rows: RowReader, rules: ClaimRules, height: number): Promise<Bytes[]> {
  const fork = rules.normalizationForkHeight;
  const names = await readLbcdSchedule(rows, rules, height);
  for (const event of await readLog(rows, height)) {
    // A takeover has what brought it beside it, unless a mere node without claims came or went.
    if (event.op === 'snapshot' || event.op === 'takeover') continue;
    if (event.op === 'refile') names.add(event.to.name);
    const isNear = height < fork && height + MAX_DELAY >= fork;
    const item = isNear ? await itemOf(rows, event.ref) : undefined;
    names.add(item?.rawName ?? event.ref.name);
    // lbcd moves first what the fork's block spends.
    if (height === fork) names.add(normalizeKey(event.ref.name));
  }
  if (height === fork) {
    const moved = [...(await readStranded(rows)), ...(await movedInFork(rows, rules))];
    for (const { name, rawName } of moved) names.add(name).add(rawName);
  }
  for (const name of await readFleetingNames(rows, height)) names.add(name);
  return [...names].map(fromLatin1);
}

/** The names that lbcd had noted for a block, as far as nothing happens to them in it that its log tells. */
async function readLbcdSchedule(rows: RowReader, rules: ClaimRules, height: number): Promise<Set<string>> {
  /** What each name was called before the normalization fork, by what it is called in the block. */
  const candidates = new Map<string, Set<string>>();
  const nameNow = filesNormalized(rules, height) ? normalizeKey : (name: string): string => name;
  for (const { rawName } of [
    ...(await expiringItems(rows, rules, height)),
    ...(await pendingItems(rows, rules, height)),
  ]) {
    const name = nameNow(rawName);
    const rawNames = candidates.get(name);
    if (rawNames) rawNames.add(rawName);
    else candidates.set(name, new Set([rawName]));
  }
  const scheduled = new Set<string>();
  for (const [name, rawNames] of candidates)
    if (await wasNoted(rows, rules, { name, rawNames, height })) scheduled.add(name);
  return scheduled;
}

/** What was to expire in the block and had left its place before, or was left behind by the normalization fork. */
async function expiringItems(rows: RowReader, rules: ClaimRules, height: number): Promise<Item[]> {
  const items: Item[] = [];
  const yieldTimer = new YieldTimer();
  for (const created of new Set([height - rules.originalExpiration, height - rules.extendedExpiration])) {
    if (created < 0 || lbcdExpiry(rules, created) !== height) continue;
    for (const event of await readLog(rows, created)) {
      if (event.op !== 'create') continue;
      if (yieldTimer.isDue) await yieldTimer.pause();
      const item = await itemOf(rows, event.ref);
      if (item && (hasLeft(item, height) || isStranded(rules, item, height))) items.push(item);
    }
  }
  return items;
}

function hasLeft({ removed }: Item, height: number): boolean {
  return removed !== 0 && removed < height;
}

/** Whether it is still filed under a raw name, where nothing finds it in block `height`. */
function isStranded(rules: ClaimRules, { name, removed, activated }: Item, height: number): boolean {
  return (
    removed === 0 && activated !== 0 && height > rules.normalizationForkHeight && normalizeKey(name) !== name
  );
}

/** What was to become active in the block, and before was spent or brought in by a takeover. */
async function pendingItems(rows: RowReader, rules: ClaimRules, height: number): Promise<Item[]> {
  // A claim waits for a 32nd of the time that another has owned the name, which is less than its height.
  const longest = Math.min(MAX_DELAY, Math.floor(height / 32) + 1);
  const from = Math.max(0, height - Math.max(longest, rules.supportDelay === 100 ? 100 : 0));
  const pending = new Set<string>();
  const left: ItemRef[] = [];
  const yieldTimer = new YieldTimer();
  for await (const [at, events] of logsBetween(rows, from, height)) {
    if (yieldTimer.isDue) await yieldTimer.pause();
    const nameThen = filesNormalized(rules, at) ? normalizeKey : (name: string): string => name;
    const taken = new Set(events.flatMap((event) => (event.op === 'takeover' ? [event.name] : [])));
    for (const event of events) {
      if (event.op === 'create' && !event.active) pending.add(refKey(event.ref));
      else if (event.op === 'spend' || (event.op === 'activate' && taken.has(nameThen(event.ref.name))))
        if (pending.has(refKey(event.ref))) left.push(event.ref);
    }
  }
  const items: Item[] = [];
  for (const ref of left) {
    if (yieldTimer.isDue) await yieldTimer.pause();
    const item = await itemOf(rows, ref);
    if (item?.dueHeight === height) items.push(item);
  }
  return items;
}

/** What the normalization fork moves in lbcd, and was filed under its normalized name all along since it is due later. */
async function movedInFork(rows: RowReader, rules: ClaimRules): Promise<Item[]> {
  const fork = rules.normalizationForkHeight;
  const items: Item[] = [];
  const yieldTimer = new YieldTimer();
  for await (const [, events] of logsBetween(rows, Math.max(0, fork - MAX_DELAY), fork)) {
    for (const event of events) {
      if (event.op !== 'create' || event.active) continue;
      if (yieldTimer.isDue) await yieldTimer.pause();
      const item = await itemOf(rows, event.ref);
      if (item && item.rawName !== item.name && (item.removed === 0 || item.removed >= fork))
        items.push(item);
    }
  }
  return items;
}

/** The logs of blocks from `from` to before `to`. */
async function* logsBetween(
  rows: RowReader,
  from: number,
  to: number,
): AsyncGenerator<readonly [number, LogEvent[]]> {
  let height = -1;
  let events: LogEvent[] = [];
  for await (const [key, chunk] of rows.range({ gte: logKey(from, 0), lt: logKey(to, 0) })) {
    const at = readU32(key, 1);
    if (at !== height && events.length > 0) {
      yield [height, events];
      events = [];
    }
    height = at;
    events.push(...parseLogChunk(at, chunk));
  }
  if (events.length > 0) yield [height, events];
}

function refKey({ name, since, ordinal }: ItemRef): string {
  return `${since} ${ordinal} ${name}`;
}

async function itemOf(rows: RowReader, { name, since, ordinal }: ItemRef): Promise<Item | undefined> {
  return (await itemsByOrdinal(rows, name, since)).get(ordinal);
}

/** The life of an item under a name: in which blocks it was there, until when it was pending, and what it was due for. */
interface Span {
  readonly from: number;
  readonly until: number;
  readonly pendingUntil: number;
  readonly due: number;
  readonly expires: number;
}

/** Whether the block was the next one for the name after any block before it. */
async function wasNoted(
  rows: RowReader,
  rules: ClaimRules,
  { name, rawNames, height }: { name: string; rawNames: ReadonlySet<string>; height: number },
): Promise<boolean> {
  const fork = rules.normalizationForkHeight;
  const listed = await listedUnder(rows, rules, name, { height: height - 1, tipHeight: height });
  const spans = listed.map(({ item, moved }) => spanOf(rules, item, moved ? fork : item.height, Infinity));
  if (isNoted(spans, height)) return true;
  if (!filesNormalized(rules, height)) return false;
  // Each name for itself noted it before the fork.
  const before = { height: fork - 1, tipHeight: fork - 1 };
  for (const rawName of rawNames) {
    if (rawName === name) continue;
    const old = await listedUnder(rows, rules, rawName, before);
    if (
      isNoted(
        old.map(({ item }) => spanOf(rules, item, item.height, fork)),
        height,
      )
    )
      return true;
  }
  return false;
}

function spanOf(rules: ClaimRules, item: Item, from: number, end: number): Span {
  const expires = lbcdExpiry(rules, item.height);
  const until = Math.min(item.removed === 0 ? Infinity : item.removed, expires, end);
  const pendingUntil = Math.min(item.activated === 0 ? Infinity : item.activated, until);
  return { from, until, pendingUntil, due: item.dueHeight, expires };
}

function isNoted(spans: readonly Span[], height: number): boolean {
  /** What comes and goes at a height: due in the block, and due before it. */
  const steps = new Map<number, { here: number; sooner: number }>();
  const add = (from: number, until: number, due: number): void => {
    if (due > height || from >= until) return;
    const kind = due === height ? 'here' : 'sooner';
    for (const [at, by] of [
      [from, 1],
      [until, -1],
    ] as const) {
      const step = steps.get(at) ?? { here: 0, sooner: 0 };
      step[kind] += by;
      steps.set(at, step);
    }
  };
  for (const { from, until, pendingUntil, due, expires } of spans) {
    add(from, pendingUntil, due);
    add(from, until, expires);
    // What comes or goes makes lbcd look again.
    for (const at of [from, until, pendingUntil]) if (!steps.has(at)) steps.set(at, { here: 0, sooner: 0 });
  }
  let [here, sooner] = [0, 0];
  for (const at of [...steps.keys()].sort((a, b) => a - b)) {
    if (at >= height) return false;
    const step = steps.get(at)!;
    here += step.here;
    sooner += step.sooner;
    if (here > 0 && sooner === 0) return true;
  }
  return false;
}
