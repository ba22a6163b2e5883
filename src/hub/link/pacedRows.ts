/**
 * Row reader for the hub's thread. A read of many rows yields to the event loop from time to time, because the disk may be
 * slow.
 */
import type { RowRange, RowReader } from '../../store/rows/rows.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import type { Bytes } from '../../util/bytes.js';

/** Number of rows read between two checks whether to yield. This takes a millisecond or two with an SSD. */
const ROWS_A_LOOK = 16;
/** Milliseconds after which a read yields to the event loop. The time for the rows before the next check is added. */
const SLICE_MS = 4;

export class PacedRows implements RowReader {
  private readonly rows: RowReader;

  constructor(rows: RowReader) {
    this.rows = rows;
  }

  get(key: string): Promise<Bytes | undefined> {
    return this.rows.get(key);
  }

  async getMany(keys: readonly string[]): Promise<(Bytes | undefined)[]> {
    if (keys.length <= ROWS_A_LOOK) return this.rows.getMany(keys);
    const found: (Bytes | undefined)[] = [];
    let since = performance.now();
    for (let at = 0; at < keys.length; at += ROWS_A_LOOK) {
      found.push(...(await this.rows.getMany(keys.slice(at, at + ROWS_A_LOOK))));
      since = await yieldIfDue(since, SLICE_MS);
    }
    return found;
  }

  getRange(range: RowRange): Promise<[string, Bytes][]> {
    return this.rows.getRange(range);
  }

  range(range: RowRange): AsyncIterable<[string, Bytes]> {
    return this.rows.range(range);
  }
}
