/** The order of the reference's hash set, compared with the output of GNU libstdc++. */
import { describe, expect, it } from 'vitest';
import { MAX_ORDERED, setOrder, stringHash } from '../../../src/claimtrie/checkOrder.js';

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `name${i * i}`);
const numbers = (text: string): string[] => text.split(' ').map((number) => `name${number}`);

describe('order of the reference hash set', () => {
  it('hashes strings as the library does', () => {
    const hashes: [string, string][] = [
      ['', '553e93901e462a6e'],
      ['a', '454ddee488c1ed6b'],
      ['12345678', '8c5b90a33a04dca5'],
      ['hello, world, this is long', '69959032ed8e600c'],
      ['\xff\0A', 'a09b0c47f6cb6ca6'],
    ];
    for (const [text, hash] of hashes) expect(stringHash(text).toString(16)).toBe(hash);
  });

  it('lists them in the order of its buckets, before and after it grows', () => {
    expect(setOrder([])).toEqual([]);
    expect(setOrder(names(5))).toEqual(numbers('16 9 4 1 0'));
    expect(setOrder(names(13))).toEqual(numbers('144 49 36 100 81 16 25 9 121 4 1 64 0'));
    expect(setOrder(names(14))).toEqual(numbers('0 64 1 169 4 121 25 81 100 36 9 16 49 144'));
    expect(setOrder(names(40))).toEqual(
      numbers(
        '1444 1369 1225 1156 1089 1296 1024 961 900 841 16 36 784 400 441 9 256 4 49 169 1 1521 324 81 121 0 196 25 625 225 289 529 361 484 64 576 144 100 676 729',
      ),
    );
  });

  it('keeps the order of very many strings', () => {
    const many = names(MAX_ORDERED);
    expect(setOrder(many)).toEqual(many);
  });
});
