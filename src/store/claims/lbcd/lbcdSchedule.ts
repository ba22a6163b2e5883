/**
 * The schedule of lbcd: with each change of a name, lbcd notes the next block in which an item of the name becomes active or
 * expires, and never removes the note. So the changes of a block also include names whose item was due in it and has left or
 * become active since, unless another item of the name was due earlier all that time. The schedule is not stored. It is
 * computed from the logs of the blocks that created the items. Source: lbcd claimtrie/claimtrie.go `AppendBlock`,
 * node/node.go `NextUpdate`; temporal/.
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
 * The names that a block touched, and those that lbcd had scheduled for it. Before the normalization fork they are raw
 * names, also for items that are due after the fork.
 */
export async function readLbcdChanges(rows: RowReader, rules: ClaimRules, height: number): Promise<Bytes[]> {
  const fork = rules.normalizationForkHeight;
  const names = await readLbcdSchedule(rows, rules, height);
  for (const event of await readLog(rows, height)) {
    // The event that caused a takeover is in the log too, except if only a node without claims appeared or vanished.
    if (event.op === 'snapshot' || event.op === 'takeover') continue;
    if (event.op === 'refile') names.add(event.to.name);
    const isNear = height < fork && height + MAX_DELAY >= fork;
    const item = isNear ? await itemOf(rows, event.ref) : undefined;
    names.add(item?.rawName ?? event.ref.name);
    // lbcd first moves the items that the fork's block spends.
    if (height === fork) names.add(normalizeKey(event.ref.name));
  }
  if (height === fork) {
    const moved = [...(await readStranded(rows)), ...(await movedInFork(rows, rules))];
    for (const { name, rawName } of moved) names.add(name).add(rawName);
  }
  for (const name of await readFleetingNames(rows, height)) names.add(name);
  return [...names].map(fromLatin1);
}

/** The names that lbcd had scheduled for a block and that its log does not contain. */
async function readLbcdSchedule(rows: RowReader, rules: ClaimRules, height: number): Promise<Set<string>> {
  /** By name in the block: the names before the normalization fork. */
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

/** Items that were to expire in the block and had left before, or that the normalization fork left behind. */
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

/** Whether it is still filed under a raw name, so that lbrycrd does not find it in block `height`. */
function isStranded(rules: ClaimRules, { name, removed, activated }: Item, height: number): boolean {
  return (
    removed === 0 && activated !== 0 && height > rules.normalizationForkHeight && normalizeKey(name) !== name
  );
}

/** Items that were to become active in the block, and were spent or activated by a takeover before. */
async function pendingItems(rows: RowReader, rules: ClaimRules, height: number): Promise<Item[]> {
  // The delay of a claim is a 32nd of the blocks for which another claim has owned the name, so less than a 32nd of the
  // height.
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

/**
 * Items that the normalization fork moves in lbcd, but that were filed here under the normalized name from the start,
 * because they are due after the fork.
 */
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

/** The logs of blocks from `from` up to but not including `to`. */
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

/** The life of an item under a name: the blocks in which it was listed, the end of its pending time, and its due heights. */
interface Span {
  readonly from: number;
  readonly until: number;
  readonly pendingUntil: number;
  readonly due: number;
  readonly expires: number;
}

/** Whether the block was the next scheduled one for the name after any earlier block. */
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
  // Before the fork each raw name had its own schedule.
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
  /** Changes at a height of two numbers: items due in the block, and items due before it. */
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
    // lbcd also computes the next block when an item appears or leaves.
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
