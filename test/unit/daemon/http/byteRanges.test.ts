/** Headers `Range` of requests. */
import { describe, expect, it } from 'vitest';
import { MAX_RANGES, readRanges } from '../../../../src/daemon/http/byteRanges.js';

const read = (header: string, sizeBytes = 1000) =>
  readRanges(header, sizeBytes)?.map(({ from, to }) => `${from}-${to - 1}`) ?? null;

describe('byte ranges', () => {
  it.each([
    ['bytes=0-0', ['0-0']],
    ['bytes=0-', ['0-999']],
    ['BYTES=5-9', ['5-9']],
    ['bytes=999-', ['999-999']],
    ['bytes=10-5000', ['10-999']],
    ['bytes=0-99999999999999999999999', ['0-999']],
    ['bytes=-1', ['999-999']],
    ['bytes=-1000', ['0-999']],
    ['bytes=-5000', ['0-999']],
    ['bytes=0-9, 500-509', ['0-9', '500-509']],
    ['bytes=500-509,,0-9 ,', ['500-509', '0-9']],
    ['bytes=0-9,5-20', ['0-20']],
    ['bytes=500-509,0-9,505-520', ['500-520', '0-9']],
    ['bytes=0-9,50-59', ['0-59']],
    ['bytes=0-9,5000-', ['0-9']],
  ])('are read: %s', (header, ranges) => {
    expect(read(header)).toEqual(ranges);
  });

  it.each(['bytes=1000-', 'bytes=1000-2000', 'bytes=-0', 'bytes=5000-6000,-0'])(
    'cannot be satisfied: %s',
    (header) => {
      expect(read(header)).toEqual([]);
    },
  );

  it.each([
    'bytes',
    'bytes=',
    'bytes=,',
    'bytes=-',
    'bytes=9-5',
    'bytes=0-9,9-5',
    'bytes=a-b',
    'bytes=1.5-3',
    'bytes=0x10-',
    'bytes=--5',
    'bytes=1-2-3',
    'bytes=+1-2',
    'bytes 0-9',
    'items=0-9',
    'seconds=0-',
  ])('are ignored: %s', (header) => {
    expect(read(header)).toBeNull();
  });

  it('of an empty file cannot be satisfied', () => {
    expect([read('bytes=0-', 0), read('bytes=-5', 0)]).toEqual([[], []]);
  });

  it('are ignored where there are too many', () => {
    const list = (count: number) =>
      `bytes=${Array.from({ length: count }, (_, n) => `${n * 1000}-${n * 1000}`).join(',')}`;
    expect(readRanges(list(MAX_RANGES), 1_000_000)).toHaveLength(MAX_RANGES);
    expect(readRanges(list(MAX_RANGES + 1), 1_000_000)).toBeNull();
  });
});
