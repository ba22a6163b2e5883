import { expect, test } from 'vitest';
import { lbryLink, proofLink } from '../../../src/page/links.js';
import { meaningOf, TERMS } from '../../../src/page/terms.js';

test.each([
  ['lbry://@chan#1/song', '/lbry/%40chan%231/song'],
  ['LBRY://one', '/lbry/one'],
  ['lbry://a?b=c', '/lbry/a%3Fb%3Dc'],
  ['lbry://', null],
  ['lbry:////evil.example', null],
  ['lbry://a/../../console', null],
  ['https://lbry.example', null],
  ['javascript:lbry://x', null],
])('the LBRY URL %s leads to %s', (url, path) => {
  expect(lbryLink(url)).toBe(path);
});

test('proofs of names that a browser would change in a URL are linked by their bytes', () => {
  expect([proofLink('a b', false), proofLink('..', false), proofLink('ff', true)]).toEqual([
    '/proof/a%20b',
    '/proof-hex/2e2e',
    '/proof-hex/ff',
  ]);
});

test('labels of pages have the meaning of their term', () => {
  expect(meaningOf('Effective amount')).toBe(TERMS.get('Effective'));
  expect(meaningOf('Own')).toBe(TERMS.get('Own'));
  expect(meaningOf('Licence')).toBeUndefined();
});
