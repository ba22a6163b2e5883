import { stemmer } from 'stemmer';
import { expect, it } from 'vitest';
import { textWords } from '../../../../src/search/document/analyze.js';
import { Random } from '../../../support/claimSearchModel.js';

const ENDINGS = (
  'ational tional enci anci izer bli alli entli eli ousli ization ation ator alism iveness fulness ousness aliti iviti ' +
  'biliti logi icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent ou ism ate iti ous ' +
  'ive ize ion s sses ies ed ing eed y e ll ss'
).split(' ');

it('stems words of every ending and letter as the stemmer does, cached or not', () => {
  const random = new Random(7);
  const letters = 'aabcdeefghiijklmnoopqrstuuvwxyyz09éя';
  const words = Array.from({ length: 20_000 }, () => {
    const start = Array.from({ length: 1 + random.below(8) }, () => random.pick([...letters])).join('');
    return random.chance(0.5) ? start : start + random.pick(ENDINGS);
  });
  // More different words than the cache holds. Some occur again at the end.
  const text = [...words, ...Array.from({ length: 101_000 }, (_, i) => `n${i}e`), ...words];
  expect(textWords(text.join(' '))).toEqual(text.map((word) => (word.length > 2 ? stemmer(word) : word)));
});
