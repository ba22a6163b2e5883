/**
 * Queries over rows that are mostly in memory: written as if all of them were, and run in one turn of the event loop. Where
 * one must be waited for, the query is abandoned, the rows are read on another thread, and it runs again from its beginning;
 * so it must change nothing. Owns no rows.
 */
import type { Bytes } from '../../util/bytes.js';
import type { MaybePromise } from '../../util/maybePromise.js';
import type { RowRange, RowReader } from './rows.js';

/** What such a query reads by. What this throws the query must let pass. */
export interface RowsAtHand {
  get(key: string): Bytes | undefined;
  getMany(keys: readonly string[]): (Bytes | undefined)[];
  /** The rows of a short range. */
  getRange(range: RowRange): [key: string, value: Bytes][];
}

/** Thrown where rows must be waited for. */
const MUST_WAIT = Symbol('rows must be waited for');
/** Joins keys, whose code units are bytes. */
const BETWEEN = '\u0100';

class Attempt implements RowsAtHand {
  private readonly rows: RowReader;
  /** What was waited for: values by their keys, rows by their range. */
  private readonly values = new Map<string, Bytes | undefined>();
  private readonly ranges = new Map<string, [string, Bytes][]>();
  /** Reads what was missing. */
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

  /** Waits for what the query gave up for, and runs it until it gives up no more. */
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
    // No error: its stack would cost more than the read.
    throw MUST_WAIT;
  }
}

function idOf({ gte, lt, reverse = false, limit = Infinity }: RowRange): string {
  return [gte, lt, reverse, limit].join(BETWEEN);
}

/**
 * The outcome of a query: at once when all its rows are at hand. What it waits for in several turns may be rows of several
 * blocks, which the caller must notice.
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
