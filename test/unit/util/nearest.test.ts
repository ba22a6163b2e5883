import { describe, expect, it } from 'vitest';
import { editDistance, nearestWord, suggestion } from '../../../src/util/nearest.js';

describe('the edit distance', () => {
  it.each([
    ['', '', 0],
    ['', 'abc', 3],
    ['abc', '', 3],
    ['abc', 'abc', 0],
    ['abc', 'abd', 1],
    ['abc', 'abcd', 1],
    ['abc', 'bc', 1],
    // A swap of two neighbours counts as one change.
    ['abcd', 'abdc', 1],
    ['kitten', 'sitting', 3],
    ['txindex', 'xtindxe', 2],
  ])('%j to %j', (from, to, edits) => {
    expect(editDistance(from, to)).toBe(edits);
    expect(editDistance(to, from)).toBe(edits);
  });
});

describe('the nearest word', () => {
  const known = [
    'rpcport',
    'rpcuser',
    'rpcpassword',
    'port',
    'par',
    'getblock',
    'getblockhash',
    'getblockchaininfo',
  ];
  it.each([
    ['rpcprot', 'rpcport'],
    ['rpcpasswrd', 'rpcpassword'],
    ['RPCPORT', 'rpcport'],
    ['prot', 'port'],
    ['getblok', 'getblock'],
    ['getblockchain', 'getblockchaininfo'],
    ['getb', 'getblock'],
    ['gtblockhsh', 'getblockhash'],
    ['x', null],
    ['foo', null],
    ['pab', 'par'],
    ['entirelyother', null],
    ['', null],
  ])('of %j', (word, near) => expect(nearestWord(word, known)).toBe(near));

  it('becomes a sentence', () => {
    expect(suggestion('prot', known, (near) => `-${near}`)).toBe(' Did you mean -port?');
    expect(suggestion('foo', known)).toBe('');
  });
});
