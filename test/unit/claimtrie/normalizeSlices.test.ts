import { describe, expect, it } from 'vitest';
import { normalizeName } from '../../../src/claimtrie/normalize.js';
import { normalizeNameInSlices } from '../../../src/claimtrie/normalizeSlices.js';
import { countPauses } from '../../support/slices.js';

/**
 * Letters, marks of several classes, characters that decompose or fold to several characters, Hangul, and characters above
 * U+FFFF.
 */
const ALPHABET = [
  ...'aZ\u00c9\u00df\u0130\u0390\u1fb7\ufb03\u212a\u2126\uac01\u{1d160}\u{1f600}',
  '\u0315',
  '\u0300',
  '\u05ae',
  '\u0345',
  '\u0323',
];

describe('names in slices', () => {
  it('are normalized like whole ones, wherever they are split', () => {
    let seed = 3;
    const below = (n: number): number => (seed = (seed * 48271) % 0x7fffffff) % n;
    for (let round = 0; round < 600; round++) {
      // Every third text has long runs of marks.
      const letters = round % 3 === 0 ? ALPHABET.slice(-5) : ALPHABET;
      const text = Array.from({ length: 1 + below(80) }, () =>
        below(9) === 0 ? 'x' : letters[below(letters.length)]!,
      ).join('');
      const name = Buffer.from(text);
      const bad = round % 10 === 0 ? Buffer.concat([name, Buffer.of(0xff, 0x41)]) : name;
      for (const pieceBytes of [4, 7, 16]) {
        const { value } = countPauses(normalizeNameInSlices(bad, pieceBytes));
        expect(Buffer.from(value).toString('hex')).toBe(Buffer.from(normalizeName(bad)).toString('hex'));
      }
    }
  });

  it('yield by their length, also in runs of marks without a letter', () => {
    for (const text of [
      'A'.repeat(200_000),
      '\u00c9'.repeat(100_000),
      `a${'\u0315\u0300\u05ae'.repeat(30_000)}b`,
    ]) {
      const name = Buffer.from(text);
      const { value, pauses } = countPauses(normalizeNameInSlices(name, 1024));
      expect(Buffer.from(value).equals(Buffer.from(normalizeName(name)))).toBe(true);
      expect(pauses).toBeGreaterThanOrEqual(name.length / 1024 - 1);
    }
  });
});
