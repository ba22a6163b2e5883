/**
 * Forecast of the claim events in future blocks, without new transactions: activations are read from the queue of pending
 * items, and expirations from the logs of the blocks whose claims and supports expire. For each affected name all items are
 * read, so the forecast includes takeovers and the early activations that they cause (`claimtrie/forecast.ts`).
 */
import { forecastName, type ForecastEvent } from '../../../claimtrie/forecast.js';
import { REMOVAL, type Item } from '../../../claimtrie/item.js';
import { normalizeKey } from '../../../claimtrie/nameKey.js';
import { expiringCreation } from '../../../claimtrie/rules.js';
import type { ClaimRules } from '../../../claimtrie/types.js';
import { inSlices } from '../../../scheduler/slices.js';
import type { RowReader } from '../../rows/rows.js';
import { YieldTimer } from '../../../scheduler/yieldTimer.js';
import { dueKey, logKey, readU32 } from '../rows/claimKeys.js';
import { aliveItems, itemsByOrdinal } from './itemHistory.js';
import { countLogChunks, parseLogChunk, readLog, type ItemRef } from '../rows/logRow.js';
import { parseDueRow } from '../rows/queueRow.js';

export interface UpcomingQuery {
  /** Height of the block after which the forecast starts. */
  height: number;
  /** First and last block of the forecast, both above `height`. */
  from: number;
  to: number;
  /** Number of events of a page. The page ends with the block in which the number of wanted events reaches it. */
  count: number;
  isWanted: (type: ForecastEvent['type']) => boolean;
}

export interface UpcomingEvent {
  name: string;
  event: ForecastEvent;
}

export interface UpcomingPage {
  /** Forecast events, sorted by height and then by name. */
  events: UpcomingEvent[];
  /** Height at which the next page starts; null at the end of the range. */
  next: number | null;
}

/** Maximum number of blocks between the start block and the tip. The logs of these blocks are read for each page. Arbitrary. */
export const FORESEEN_BLOCKS_BEHIND = 144;

/** Names with items (claims and supports) in the queue of pending items, by the height at which the items are due. */
export type DueNames = ReadonlyMap<number, ReadonlySet<string>>;

/**
 * Names with items (claims and supports) that were pending after block `height` and are due in blocks `from` to `to`. These
 * are the names in the queue at the tip (`tipHeight`), and the names of items that blocks after `height` removed from the
 * queue. The current rows are read, so the result is invalid if a block is connected or disconnected during the call.
 */
export async function readDueNames(
  rows: RowReader,
  { height, from, to }: Pick<UpcomingQuery, 'height' | 'from' | 'to'>,
  tipHeight: number,
): Promise<DueNames> {
  const names = new Map<number, Set<string>>();
  const yieldTimer = new YieldTimer();
  for await (const [key, row] of rows.range({ gte: dueKey(from), lt: dueKey(to + 1) })) {
    const height = readU32(key, key.length - 4);
    names.set(height, new Set(parseDueRow(row).map(({ name }) => name)));
    if (yieldTimer.isDue) await yieldTimer.pause();
  }
  for (let later = height + 1; later <= tipHeight; later++) {
    for (const { ref } of await takenOut(rows, later, height)) {
      const item = (await itemsByOrdinal(rows, ref.name, ref.since)).get(ref.ordinal);
      if (item === undefined || (item.activated !== 0 && item.activated <= height)) continue;
      if (item.dueHeight < from || item.dueHeight > to) continue;
      const due = names.get(item.dueHeight);
      if (due) due.add(item.name);
      else names.set(item.dueHeight, new Set([item.name]));
    }
    if (yieldTimer.isDue) await yieldTimer.pause();
  }
  return names;
}

/**
 * Reads the items (claims and supports) created by block `height` or an earlier one that block `later` spent, moved or
 * activated.
 */
async function takenOut(rows: RowReader, later: number, height: number): Promise<{ ref: ItemRef }[]> {
  return (await readLog(rows, later)).flatMap((event) => {
    const isTaken = event.op === 'spend' || event.op === 'activate' || event.op === 'refile';
    return isTaken && event.ref.since <= height ? [event] : [];
  });
}

/**
 * Maximum number of outputs of old blocks that are read for one page. The page ends with the block in which the number is
 * reached. Arbitrary.
 */
const MAX_OLD_ITEMS = 20_000;
/** Number of names that are read concurrently. */
const NAMES_AT_ONCE = 32;

/** Returns whether a name without claims is a node of the claim trie after the block of the query. */
export type IsNode = (name: string) => Promise<boolean>;

/** Forecasts one page of events. `due` must cover the range of the query. */
export async function readUpcoming(
  rows: RowReader,
  rules: ClaimRules,
  query: UpcomingQuery,
  due: DueNames,
  isNode: IsNode,
): Promise<UpcomingPage> {
  const { from, to, count, isWanted } = query;
  const events: UpcomingEvent[] = [];
  const forecasts = new Map<string, ForecastEvent[]>();
  const yieldTimer = new YieldTimer();
  let oldItems = 0;
  for (let height = from; height <= to; height++) {
    const old = await oldNames(rows, rules, expiringCreation(rules, height), query.height);
    oldItems += old.items;
    const names = [...new Set([...(due.get(height) ?? []), ...old.names])].sort();
    for (const name of names) {
      let coming = forecasts.get(name);
      if (coming === undefined)
        forecasts.set(name, (coming = await forecast(rows, rules, name, query, isNode)));
      for (const event of coming) {
        if (event.height === height && isWanted(event.type)) events.push({ name, event });
      }
      if (yieldTimer.isDue) await yieldTimer.pause();
    }
    if (yieldTimer.isDue) await yieldTimer.pause();
    if (height < to && (events.length >= count || oldItems >= MAX_OLD_ITEMS))
      return { events, next: height + 1 };
  }
  return { events, next: null };
}

async function forecast(
  rows: RowReader,
  rules: ClaimRules,
  name: string,
  { height, to }: UpcomingQuery,
  isNode: IsNode,
): Promise<ForecastEvent[]> {
  const items = await aliveItems(rows, name, height);
  const isClaimed = items.some(
    ({ kind, activated }) => kind !== 'support' && activated !== 0 && activated <= height,
  );
  const isParting = !isClaimed && (await isNode(name));
  return inSlices(forecastName(rules, { name, items, height, until: to, isParting }));
}

/**
 * Names under which items (claims and supports) that block `created` created are stored after block `height`, and the number
 * of these items.
 */
async function oldNames(
  rows: RowReader,
  rules: ClaimRules,
  created: number,
  height: number,
): Promise<{ names: Set<string>; items: number }> {
  const names = new Set<string>();
  if (created < 0 || created > height) return { names, items: 0 };
  const made = await createdNames(rows, created);
  const unread = [...made.names];
  for (let at = 0; at < unread.length; at += NAMES_AT_ONCE) {
    await Promise.all(
      unread.slice(at, at + NAMES_AT_ONCE).map(async (name) => {
        for (const item of (await itemsByOrdinal(rows, name, created)).values()) {
          const found = filedName(item, height);
          if (found !== null) names.add(found);
        }
      }),
    );
  }
  return { names, items: made.items };
}

/** Name under which the item (claim or support) is stored after block `height`; null if the item was removed. */
function filedName({ name, removed, removal }: Item, height: number): string | null {
  if (removed === 0 || removed > height) return name;
  return removal === REMOVAL.refiled ? normalizeKey(name) : null;
}

/**
 * The names under which a block stored its new items (claims and supports), and their number. The block may be the
 * normalization fork, whose log is long.
 */
async function createdNames(rows: RowReader, height: number): Promise<{ names: Set<string>; items: number }> {
  const names = new Set<string>();
  let items = 0;
  const yieldTimer = new YieldTimer();
  const chunks = await countLogChunks(rows, height);
  for (let number = 0; number < chunks; number++) {
    const chunk = await rows.get(logKey(height, number));
    if (!chunk) break;
    for (const event of parseLogChunk(height, chunk)) {
      if (event.op !== 'create') continue;
      names.add(event.ref.name);
      items++;
    }
    if (yieldTimer.isDue) await yieldTimer.pause();
  }
  return { names, items };
}
