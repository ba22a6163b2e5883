/**
 * The update schedule of lbcd. With each change of a name, lbcd notes the next block in which an item (claim or support) of
 * the name becomes active or expires. lbcd never removes this note. So lbcd's list of names changed in a block also contains
 * names whose item was due in that block, even if the item was spent or became active before. A name is not in the list if
 * another of its items was always due earlier. This node does not store the schedule. It is computed from the logs of the
 * blocks that created the items. Source: lbcd claimtrie/claimtrie.go `AppendBlock`, node/node.go `NextUpdate`; temporal/.
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
 * The names that a block changed, and the names that lbcd had scheduled for the block. Before the normalization fork these
 * are raw names, even for items (claims and supports) that are due after the fork.
 */
export async function readLbcdChanges(rows: RowReader, rules: ClaimRules, height: number): Promise<Bytes[]> {
  const fork = rules.normalizationForkHeight;
  const names = await readLbcdSchedule(rows, rules, height);
  for (const event of await readLog(rows, height)) {
    // Takeovers need no handling, because the log also contains the event that caused the takeover. The exception is a
    // takeover where only a node without claims appeared or vanished.
    if (event.op === 'snapshot' || event.op === 'takeover') continue;
    if (event.op === 'refile') names.add(event.to.name);
    const isNear = height < fork && height + MAX_DELAY >= fork;
    const item = isNear ? await itemOf(rows, event.ref) : undefined;
    names.add(item?.rawName ?? event.ref.name);
    // In the fork's block, lbcd also moves the items (claims and supports) that this block spends.
    if (height === fork) names.add(normalizeKey(event.ref.name));
  }
  if (height === fork) {
    const moved = [...(await readStranded(rows)), ...(await movedInFork(rows, rules))];
    for (const { name, rawName } of moved) names.add(name).add(rawName);
  }
  for (const name of await readFleetingNames(rows, height)) names.add(name);
  return [...names].map(fromLatin1);
}

/** The names that lbcd had scheduled for a block and that the block's log does not contain. */
async function readLbcdSchedule(rows: RowReader, rules: ClaimRules, height: number): Promise<Set<string>> {
  /** Raw names before the normalization fork, by the name under which they are known at this block. */
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

/**
 * Items (claims and supports) whose term ends in the block, but which were removed before, or which the normalization fork
 * did not move.
 */
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

/**
 * Whether an item (claim or support) is still stored under a raw name after the normalization fork, so that lbrycrd does not
 * find it in block `height`.
 */
function isStranded(rules: ClaimRules, { name, removed, activated }: Item, height: number): boolean {
  return (
    removed === 0 && activated !== 0 && height > rules.normalizationForkHeight && normalizeKey(name) !== name
  );
}

/** Items (claims and supports) that were pending until the block, but were spent, or activated early by a takeover, before. */
async function pendingItems(rows: RowReader, rules: ClaimRules, height: number): Promise<Item[]> {
  // The delay of a claim is a 32nd of the number of blocks since the last takeover of its name. So the delay is less than
  // a 32nd of the height.
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
 * Items (claims and supports) that lbcd moves in the normalization fork. This node stored them under the normalized name
 * from the start, because they are due after the fork.
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

/**
 * The life of an item (claim or support) under a name. It was listed from block `from` until block `until`, and pending
 * until `pendingUntil`. `due` and `expires` are the heights for which lbcd schedules it.
 */
interface Span {
  readonly from: number;
  readonly until: number;
  readonly pendingUntil: number;
  readonly due: number;
  readonly expires: number;
}

/** Whether lbcd noted the block as the next scheduled block of the name after any earlier block. */
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
  // Before the normalization fork lbcd had a separate schedule for each raw name.
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
  /**
   * Changes, by height, of two counts: `here` counts items (claims and supports) that are due in the block, `sooner` counts
   * items that are due before it.
   */
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
    // lbcd computes the next scheduled block also when an item (claim or support) is added or removed.
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
