/**
 * The claims that were created last. They are read from the logs of blocks, backwards. Blocks that changed no claim have no
 * log, so the cost does not depend on the age of the chain. Stores no rows.
 */
import { claimIdAtPoint, type Item } from '../../../claimtrie/item.js';
import { YieldTimer } from '../../../scheduler/yieldTimer.js';
import { assert } from '../../../util/assert.js';
import { walkInSteps, type RowReader } from '../../rows/rows.js';
import { logKey, parseLogKey } from '../rows/claimKeys.js';
import { parseLogChunk, readLog, type ItemRef, type LogEvent } from '../rows/logRow.js';
import { itemsByOrdinal } from './itemHistory.js';

/** Maximum number of blocks whose logs one call reads. Arbitrary: they are read in a fraction of a second. */
const MOST_BLOCKS = 1000;
/** Number of log rows that are read together. Arbitrary. */
const ROWS_AT_ONCE = 16;

/** A position among the created claims: all up to block `height`, without the latest `skip` of that block. */
export interface NewestPlace {
  readonly height: number;
  readonly skip: number;
}

export interface CreatedClaim {
  /** The output of the claim after the block that created it. The data of the item is that of the tip. */
  readonly item: Item;
  /** Height of that block. */
  readonly height: number;
}

export interface NewestPage {
  /** Sorted from the latest. Claims that have ended since are included. */
  readonly claims: readonly CreatedClaim[];
  /** Place of the next page; null if all blocks were read. */
  readonly next: NewestPlace | null;
}

/**
 * Reads at most `count` created claims from a place downwards. The page may be shorter although there are more. Claims that
 * were created and abandoned in the same block are left out. The result is invalid if a block is disconnected during the call.
 */
export async function readNewestClaims(
  rows: RowReader,
  { height: from, skip }: NewestPlace,
  count: number,
): Promise<NewestPage> {
  const claims: CreatedClaim[] = [];
  const timer = new YieldTimer();
  const range = { gte: logKey(0, 0), lt: logKey(from + 1, 0), reverse: true };
  let last = -1;
  let read = 0;
  for await (const [key, chunk] of walkInSteps(rows, range, ROWS_AT_ONCE)) {
    const { height, number } = parseLogKey(key);
    if (height === last) continue;
    if (++read > MOST_BLOCKS) return { claims, next: { height, skip: 0 } };
    last = height;
    // The first row of a block in this order is the last chunk of its log.
    const events = number === 0 ? parseLogChunk(height, chunk) : await readLog(rows, height);
    const created = await createdIn(rows, events);
    const skipped = height === from ? skip : 0;
    for (const [at, item] of created.entries()) {
      if (at < skipped) continue;
      if (claims.length === count) return { claims, next: { height, skip: at } };
      claims.push({ item, height });
    }
    if (timer.isDue) await timer.pause();
  }
  return { claims, next: null };
}

/** Reads items of a log, with one read for all items of a name that were stored by the same block. */
class ItemsOfLog {
  private readonly rows: RowReader;
  private readonly groups = new Map<string, ReadonlyMap<number, Item>>();

  constructor(rows: RowReader) {
    this.rows = rows;
  }

  async at({ name, since, ordinal }: ItemRef): Promise<Item> {
    const key = `${since}:${name}`;
    let items = this.groups.get(key);
    if (items === undefined) this.groups.set(key, (items = await itemsByOrdinal(this.rows, name, since)));
    const item = items.get(ordinal);
    assert(item, 'an item of the log of a block is missing');
    return item;
  }
}

/** The outputs of the claims that a block created, at the end of that block, the latest first. */
async function createdIn(rows: RowReader, events: readonly LogEvent[]): Promise<Item[]> {
  const items = new ItemsOfLog(rows);
  const made: Item[] = [];
  for (const event of events)
    if (event.op === 'create' && !event.isSupport) made.push(await items.at(event.ref));
  const isFirst = ({ point, claimId }: Item): boolean => claimIdAtPoint(point) === claimId;
  if (made.every(isFirst)) return made.reverse();
  // An update has the id of a claim that the block spent, unless the block created and updated the claim.
  const earlier = new Set<string>();
  for (const event of events)
    if (event.op === 'spend' && !event.isSupport) earlier.add((await items.at(event.ref)).claimId);
  return made.filter((item) => isFirst(item) || !earlier.has(item.claimId)).reverse();
}
