/**
 * The names of which some blocks changed something, from the logs of these blocks. For callers that keep from block to block
 * what they read of a name. A log names every item that a block filed, moved or removed, and every changed takeover height.
 */
import type { Soon } from '../../util/soon.js';
import type { RowReader } from '../rows.js';
import { readAtHand } from '../rowsAtHand.js';
import { logKey, readU32 } from './claimKeys.js';
import { parseLogChunk } from './logRow.js';

/** Parts of logs that are read, of 32 KiB each. Arbitrary: some ten thousand operations. */
const MOST_CHUNKS = 64;

/** Null when the blocks `from` to `to` changed more than is worth reading. */
export function readTouchedNames(
  rows: RowReader,
  from: number,
  to: number,
): Soon<ReadonlySet<string> | null> {
  const range = { gte: logKey(from, 0), lt: logKey(to + 1, 0), limit: MOST_CHUNKS + 1 };
  return readAtHand(rows, (atHand) => {
    const chunks = atHand.getRange(range);
    if (chunks.length > MOST_CHUNKS) return null;
    const names = new Set<string>();
    for (const [key, chunk] of chunks) {
      for (const event of parseLogChunk(readU32(key, 1), chunk)) {
        names.add('ref' in event ? event.ref.name : event.name);
        if (event.op === 'refile') names.add(event.to.name);
      }
    }
    return names;
  });
}
