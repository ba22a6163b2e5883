/**
 * Runs queries over rows that are mostly in memory. A query is synchronous code. If a row is not in memory, the query is
 * aborted, the row is read on another thread, and the query is restarted from the beginning. So a query must not have side
 * effects. Stores no rows.
 */
import type { Bytes } from '../../util/bytes.js';
import type { MaybePromise } from '../../util/maybePromise.js';
import type { RowRange, RowReader } from './rows.js';

/** Synchronous access to rows for a query. The query must not catch the errors that this reader throws. */
export interface RowsAtHand {
  get(key: string): Bytes | undefined;
  getMany(keys: readonly string[]): (Bytes | undefined)[];
  /** Reads the rows of a short range. */
  getRange(range: RowRange): [key: string, value: Bytes][];
}

/** Thrown by the reader if a row must be read asynchronously, which aborts the query. */
const MUST_WAIT = Symbol('rows must be waited for');
/**
 * Separator between keys in joined strings. Keys contain only characters below U+0100, so the separator cannot occur in a
 * key.
 */
const BETWEEN = '\u0100';

class Attempt implements RowsAtHand {
  private readonly rows: RowReader;
  /** Rows that were read asynchronously: single values by key, lists of rows by range. */
  private readonly values = new Map<string, Bytes | undefined>();
  private readonly ranges = new Map<string, [string, Bytes][]>();
  /** Reads the rows that were missing in the last attempt. */
  private fetch: (() => Promise<void>) | null = null;

  constructor(rows: RowReader) {
    this.rows = rows;
  }

  get(key: string): Bytes | undefined {
    return this.getMany([key])[0];
  }

  getMany(keys: readonly string[]): (Bytes | undefined)[] {
    if (keys.length === 0) return [];
    if (this.values.size > 0 && keys.every((key) => this.values.has(key)))
      return keys.map((key) => this.values.get(key));
    const found = this.rows.getManyNow?.(keys) ?? null;
    if (found !== null) return found;
    return this.wait(async () => {
      const read = await this.rows.getMany(keys);
      keys.forEach((key, i) => this.values.set(key, read[i]));
    });
  }

  getRange(range: RowRange): [string, Bytes][] {
    const id = this.ranges.size > 0 ? idOf(range) : '';
    const known = this.ranges.get(id);
    if (known !== undefined) return known;
    const found = this.rows.getRangeNow?.(range) ?? null;
    if (found !== null) return found;
    return this.wait(async () => {
      this.ranges.set(idOf(range), await this.rows.getRange(range));
    });
  }

  /** Reads the missing rows and starts the query again, until it completes. */
  async goOn<T>(query: (rows: RowsAtHand) => T): Promise<T> {
    for (;;) {
      await this.fetch?.();
      try {
        return query(this);
      } catch (error) {
        if (error !== MUST_WAIT) throw error;
      }
    }
  }

  private wait(fetch: () => Promise<void>): never {
    this.fetch = fetch;
    // The thrown value is not an `Error`, because creating a stack trace would cost more than reading the row.
    throw MUST_WAIT;
  }
}

function idOf({ gte, lt, reverse = false, limit = Infinity }: RowRange): string {
  return [gte, lt, reverse, limit].join(BETWEEN);
}

/**
 * Runs a query. Synchronous if all rows are in memory. Rows that were read asynchronously may belong to different blocks,
 * which the caller must check.
 */
export function readAtHand<T>(rows: RowReader, query: (rows: RowsAtHand) => T): MaybePromise<T> {
  const attempt = new Attempt(rows);
  try {
    return query(attempt);
  } catch (error) {
    if (error !== MUST_WAIT) throw error;
    return attempt.goOn(query);
  }
}
