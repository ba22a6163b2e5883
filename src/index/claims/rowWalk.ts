/** Iteration over all rows with a prefix. */
import { prefixEnd, type RowReader } from '../../store/rows/rows.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import type { Bytes } from '../../util/bytes.js';

/** Number of rows that are read in the first call; enough for most iterations. Arbitrary. */
const FEW_ROWS = 32;

/** Calls `take` for each row whose key starts with the prefix, in the order of the keys. */
export async function forEachRow(
  rows: RowReader,
  prefix: string,
  take: (key: string, row: Bytes) => void,
): Promise<void> {
  const range = { gte: prefix, lt: prefixEnd(prefix) };
  const few = await rows.getRange({ ...range, limit: FEW_ROWS });
  for (const [key, row] of few) take(key, row);
  if (few.length < FEW_ROWS) return;
  let since = performance.now();
  for await (const [key, row] of rows.range({ ...range, gte: `${few.at(-1)![0]}\0` })) {
    take(key, row);
    since = await yieldIfDue(since);
  }
}
