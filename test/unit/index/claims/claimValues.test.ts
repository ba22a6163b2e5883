/** Values of claims from block files, and from coins where the block is not on disk. */
import { expect, test } from 'vitest';
import { pointKey } from '../../../../src/claimtrie/item.js';
import { readValues, type ValueSource } from '../../../../src/index/claims/claimValues.js';
import { formatOutPoint } from '../../../../src/primitives/transaction.js';
import { buildClaimPrefix } from '../../../../src/script/claimScript.js';

const hash = Buffer.alloc(32, 7);
const place = { point: pointKey(hash, 3), height: 5, position: 1, txOffset: 81 };
const scriptOf = (value: string): Buffer => buildClaimPrefix(Buffer.from('name'), Buffer.from(value));

function sourceOf(coin: Buffer | null): { source: ValueSource; asked: string[] } {
  const asked: string[] = [];
  const source: ValueSource = {
    blockAt: (height) => height,
    readTransaction: () => null,
    recentScript: () => null,
    coinScript: (outPoint) => {
      asked.push(Buffer.from(outPoint).toString('hex'));
      return coin;
    },
  };
  return { source, asked };
}

test('the value of a claim whose block is not on disk comes from its coin', async () => {
  const { source, asked } = sourceOf(scriptOf('from the coin'));
  expect(await readValues(source, [place])).toEqual([Buffer.from('from the coin')]);
  expect(asked).toEqual([Buffer.from(formatOutPoint({ hash, index: 3 })).toString('hex')]);
  expect(await readValues(sourceOf(null).source, [place])).toEqual([null]);
});

test('the coin is not read if a block in memory contains the script', async () => {
  const { source, asked } = sourceOf(null);
  const recent = { ...source, recentScript: () => scriptOf('recent') };
  expect(await readValues(recent, [place])).toEqual([Buffer.from('recent')]);
  expect(asked).toEqual([]);
});
