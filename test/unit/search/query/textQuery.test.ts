import { describe, expect, it } from 'vitest';
import { packWords } from '../../../../src/search/document/analyze.js';
import { countNear, isSimilar, matchesText, parseTextQuery } from '../../../../src/search/query/textQuery.js';

const packed = packWords([
  ['the-real-satoshi'],
  ['The Real Satoshi Nakamoto'],
  ['Documentary about CONSPIRACIES, creator of bitcoin.'],
  [],
  ['satoshi nakamoto', 'bitcoin news'],
]).packed;

describe('a text query', () => {
  it.each([
    ['conspiracy', false],
    ['conspiracies,', true],
    ['documentaries', true],
    ['satoshi', true],
    ['real-satoshi', false],
    ['cheese satoshi', true],
    ['cheese+satoshi', false],
    ['cheese + satoshi | nakamoto', true],
    ['cheese|satoshi', true],
    ['satoshi -nakamoto', false],
    ['satoshi -cheese', true],
    ['-cheese', true],
    ['"satoshi nakamoto"', true],
    ['"nakamoto satoshi"', false],
    ['"nakamoto bitcoin"', false],
    ['"real nakamoto"', false],
    ['"real nakamoto"~1', true],
    ['sato*', true],
    ['sato', false],
    ['(cheese | real) + nakamoto', true],
    ['(cheese | real) + wine', false],
    ['*', true],
    ['', false],
    ['+ | -', false],
    ['((((', false],
    ['satoshi )(" +', true],
    ['\\*', false],
  ])('%j', (text, finds) => {
    expect(matchesText(parseTextQuery(text), packed)).toBe(finds);
  });

  it('has no more levels than the parser supports', () => {
    expect(parseTextQuery(`${'('.repeat(60_000)}word`)).toEqual({ kind: 'word', word: 'word' });
  });
});

describe('words with others between them', () => {
  const value = packWords([['a b a c b'], ['x a', 'b y'], [], [], ['a', 'b']]).packed;

  it.each([
    ['a b', 0, 1],
    ['a b', 1, 2],
    ['b a', 0, 1],
    ['a a', 1, 1],
    ['a a', 0, 0],
    ['a b c', 1, 1],
    ['a c b', 0, 1],
    ['x b', 100, 0],
    ['c y', 100, 0],
  ])('%j with up to %i are found %i times', (words, gap, count) => {
    expect(countNear(words.split(' '), gap, value)).toBe(count);
  });

  it('are searched in a time that does not grow with the number of combinations', () => {
    // The number of ways is that of the choices of 200 from 2,000 positions. Trying them one by one would not end.
    const { packed } = packWords([[`z ${'a '.repeat(2000)}`]]);
    const words = [...Array.from({ length: 200 }, () => 'a'), 'z'];
    expect(countNear(words, 100, packed)).toBe(0);
    expect(matchesText({ kind: 'near', words, gap: 100 }, packed)).toBe(false);
    expect(countNear(words.slice(0, -1), 100, packed)).toBe(10);
  });
});

it('corrects wrong letters', () => {
  expect(isSimilar('satoshi', 'satohsi', 1)).toBe(true);
  expect(isSimilar('satoshi', 'satosh', 1)).toBe(true);
  expect(isSimilar('satoshi', 'satxsix', 1)).toBe(false);
  expect(isSimilar('satoshi', 'satxshix', 2)).toBe(true);
});
