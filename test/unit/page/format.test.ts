import { describe, expect, it } from 'vitest';
import { agoText, durationText } from '../../../src/page/age.js';
import {
  amountText,
  blocksText,
  countText,
  prefixedText,
  sizeText,
  timeText,
} from '../../../src/page/format.js';
import { addressLink, nameLink, txLink, withQuery } from '../../../src/page/links.js';

describe('figures', () => {
  it.each([
    [amountText(0), '0.00'],
    [amountText(1234567.5), '1,234,567.50'],
    [amountText(0.00000001), '0.00000001'],
    [amountText(-2), '−2.00'],
    [amountText('400000000.12345671'), '400,000,000.12345671'],
    [amountText('-1083202000.00000100'), '−1,083,202,000.000001'],
    [sizeText(999), '999 B'],
    [sizeText(1_234_567), '1.23 MB'],
    [prefixedText(3.21e12, 'H/s'), '3.21 TH/s'],
    [prefixedText(0, 'H/s'), '0 H/s'],
    [prefixedText(3.05e-5), '3.05e-5'],
    [durationText(1), '1 second'],
    [durationText(3 * 86_400), '3 days'],
    [agoText(100, 100), 'just now'],
    [agoText(40, 100), '1 minute ago'],
    [agoText(160, 100), 'just now'],
    [agoText(100 + 3 * 3600, 100), 'in 3 hours'],
    [timeText(0), '1970-01-01 00:00:00 UTC'],
    [timeText(Infinity), 'Infinity'],
    [blocksText(216, 150), '≈ 9 hours'],
    [countText(1, 'claim'), '1 claim'],
    [countText(2000, 'claim'), '2,000 claims'],
  ])('%s', (shown, expected) => {
    expect(shown).toBe(expected);
  });
});

describe('addresses of pages', () => {
  it.each([
    [nameLink('a/b?c#d'), '/name/a%2Fb%3Fc%23d'],
    [nameLink('..'), '/name-hex/2e2e'],
    [nameLink('x', 'ff00'), '/name-hex/ff00'],
    [nameLink('\ud800'), '/name/%EF%BF%BD'],
    [txLink('ab', 3), '/tx/ab#out-3'],
    [addressLink('"><script>'), '/address/%22%3E%3Cscript%3E'],
    [withQuery('/names', { prefix: 'a&b', after: undefined, count: 3 }), '/names?prefix=a%26b&count=3'],
    [withQuery('/names', {}), '/names'],
  ])('%s', (made, expected) => {
    expect(made).toBe(expected);
  });
});
