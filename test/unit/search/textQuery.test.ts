import { describe, expect, it } from 'vitest';
import { packWords } from '../../../src/search/analyze.js';
import { isSimilar, matchesText, parseTextQuery } from '../../../src/search/textQuery.js';

const packed = packWords([
  ['the-real-satoshi'],
  ['The Real Satoshi Nakamoto'],
  ['Documentary about CONSPIRACIES, creator of bitcoin.'],
  [],
  ['satoshi nakamoto', 'bitcoin news'],
]).packed;

describe('a text', () => {
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

  it('is no deeper than its reader', () => {
    expect(parseTextQuery(`${'('.repeat(60_000)}word`)).toEqual({ kind: 'word', word: 'word' });
  });
});

it('tells wrong letters', () => {
  expect(isSimilar('satoshi', 'satohsi', 1)).toBe(true);
  expect(isSimilar('satoshi', 'satosh', 1)).toBe(true);
  expect(isSimilar('satoshi', 'satxsix', 1)).toBe(false);
  expect(isSimilar('satoshi', 'satxshix', 2)).toBe(true);
});
