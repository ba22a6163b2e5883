/** Reading JSON in slices: the same values and refusals as at once, with a pause for every bounded piece of work. */
import { describe, expect, it } from 'vitest';
import { JsonNumber, toPlain, type JsonValue } from '../../../src/util/json/json.js';
import {
  decodeUtf8,
  decodeUtf8InSlices,
  JsonParseError,
  JsonScanner,
  parseJson,
} from '../../../src/util/json/jsonParse.js';
import { jsonChunks, stringifyJson } from '../../../src/util/json/jsonStream.js';
import { quoteJson } from '../../../src/util/json/jsonWrite.js';
import { AT_ONCE_SIZE, type Slices } from '../../../src/util/slices.js';
import { countPauses } from '../../support/slices.js';

function* whole(text: string): Slices<JsonValue> {
  const scanner = new JsonScanner(text);
  yield* scanner.skipSpaceInSlices();
  const value = yield* scanner.readValueInSlices();
  yield* scanner.skipSpaceInSlices();
  return scanner.atEnd() ? value : scanner.fail();
}

function* skipped(text: string): Slices<boolean> {
  const scanner = new JsonScanner(text);
  yield* scanner.skipValueInSlices();
  yield* scanner.skipSpaceInSlices();
  return scanner.atEnd();
}

const LONG = AT_ONCE_SIZE * 3 + 17;
const long = (text: string): string => text.repeat(Math.ceil(LONG / text.length));

/** Long texts, with the minimum number of yields for each. */
const LONG_TEXTS: readonly (readonly [string, string, number])[] = [
  ['a string', `"${long('a')}"`, 3],
  ['a string of accents', `"${long('\u00e9')}"`, 3],
  ['a string of escapes', `"${long('\\n')}"`, 3],
  ['a string of escaped code points', `"${long('\\u00e9')}"`, 3],
  ['a string of escaped pairs', `"${long('\\ud83d\\ude00')}"`, 3],
  ['a string of pairs', `"${long('\u{1f600}')}"`, 3],
  ['an escape behind a long text', `["${long('a')}\\t${long('b')}"]`, 6],
  ['digits', long('7'), 3],
  ['a negative number', `-${long('7')}`, 3],
  ['a fraction', `[0.${long('0')}1]`, 3],
  ['an exponent', `{"a":1e-${long('0')}1}`, 3],
  ['white space', `${long(' ')}[${long('\n')}1${long('\t')},${long('\r')}2${long(' ')}]${long(' ')}`, 18],
  ['white space around keys', `{${long(' ')}"a"${long(' ')}:${long(' ')}1${long(' ')}}`, 12],
  ['a long key', `{"${long('k')}":1,"${long('\\u0041')}":2}`, 6],
  ['many numbers', `[${Array.from({ length: 10_000 }, (_, n) => n)}]`, 70],
  ['many members', `{${Array.from({ length: 10_000 }, (_, n) => `"k${n}":[]`)}}`, 110],
  ['many levels', '['.repeat(10_000) + ']'.repeat(10_000), 70],
  ['many levels of objects', '{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000), 110],
];

describe('unpaired surrogates', () => {
  const half = '"a\\ud83d b\\ude00\\ud83d\\ude00"';
  const read = (text: string, halves?: 'mended') => new JsonScanner(text, 10, halves);

  it('are refused, or read as U+FFFD on request', () => {
    expect(() => read(half).readValue()).toThrow(JsonParseError);
    expect(read(half, 'mended').readValue()).toBe('a\ufffd b\ufffd\u{1f600}');
    expect(toPlain(read(`{${half}:[${half}]}`, 'mended').readValue())).toEqual({
      'a\ufffd b\ufffd\u{1f600}': ['a\ufffd b\ufffd\u{1f600}'],
    });
    expect(read('"a\ud83d"', 'mended').readValue()).toBe('a\ud83d');
  });

  it('are found in long strings too, whose pairs are not split', () => {
    const text = `"${long('\\ud83d\\ude00')}\\ud83d"`;
    expect(() => countPauses(read(text).readValueInSlices())).toThrow(JsonParseError);
    const { value } = countPauses(read(text, 'mended').readValueInSlices());
    expect(value === `${long('\\ud83d\\ude00').replaceAll('\\ud83d\\ude00', '\u{1f600}')}\ufffd`).toBe(true);
  });
});

describe('JSON in slices', () => {
  it.each(LONG_TEXTS)('reads %s', (_, text, least) => {
    const { value, pauses } = countPauses(whole(text));
    expect(stringifyJson(value) === stringifyJson(parseJson(text))).toBe(true);
    expect(pauses).toBeGreaterThanOrEqual(least);
    const passed = countPauses(skipped(text.trimStart()));
    expect(passed.value).toBe(true);
    expect(passed.pauses).toBeGreaterThanOrEqual(Math.min(least, 3));
  });

  it.each([
    ['a string without an end', `"${long('a')}`],
    ['escapes without an end', `"${long('\\n')}`],
    ['a quote within an escape', `"${long('\\n')}\\u00"e9"`],
    ['a bad escape far inside', `"${long('\\n')}\\x${long('a')}"`],
    ['a bare control character', `"${long('a')}\n"`],
    ['half of a pair', `"${long('\\n')}\\ud83d"`],
    ['digits behind a zero', `0${long('7')}`],
    ['a point without digits', `${long('7')}.`],
    ['an exponent without digits', `${long('7')}e`],
    ['a second point', `0.${long('7')}.1`],
    ['a sign alone', `-${long(' ')}1`],
    ['levels without an end', '['.repeat(100_000)],
    ['levels that end wrongly', '['.repeat(1000) + '}'.repeat(1000)],
    ['a key without a value', `{"${long('a')}"}`],
    ['a comma at the end', `[1,${long(' ')}]`],
    ['something behind the value', `[]${long(' ')}1`],
  ])('refuses %s', (_, text) => {
    expect(() => parseJson(text)).toThrow(JsonParseError);
    expect(() => countPauses(whole(text))).toThrow(JsonParseError);
  });

  it('agrees with parsing without slices on texts that were truncated and changed at random', () => {
    let seed = 7;
    const below = (n: number): number => (seed = (seed * 48271) % 0x7fffffff) % n;
    const base = `{"a":[1,-2.5e3,"x\\u00e9\\ud83d\\ude00\\n",true,false,null,{"b":{},"c":[]}],"a":" ","d":12345678901234567890}`;
    const alphabet = '{}[]",:\\u0e1-. tn';
    const outcome = (read: () => JsonValue): string => {
      try {
        return stringifyJson(read());
      } catch (error) {
        expect(error).toBeInstanceOf(JsonParseError);
        return 'refused';
      }
    };
    for (let i = 0; i < 3000; i++) {
      const at = below(base.length);
      const text = base.slice(0, at) + alphabet[below(alphabet.length)]! + base.slice(at + below(3));
      expect(outcome(() => countPauses(whole(text)).value)).toBe(outcome(() => parseJson(text)));
    }
  });

  it('keeps the text of every number and converts no long one to a double', () => {
    for (const text of [
      '0',
      '-0',
      '123456789012345',
      '1234567890123456',
      '-123456789012345',
      '0.1',
      '1e22',
      '0.10',
    ]) {
      const value = parseJson(text);
      expect(stringifyJson(value)).toBe(text);
      expect(toPlain(value)).toBe(Number(text));
    }
    expect(parseJson('9'.repeat(24))).toBeInstanceOf(JsonNumber);
  });

  it('limits the number of values equally', () => {
    const text = `[${'0,'.repeat(9)}0]`;
    const read = (max: number): JsonValue =>
      countPauses(new JsonScanner(text, max).readValueInSlices()).value;
    expect(read(11)).toHaveLength(10);
    expect(() => read(10)).toThrow(JsonParseError);
    expect(() => parseJson(text, 10)).toThrow(JsonParseError);
  });

  it('decodes bytes equally, also characters across two pieces', () => {
    const text = 'x' + '\u00e9\u20ac\u{1f600}'.repeat(400_000);
    const bytes = Buffer.from(text);
    const { value, pauses } = countPauses(decodeUtf8InSlices(bytes));
    expect(value === text).toBe(true);
    expect(pauses).toBeGreaterThanOrEqual(3);
    for (const bad of [bytes.subarray(0, -1), Buffer.concat([bytes, Buffer.of(0xff)])]) {
      expect(decodeUtf8(bad)).toBeNull();
      expect(countPauses(decodeUtf8InSlices(bad)).value).toBeNull();
    }
  });
});

describe('writing long texts', () => {
  it.each([
    ['plain', long('a')],
    ['with escapes', long('"\n\\\u007f')],
    ['with pairs at odd places', `a${long('\u{1f600}')}`],
    ['with halves of pairs', long('\ud83d')],
  ])('writes a string %s in chunks with an equal result', async (_, text) => {
    const chunks: string[] = [];
    for await (const chunk of jsonChunks({ [text]: [text, new JsonNumber(long('1'))] })) chunks.push(chunk);
    const quoted = quoteJson(text);
    expect(chunks.join('') === `{${quoted}:[${quoted},${long('1')}]}`).toBe(true);
    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThan(AT_ONCE_SIZE * 8);
    expect(chunks.length).toBeGreaterThanOrEqual(9);
  });
});
