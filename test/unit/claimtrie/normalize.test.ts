import { isUtf8 } from 'node:buffer';
import { readFileSync, existsSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decomposeCodePoints, foldCodePoints, normalizeName } from '../../../src/claimtrie/normalize.js';
import { CodePointTable, TABLE_END, unicodeTables } from '../../../src/claimtrie/unicode/tables.js';
import { decodeUtf8, encodeUtf8 } from '../../../src/claimtrie/unicode/utf8.js';

const SHARED = new URL('../../../../shared/conformance/unicode/', import.meta.url);
const hasShared = existsSync(SHARED);
if (!hasShared) console.log('skipped: the Unicode conformance files are not here');

function readShared(name: string): string[] {
  return gunzipSync(readFileSync(new URL(name, SHARED)))
    .toString('utf8')
    .split('\n');
}

const codes = (text: string): number[] =>
  text
    .trim()
    .split(/\s+/)
    .map((code) => Number.parseInt(code, 16));
const normalizeHex = (hex: string): string =>
  Buffer.from(normalizeName(Buffer.from(hex, 'hex'))).toString('hex');
const normalizeText = (text: string): string =>
  Buffer.from(normalizeName(Buffer.from(text, 'utf8'))).toString('utf8');

describe('normalizeName', () => {
  it('lower-cases ASCII and does not change other ASCII characters', () => {
    expect(normalizeText('TESt')).toBe('test');
    expect(normalizeText('tesT 23')).toBe('tesT 23'.toLowerCase());
    expect(normalizeText('@[`{Z}')).toBe('@[`{z}');
    expect(normalizeText('a\0B')).toBe('a\0b');
    expect(normalizeText('')).toBe('');
  });

  it('returns the same array if nothing changes, and never writes to its input', () => {
    const plain = Buffer.from('already-plain');
    expect(normalizeName(plain)).toBe(plain);
    const upper = Buffer.from('Upper');
    normalizeName(upper);
    expect(upper.toString()).toBe('Upper');
  });

  it.each([
    ['Ohm sign', 'e284a6', 'cf89'],
    ['Cyrillic', 'd0a4', 'd184'],
    ['Armenian', 'd4b2', 'd5a2'],
    ['Kana with a mark', 'e381b6', 'e381b5e38299'],
    ['Hangul with a trailing consonant', 'eabd91', 'e18481e185aae186b0'],
    ['Hangul without one', 'eab080', 'e18480e185a1'],
    ['last Hangul syllable', 'ed9ea3', 'e18492e185b5e18782'],
    ['sharp s folds to two', 'c39f', '7373'],
    ['capital sharp s', 'e1ba9e', '7373'],
    ['dotted I decomposes first', 'c4b0', '69cc87'],
    ['ligature folds to three', 'efac83', '666669'],
    ['replacement character is a character', '43efbfbd', '63efbfbd'],
    ['noncharacter', 'efbfbf41', 'efbfbf61'],
    ['supplementary CJK compatibility ideograph', 'f0afa080', 'e4b8bd'],
    ['byte order mark stays', 'efbbbf41', 'efbbbf61'],
    ['embedded NUL', '4100c384', '610061cc88'],
    ['Cherokee small letter folds to the capital', 'eaadb0', 'e18ea0'],
    ['Georgian capital of Unicode 11', 'e1b290', 'e18390'],
  ])('%s', (_name, from, to) => {
    expect(normalizeHex(from)).toBe(to);
  });

  it.each([
    ['a lone continuation byte', '4180'],
    ['a lead byte without its continuation', 'c328'],
    ['a byte no UTF-8 has', '41ff'],
    ['cut short after two of three', '41e284'],
    ['cut short after three of four', 'f09f98'],
    ['overlong, two bytes', '41c0af'],
    ['overlong, c1', '41c1bf'],
    ['overlong, three bytes', '41e080af'],
    ['overlong, four bytes', '41f08080af'],
    ['high surrogate', '41eda080'],
    ['low surrogate', '41edbfbf'],
    ['surrogate pair in UTF-8 (CESU)', 'eda0bdedb880'],
    ['above U+10FFFF', '41f4908080'],
    ['lead byte f5', '41f5808080'],
    ['five bytes', '41f888808080'],
  ])('does not change invalid UTF-8: %s', (_name, hex) => {
    expect(normalizeHex(hex)).toBe(hex);
  });

  it.each([
    ['U+D7FF', 'ed9fbf'],
    ['U+E000', 'ee8080'],
    ['U+10FFFF', 'f48fbfbf'],
    ['U+0800', 'e0a080'],
    ['U+10000', 'f0908080'],
  ])('accepts the limits of UTF-8: %s', (_name, hex) => {
    expect(normalizeHex(`41${hex}`)).toBe(`61${hex}`);
  });

  it('does not change characters that Unicode 11 does not have', () => {
    // U+11938 (Unicode 13) decomposes, U+1E08F (15) and U+10EFD (15) combine, U+A7C0 (14) and U+2C2F (14) fold, in later versions.
    for (const code of [0x11938, 0xa7c0, 0x2c2f, 0x10570, 0x16121]) {
      const text = String.fromCodePoint(code);
      expect(normalizeText(text)).toBe(text);
    }
    // The tables do not contain a mark of Unicode 15, so it counts as a starter, and marks are not moved over it.
    const text = `a\u0301${String.fromCodePoint(0x10efd)}\u0327`;
    expect(normalizeText(text)).toBe(text);
  });

  it('orders combining marks, stably', () => {
    expect(normalizeText('a\u0301\u0327')).toBe('a\u0327\u0301');
    expect(normalizeText('a\u0301\u0300\u0323\u0327')).toBe('a\u0327\u0323\u0301\u0300');
    expect(normalizeText('\u0301\u0327')).toBe('\u0327\u0301');
    expect(normalizeText('q\u0307\u0323x\u0301\u0327')).toBe('q\u0323\u0307x\u0327\u0301');
    // A mark that results from a decomposition is ordered with the following marks.
    expect(normalizeText('\u00e9\u0323')).toBe('e\u0323\u0301');
  });

  it('agrees with the runtime for a name of main (block 1,085,612) whose marks are all in Unicode 11', () => {
    const name = Buffer.from(
      '6eccb7cd9dcc92cd90cc86cc80cc80cd91cd9dcd8acd80cd92cc94cc85cc8fccbdcda0ccbdcd80cda0cd84cc94cc8ccc9acd84cc94cd9b' +
        'cda0cca7cc99ccaccd99cca9cca7',
      'hex',
    ).toString('utf8');
    expect(normalizeText(name)).toBe(name.normalize('NFD'));
    expect(name.normalize('NFD')).not.toBe(name);
  });

  it('orders marks before folding, and not again', () => {
    expect(normalizeText('\u0345\u0301')).toBe('\u0301\u03b9');
    expect(normalizeText('\u0391\u0345\u0301')).toBe('\u03b1\u0301\u03b9');
    expect(normalizeText('\u0345\u0327a')).toBe('\u0327\u03b9a');
    // Marks are ordered before case folding turns them into letters.
    expect(normalizeText('\u0345\u0323\u0345')).toBe('\u0323\u03b9\u03b9');
  });

  it('handles a long run of marks in linear time', () => {
    const marks = '\u0301\u0327'.repeat(100_000);
    // An insertion sort would take minutes and exceed the time limit of the test.
    expect(normalizeText(`a${marks}`)).toBe(`a${'\u0327'.repeat(100_000)}${'\u0301'.repeat(100_000)}`);
  });
});

describe('UTF-8', () => {
  it('round-trips every code point', () => {
    const all: number[] = [];
    for (let code = 0; code < 0x110000; code++) if (code < 0xd800 || code > 0xdfff) all.push(code);
    const out: number[] = [];
    expect(decodeUtf8(encodeUtf8(all), out)).toBe(true);
    expect(out).toEqual(all);
  });

  it('agrees with a strict decoder on all strings of two bytes and on sampled ones of four', () => {
    const edges = [0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1];
    edges.push(0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf8, 0xff);
    for (let a = 0; a < 256; a++) {
      for (let b = 0; b < 256; b++) {
        const bytes = Uint8Array.of(a, b);
        if (decodeUtf8(bytes, []) !== isUtf8(bytes)) expect.fail(`${a} ${b}`);
      }
    }
    for (const a of edges) {
      for (const b of edges) {
        for (const c of edges) {
          for (const d of edges) {
            const bytes = Uint8Array.of(a, b, c, d);
            if (decodeUtf8(bytes, []) !== isUtf8(bytes)) expect.fail(`${a} ${b} ${c} ${d}`);
          }
        }
      }
    }
  });
});

describe('Unicode 11 tables', () => {
  it('have the known sizes', () => {
    const codes = Array.from({ length: 0x110000 }, (_, code) => code);
    const count = (table: CodePointTable): number => codes.filter((code) => table.get(code) !== 0).length;
    expect(count(unicodeTables.decomposition)).toBe(2060);
    expect(count(unicodeTables.folding)).toBe(1480);
    expect(count(unicodeTables.combiningClass)).toBe(849);
  });

  it('have the value of each code point', () => {
    const all = Uint16Array.from({ length: TABLE_END }, (_, code) => (code % 1009 === 0 ? code % 65_536 : 0));
    const table = new CodePointTable(all);
    for (let code = 0; code < TABLE_END; code++)
      if (table.get(code) !== all[code]) expect.fail(`${code}: ${table.get(code)}`);
    expect([TABLE_END, 0x10ffff].map((code) => table.get(code))).toEqual([0, 0]);
  });

  it.skipIf(!hasShared)(
    'pass every line of NormalizationTest 11, and leave every character outside it alone',
    () => {
      let lines = 0;
      let part = '';
      const listed = new Set<number>();
      for (const line of readShared('NormalizationTest-11.txt.gz')) {
        if (line.startsWith('@')) part = line.slice(0, 6);
        if (line === '' || line.startsWith('#') || line.startsWith('@')) continue;
        const [c1, c2, c3, c4, c5] = line.split(';').slice(0, 5).map(codes);
        // The standard's conditions on NFD.
        expect(decomposeCodePoints(c1!)).toEqual(c3);
        expect(decomposeCodePoints(c2!)).toEqual(c3);
        expect(decomposeCodePoints(c3!)).toEqual(c3);
        expect(decomposeCodePoints(c4!)).toEqual(c5);
        expect(decomposeCodePoints(c5!)).toEqual(c5);
        if (part === '@Part1') listed.add(c1![0]!);
        lines++;
      }
      expect(lines).toBe(18_792);
      for (let code = 0; code < 0x110000; code++) {
        if (listed.has(code)) continue;
        const out = decomposeCodePoints([code]);
        if (out.length !== 1 || out[0] !== code) expect.fail(`U+${code.toString(16)}`);
      }
    },
  );

  it.skipIf(!hasShared)('fold exactly as CaseFolding 11 specifies', () => {
    const foldings = new Map<number, number[]>();
    for (const line of readShared('CaseFolding-11.txt.gz')) {
      const match = /^([0-9A-F]+); ([CF]); ([0-9A-F ]+);/.exec(line);
      if (match) foldings.set(Number.parseInt(match[1]!, 16), codes(match[3]!));
    }
    expect(foldings.size).toBe(1480);
    for (let code = 0; code < 0x110000; code++) {
      const wanted = foldings.get(code) ?? [code];
      const got = foldCodePoints([code]);
      if (got.join() !== wanted.join()) expect.fail(`U+${code.toString(16)}`);
    }
  });
});
