/** Queries run synchronously if their rows are in memory, and asynchronously if not. */
import { describe, expect, it } from 'vitest';
import { readAtHand, type RowsAtHand } from '../../../../src/store/rows/rowsAtHand.js';
import { collectRows, type RowRange, type RowReader } from '../../../../src/store/rows/rows.js';
import { isPromise } from '../../../../src/util/maybePromise.js';
import { MemoryRows } from '../../../support/memoryRows.js';

const RANGE: RowRange = { gte: 'b', lt: 'd' };

function rowsOf(...keys: string[]): MemoryRows {
  const rows = new MemoryRows();
  for (const key of keys) rows.rows.set(key, Buffer.from(key.toUpperCase()));
  return rows;
}

/** Rows whose reads are asynchronous if `isSlow` selects them. Records the reads that were awaited. */
function partlySlow(rows: RowReader, isSlow: (what: string) => boolean): RowReader & { waits: string[] } {
  const waits: string[] = [];
  return {
    waits,
    get: (key) => rows.get(key),
    getMany(keys) {
      waits.push(keys.join());
      return rows.getMany(keys);
    },
    getRange(range) {
      waits.push(`${range.gte}-${range.lt}`);
      return collectRows(rows.range(range));
    },
    getManyNow: (keys) => (keys.some(isSlow) ? null : keys.map((key) => Buffer.from(key.toUpperCase()))),
    getRangeNow: ({ gte, lt }) => (isSlow(gte) ? null : [[gte, Buffer.from(lt)]]),
    range: (range) => rows.range(range),
  };
}

const query = (rows: RowsAtHand): string => {
  const one = rows.get('a');
  const two = rows.getMany(['b', 'c']);
  const range = rows.getRange(RANGE);
  return [one, ...two, ...range.map(([key]) => key)].join();
};

describe('queries over rows at hand', () => {
  it('run synchronously if all rows are available', () => {
    const rows = partlySlow(rowsOf('a', 'b', 'c'), () => false);
    expect(readAtHand(rows, query)).toBe('A,B,C,b');
    expect(rows.waits).toEqual([]);
  });

  it('wait once for each asynchronous read', async () => {
    for (const slow of ['a', 'c', 'b'] as const) {
      const rows = partlySlow(rowsOf('a', 'b', 'c'), (what) => what === slow);
      const answer = readAtHand(rows, query);
      expect(isPromise(answer)).toBe(true);
      expect(await answer).toBe(slow === 'b' ? 'A,B,C,b,c' : 'A,B,C,b');
      expect(rows.waits).toEqual(slow === 'a' ? ['a'] : slow === 'c' ? ['b,c'] : ['b,c', 'b-d']);
    }
  });

  it('do not wait if no keys are requested', () => {
    const rows: RowReader = { ...partlySlow(rowsOf('a'), () => true), getManyNow: () => null };
    expect(readAtHand(rows, (atHand) => atHand.getMany([]).length)).toBe(0);
  });

  it('always wait if the reader cannot read synchronously', async () => {
    const answer = readAtHand(rowsOf('a', 'b'), query);
    expect(isPromise(answer)).toBe(true);
    expect(await answer).toBe('A,B,,b');
  });

  it('pass on errors of the query and of the reader', async () => {
    const fail = (): never => {
      throw new Error('the query');
    };
    expect(() => readAtHand(rowsOf(), fail)).toThrow('the query');
    const broken: RowReader = {
      ...partlySlow(rowsOf(), () => true),
      getMany: () => Promise.reject(new Error('the disk')),
    };
    await expect(readAtHand(broken, query)).rejects.toThrow('the disk');
    const late = readAtHand(rowsOf(), (rows) => (rows.get('a'), fail()));
    await expect(late).rejects.toThrow('the query');
  });
});
