import { expect, it } from 'vitest';
import { mergeBatches } from '../../../../src/store/rows/mergeLayers.js';
import type { Bytes } from '../../../../src/util/bytes.js';

type Row = [string, Bytes];
const value = (n: number): Bytes => Buffer.of(n);

async function merged(above: [string, Bytes | null][], batches: Row[][]): Promise<Row[][]> {
  async function* below(): AsyncGenerator<Row[]> {
    yield* batches;
  }
  const out: Row[][] = [];
  for await (const rows of mergeBatches(above, below())) out.push(rows);
  return out;
}

it('merges given rows into batches: new, changed and deleted ones, before, between and behind them', async () => {
  const batches: Row[][] = [
    [
      ['b', value(1)],
      ['d', value(2)],
    ],
    [['f', value(3)]],
    [['h', value(4)]],
  ];
  expect(await merged([], batches)).toEqual(batches);
  const above: [string, Bytes | null][] = [
    ['a', value(10)],
    ['b', null],
    ['c', null],
    ['d', value(11)],
    ['e', value(12)],
    ['f', null],
    ['h', null],
    ['i', value(13)],
    ['j', null],
  ];
  const rows = (await merged(above, batches)).flat();
  expect(rows).toEqual([
    ['a', value(10)],
    ['d', value(11)],
    ['e', value(12)],
    ['i', value(13)],
  ]);
  expect(await merged([['h', null]], [[['h', value(4)]]])).toEqual([]);
  expect(await merged([['a', value(1)]], [])).toEqual([[['a', value(1)]]]);
});
