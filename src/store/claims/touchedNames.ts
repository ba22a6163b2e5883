/**
 * Finds the names that some blocks changed, using the logs of these blocks. Caches of names use the result for invalidation.
 * A log contains every item (claim or support) that a block created, moved or removed, and every changed takeover height.
 */
import type { MaybePromise } from '../../util/maybePromise.js';
import type { RowReader } from '../rows/rows.js';
import { readAtHand } from '../rows/rowsAtHand.js';
import { logKey, readU32 } from './rows/claimKeys.js';
import { parseLogChunk, type ItemRef } from './rows/logRow.js';

/** Maximum number of log chunks (32 KiB each) that are read. Arbitrary: about ten thousand operations. */
const MOST_CHUNKS = 64;

/** The changed names. The value contains the items (claims and supports) that the blocks created, changed or removed. */
export type TouchedNames = ReadonlyMap<string, readonly ItemRef[]>;

/** Reads the names that the blocks `from` to `to` changed. Null if their logs exceed the limit. */
export function readTouchedNames(
  rows: RowReader,
  from: number,
  to: number,
): MaybePromise<TouchedNames | null> {
  const range = { gte: logKey(from, 0), lt: logKey(to + 1, 0), limit: MOST_CHUNKS + 1 };
  return readAtHand(rows, (atHand) => {
    const chunks = atHand.getRange(range);
    if (chunks.length > MOST_CHUNKS) return null;
    const names = new Map<string, ItemRef[]>();
    const itemsOf = (name: string): ItemRef[] => {
      const known = names.get(name);
      if (known !== undefined) return known;
      const items: ItemRef[] = [];
      names.set(name, items);
      return items;
    };
    for (const [key, chunk] of chunks) {
      for (const event of parseLogChunk(readU32(key, 1), chunk)) {
        if ('ref' in event) itemsOf(event.ref.name).push(event.ref);
        else itemsOf(event.name);
        if (event.op === 'refile') itemsOf(event.to.name).push(event.to);
      }
    }
    return names;
  });
}
