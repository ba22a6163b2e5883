import { describe, expect, it } from 'vitest';
import {
  coins,
  formatCoins,
  formatDouble,
  JsonNumber,
  JsonObject,
  numberText,
  parseFixedPoint,
  rawNumber,
  toPlain,
  type JsonValue,
} from '../../../../src/util/json/json.js';
import {
  decodeUtf8,
  JsonParseError,
  JsonScanner,
  MAX_JSON_DEPTH,
  MAX_JSON_VALUES,
  parseJson,
} from '../../../../src/util/json/jsonParse.js';
import { CHUNK_CHARS, jsonChunks, startJson, stringifyJson } from '../../../../src/util/json/jsonStream.js';
import {
  hexOf,
  jsonArray,
  jsonObject,
  rawJson,
  smallJson,
  type JsonOut,
} from '../../../../src/util/json/jsonWrite.js';

async function collect(chunks: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

describe('amounts', () => {
  it('prints satoshis as coins with eight decimals at any size', () => {
    expect(formatCoins(0n)).toBe('0.00000000');
    expect(formatCoins(1n)).toBe('0.00000001');
    expect(formatCoins(-1n)).toBe('-0.00000001');
    expect(formatCoins(-123456789n)).toBe('-1.23456789');
    expect(formatCoins(108320200012345678n)).toBe('1083202000.12345678');
    expect(stringifyJson({ amount: coins(40000000000000001n) })).toBe('{"amount":400000000.00000001}');
  });

  // Expectations of the reference's util_tests.cpp, test_ParseFixedPoint.
  it.each<[string, bigint | null]>([
    ['0', 0n],
    ['1', 100000000n],
    ['0.0', 0n],
    ['-0.1', -10000000n],
    ['1.1', 110000000n],
    ['1.10000000000000000', 110000000n],
    ['1.1e1', 1100000000n],
    ['1.1e-1', 11000000n],
    ['1000', 100000000000n],
    ['-1000', -100000000000n],
    ['0.00000001', 1n],
    ['0.0000000100000000', 1n],
    ['-0.00000001', -1n],
    ['1000000000.00000001', 100000000000000001n],
    ['9999999999.99999999', 999999999999999999n],
    ['-9999999999.99999999', -999999999999999999n],
    ['', null],
    ['-', null],
    ['a-1000', null],
    ['-a1000', null],
    ['-1000a', null],
    ['-01000', null],
    ['00.1', null],
    ['.1', null],
    ['--0.1', null],
    ['0.000000001', null],
    ['-0.000000001', null],
    ['0.00000001000000001', null],
    ['-10000000000.00000000', null],
    ['10000000000.00000000', null],
    ['-10000000000.00000001', null],
    ['10000000000.00000001', null],
    ['-10000000000.00000009', null],
    ['-99999999999.99999999', null],
    ['99999909999.09999999', null],
    ['92233720368.54775807', null],
    ['-92233720368.54775808', null],
    ['1.1e', null],
    ['1.1e-', null],
    ['1.', null],
    ['1e99999999999999999999', null],
    ['1e-9', null],
    ['0e17', null],
    ['0e9', 0n],
  ])('reads %j as %s', (text, expected) => {
    expect(parseFixedPoint(text, 8)).toBe(expected);
  });
});

describe('amounts of any length', () => {
  const ZEROS = '0'.repeat(4 << 20);

  // A quadratic parser would take hours for these texts.
  it.each<[string, string, bigint | null]>([
    ['zeros behind the point', `1.${ZEROS}`, 100000000n],
    ['zeros and a digit', `1.${ZEROS}1`, null],
    ['zeros in front of the digit', `0.${ZEROS}`, 0n],
    ['zeros before the point', `1${ZEROS}`, null],
    ['zeros and no number', `1.${ZEROS}x`, null],
    ['zeros and a second point', `1.${ZEROS}.0`, null],
    ['a zero too many', `-${ZEROS}`, null],
    ['zeros of a negative fraction', `-0.${ZEROS}25e${ZEROS.length}`, -25_000_000n],
    ['zeros around the point', `10${ZEROS}.${ZEROS}e-${ZEROS.length + 1}`, 100000000n],
    ['as many zeros as are passed over at once', `1.${'0'.repeat(8192)}`, 100000000n],
    ['zeros taken back by the exponent', `1${'0'.repeat(1000)}e-1000`, 100000000n],
    ['digits', ZEROS.replaceAll('0', '9'), null],
    ['digits behind the point', `0.${ZEROS.replaceAll('0', '9')}`, null],
    ['zeros and digits by turns', '10'.repeat(1 << 20), null],
    ['zeros of the exponent', `1e${ZEROS}1`, 1000000000n],
    ['a large exponent', `0e1${ZEROS}`, null],
  ])('reads %s', (_, text, expected) => {
    expect(parseFixedPoint(text, 8)).toBe(expected);
  });

  it('agrees with the definition on random texts', () => {
    let seed = 99;
    const below = (n: number): number => (seed = (seed * 48271) % 0x7fffffff) % n;
    const digits = (n: number): string => Array.from({ length: n }, () => '0001259'[below(7)]).join('');
    for (let i = 0; i < 20_000; i++) {
      const whole = below(3) === 0 ? '0' : `${1 + below(9)}${digits(below(14))}`;
      const fraction = below(3) === 0 ? '' : `.${digits(1 + below(10))}`;
      const exponent = below(3) === 0 ? `e${['', '+', '-'][below(3)]!}${digits(1 + below(2))}` : '';
      const text = `${below(2) === 0 ? '-' : ''}${whole}${fraction}${exponent}`;
      expect([text, parseFixedPoint(text, 8)]).toEqual([text, fixedPointByDefinition(text)]);
    }
  });

  /** The algorithm of the reference, digit by digit. Source: `ParseFixedPoint`. */
  function fixedPointByDefinition(text: string): bigint | null {
    const [, sign, whole = '', fraction = '', power = '0'] =
      /^(-?)([0-9]+)(?:\.([0-9]+))?(?:e([+-]?[0-9]+))?$/.exec(text) ?? [];
    let mantissa = 0n;
    let zeros = 0;
    const bound = 10n ** 18n - 1n;
    for (const digit of (whole === '0' ? '' : whole) + fraction) {
      if (digit === '0') {
        zeros++;
        continue;
      }
      for (; zeros >= 0; zeros--) {
        if (mantissa > bound / 10n) return null;
        mantissa *= 10n;
      }
      mantissa += BigInt(digit);
      zeros = 0;
    }
    const exponent = Number(power) - fraction.length + zeros + 8;
    if (exponent < 0 || exponent >= 18) return null;
    const value = mantissa * 10n ** BigInt(exponent);
    if (value > bound) return null;
    return sign === '-' ? -value : value;
  }
});

describe('numbers', () => {
  it.each<[number, string]>([
    [0, '0'],
    [-0, '-0'],
    [1, '1'],
    [-7, '-7'],
    [4.656542373906925e-10, '4.656542373906925e-10'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [0.000123456789012345678, '0.0001234567890123457'],
    [0.1, '0.1'],
    [1 / 3, '0.3333333333333333'],
    [2 / 3, '0.6666666666666666'],
    [100.5, '100.5'],
    [1e15, '1000000000000000'],
    [1e16, '1e+16'],
    [123456789012345680, '1.234567890123457e+17'],
    [1.5e300, '1.5e+300'],
    [9007199254740991, '9007199254740991'],
    [9999999999999998.5, '9999999999999998'],
    [1234567.125, '1234567.125'],
    [0.1 + 0.2, '0.3'],
  ])('prints %d as %s', (value, expected) => {
    expect(formatDouble(value)).toBe(expected);
  });

  it('refuses values that JSON cannot represent', () => {
    expect(() => formatDouble(NaN)).toThrow('finite');
    expect(() => stringifyJson(Infinity)).toThrow('finite');
  });

  it('keeps the text of every number', () => {
    for (const text of [
      '1',
      '-1',
      '1.10',
      '1e3',
      '1E+3',
      '-0',
      '12345678901234567890',
      '0.10000000000000000001',
      '1e-8',
      '0.30000000000000004',
      '1e400',
    ]) {
      const value = parseJson(text);
      expect(typeof value === 'number' || value instanceof JsonNumber).toBe(true);
      expect(numberText(value as number | JsonNumber)).toBe(text);
      expect(stringifyJson(value)).toBe(text);
    }
    expect(stringifyJson([rawNumber('1.50')])).toBe('[1.50]');
  });
});

describe('parsing', () => {
  it('reads every kind of value', () => {
    const value = parseJson(
      ' {"a" : [1, -2.5, "x\\n\\u00e9\\ud83d\\ude00\\/", true, false, null, {}, []], "b":"" }\r\n\t',
    );
    expect(toPlain(value)).toEqual({ a: [1, -2.5, 'x\né😀/', true, false, null, {}, []], b: '' });
  });

  it('keeps order and duplicates of an object, and finds the first', () => {
    const value = parseJson('{"b":1,"a":2,"b":3}');
    expect(value).toBeInstanceOf(JsonObject);
    const object = value as JsonObject;
    expect(object.keys()).toEqual(['b', 'a', 'b']);
    expect(object.get('b')).toBe(1);
    expect(object.get('c')).toBeUndefined();
    expect(stringifyJson(object)).toBe('{"b":1,"a":2,"b":3}');
  });

  it.each([
    '',
    ' ',
    '{',
    '}',
    '[',
    ']',
    '[1,]',
    '[,1]',
    '[1 2]',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{a:1}',
    '{1:1}',
    '01',
    '-',
    '-a',
    '+1',
    '1.',
    '.5',
    '1e',
    '1e+',
    '0x10',
    'nul',
    'True',
    'NaN',
    '"',
    '"\\x"',
    '"\\u12g4"',
    '"\\u12',
    '"\t"',
    '"\u0000"',
    '"\\ud800"',
    '"\\ud800x"',
    '"\\udc00"',
    '"\\udc00\\ud800"',
    '1 1',
    '{} {}',
    '[1}',
    '{"a":1]',
    '\ufeff{}',
    "'a'",
    '// c',
  ])('refuses %j', (text) => {
    expect(() => parseJson(text)).toThrow(JsonParseError);
  });

  it('has the depth limit of the reference', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    const deepest = MAX_JSON_DEPTH + 1; // The innermost array is empty, so it is never open.
    for (const text of [nested(600), nested(deepest), `${'{"a":['.repeat(5000)}1${']}'.repeat(5000)}`]) {
      expect(stringifyJson(parseJson(text))).toBe(text);
      const scanner = new JsonScanner(text);
      scanner.skipValue();
      expect(scanner.atEnd()).toBe(true);
    }
    for (const text of [
      nested(deepest + 1),
      '['.repeat(5_000_000),
      '{"a":'.repeat(1_000_000),
      `${'['.repeat(1000)}${']'.repeat(999)}}`,
    ]) {
      expect(() => parseJson(text)).toThrow(JsonParseError);
      expect(() => new JsonScanner(text).skipValue()).toThrow(JsonParseError);
    }
  });

  it('limits the number of values', () => {
    expect(() => parseJson(`[${'1,'.repeat(MAX_JSON_VALUES)}1]`)).toThrow(JsonParseError);
  });

  it('accepts the extensions of Python only on request', () => {
    const words = '[NaN, Infinity, -Infinity, {"a": NaN}]';
    const read = parseJson(words, MAX_JSON_VALUES, 'python') as JsonValue[];
    expect(read.slice(0, 3).map((one) => numberText(one as JsonNumber))).toEqual([
      'NaN',
      'Infinity',
      '-Infinity',
    ]);
    expect(parseJson('"\\ud83d"', MAX_JSON_VALUES, 'python')).toBe('\ud83d');
    expect(parseJson('"\\ud83d"', MAX_JSON_VALUES, 'mended')).toBe('\ufffd');
    for (const text of [words, '"\\ud83d"']) expect(() => parseJson(text)).toThrow(JsonParseError);
    for (const text of ['Nan', '-NaN', '+Infinity', 'Infinity1', 'NaN.0', '-'])
      expect(() => parseJson(text, MAX_JSON_VALUES, 'python'), text).toThrow(JsonParseError);
  });

  it('refuses bytes that are not UTF-8', () => {
    expect(decodeUtf8(Buffer.from('{"a":"é"}'))).toBe('{"a":"é"}');
    expect(decodeUtf8(Buffer.from([0x22, 0xff, 0x22]))).toBeNull();
    expect(decodeUtf8(Buffer.from([0x22, 0xc3, 0x22]))).toBeNull();
    expect(decodeUtf8(Buffer.from([0xef, 0xbb, 0xbf, 0x31]))).toBe('\ufeff1');
  });

  it('agrees with JSON.parse on random texts', () => {
    let seed = 12345;
    const next = (below: number): number => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % below;
    const alphabet = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '1',
      '-',
      '.5',
      'e2',
      'true',
      'null',
      ' ',
      '"a"',
      '\\n',
      '\\u0041',
      '0',
    ];
    let accepted = 0;
    for (let round = 0; round < 30_000; round++) {
      const text = Array.from({ length: 1 + next(7) }, () => alphabet[next(alphabet.length)]).join('');
      let expected: unknown;
      let ok = true;
      try {
        expected = JSON.parse(text);
      } catch {
        ok = false;
      }
      if (ok) {
        accepted++;
        expect(toPlain(parseJson(text))).toEqual(expected);
      } else {
        expect(() => parseJson(text), text).toThrow(JsonParseError);
      }
    }
    expect(accepted).toBeGreaterThan(500);
  });
});

describe('writing', () => {
  it('escapes as the reference does', () => {
    expect(stringifyJson('a"b\\c/\b\f\n\r\t\u0001\u001f\u007fé😀')).toBe(
      '"a\\"b\\\\c/\\b\\f\\n\\r\\t\\u0001\\u001f\\u007fé😀"',
    );
  });

  it('keeps key order, omits undefined, accepts maps, bigints and raw text', () => {
    const map = new Map([['z', 1n << 80n]]);
    expect(
      stringifyJson({
        b: 1,
        a: undefined,
        c: map,
        d: rawJson('[1,  2]'),
        e: hexOf(Buffer.from('0aff', 'hex')),
      }),
    ).toBe('{"b":1,"c":{"z":1208925819614629174706176},"d":[1,  2],"e":"0aff"}');
  });

  it('prints indented as the reference, empty containers over two lines', () => {
    expect(stringifyJson({ a: [1, { b: [] }], c: {} }, 2)).toBe(
      '{\n  "a": [\n    1,\n    {\n      "b": [\n      ]\n    }\n  ],\n  "c": {\n  }\n}',
    );
  });

  it('has the same result in one pass as in parts', () => {
    const lazy = (value: JsonOut): JsonOut => {
      if (Array.isArray(value)) return jsonArray((value as JsonOut[]).map(lazy));
      if (value === null || typeof value !== 'object' || value instanceof JsonNumber) return value;
      if (Object.getPrototypeOf(value) !== Object.prototype) return value;
      const members = Object.entries(value as Record<string, JsonOut | undefined>);
      return jsonObject(members.flatMap(([key, inner]) => (inner === undefined ? [] : [[key, lazy(inner)]])));
    };
    let state = 7;
    const pick = (end: number): number => (state = (state * 48271) % 0x7fffffff) % end;
    const leaves: (() => JsonOut | undefined)[] = [
      () => undefined,
      () => null,
      () => pick(2) === 0,
      () => pick(1e9) / 7,
      () => BigInt(pick(1e9)) ** 4n,
      () => coins(BigInt(pick(1e9))),
      () => hexOf(Buffer.alloc(pick(40), 0xc3)),
      () => String.fromCharCode(...Array.from({ length: pick(6) }, () => pick(0x2fff))),
    ];
    const make = (depth: number): JsonOut | undefined => {
      if (depth === 0 || pick(3) === 0) return leaves[pick(leaves.length)]!();
      const inner = Array.from({ length: pick(5) }, () => make(depth - 1));
      if (pick(2) === 0) return inner.map((value) => value ?? null);
      return Object.fromEntries(inner.map((value, i) => [['key', 'a"b', 'é', '7', `x${i}`][i]!, value]));
    };
    for (let i = 0; i < 500; i++) {
      const value = make(5) ?? null;
      const text = smallJson(value);
      expect(text).not.toBeNull();
      expect([stringifyJson(value), stringifyJson(lazy(value))]).toEqual([text, text]);
    }
  });

  it('writes large or lazy parts in chunks', () => {
    const list = (length: number): number[] => Array.from({ length }, (_, i) => i);
    expect(smallJson(list(1000))).toBe(JSON.stringify(list(1000)));
    for (const value of [
      list(20_000),
      'x'.repeat(CHUNK_CHARS + 1),
      hexOf(Buffer.alloc(CHUNK_CHARS)),
      { list: jsonArray([1]) },
      [new Map([['a', 1]])],
    ])
      expect(smallJson(value)).toBeNull();
    expect(() => stringifyJson([undefined] as unknown as JsonOut)).toThrow('is not JSON');
  });

  it('streams lazy parts in chunks, and reads no further than requested', async () => {
    let made = 0;
    const items = async function* (): AsyncGenerator<string> {
      for (; made < 1000; made++) {
        await Promise.resolve();
        yield 'x'.repeat(1000);
      }
    };
    const chunks = jsonChunks({ list: jsonArray(items()), n: 1 });
    const first = await chunks.next();
    expect(first.value?.length).toBeGreaterThanOrEqual(CHUNK_CHARS);
    expect(made).toBeLessThan(70);
    const rest = await collect(chunks);
    expect(made).toBe(1000);
    const parsed = JSON.parse((first.value ?? '') + rest.join('')) as { list: string[]; n: number };
    expect(parsed.list.length).toBe(1000);
    expect(parsed.n).toBe(1);
  });

  it('streams hex without building the whole string', async () => {
    const bytes = Buffer.alloc(1_000_001, 0xab);
    const chunks = await collect(jsonChunks([hexOf(bytes), hexOf(Buffer.alloc(0))]));
    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThan(2 * CHUNK_CHARS + 10);
    expect(chunks.join('')).toBe(`["${bytes.toString('hex')}",""]`);
  });

  it('streams objects and releases the source when the reader stops', async () => {
    let released = false;
    const members = function* (): Generator<[string, number]> {
      try {
        for (let i = 0; ; i++) yield [`key${i}`, i];
      } finally {
        released = true;
      }
    };
    const chunks = jsonChunks(jsonObject(members()));
    expect((await chunks.next()).value).toMatch(/^\{"key0":0,"key1":1,/);
    await chunks.return(undefined);
    expect(released).toBe(true);
  });

  it('passes on the failure of a source', async () => {
    const failing = async function* (): AsyncGenerator<number> {
      yield 1;
      await Promise.resolve();
      throw new Error('disk');
    };
    await expect(collect(jsonChunks(jsonArray(failing())))).rejects.toThrow('disk');
    expect(() => stringifyJson(jsonArray(failing()))).toThrow('cannot be written at once');
  });
});

describe('starting to write', () => {
  /** The whole text, and the length of the part that was written synchronously. */
  async function started(value: JsonOut, maxChars: number): Promise<{ text: string; atOnce: number }> {
    const { text, rest } = await startJson(value, maxChars);
    const further = rest === null ? [] : await collect(rest);
    return { text: text + further.join(''), atOnce: text.length };
  }

  it('returns short synchronous answers at once and complete', () => {
    expect(startJson({ a: [1, 'b', hexOf(Buffer.of(1))], c: 2n }, 10)).toEqual({
      text: '{"a":[1,"b","01"],"c":2}',
      rest: null,
    });
    expect(startJson(jsonArray([1, 2, 3]), 10)).toEqual({ text: '[1,2,3]', rest: null });
  });

  it('returns bytes as pieces to callers that accept them, and as text to others', async () => {
    const list = `["${'\u00e9'.repeat(70_000)}"]`;
    const value = { a: '\u00e9', b: rawJson(Buffer.from(list)), c: [rawJson(Buffer.from('1'))] };
    const whole = `{"a":"\u00e9","b":${list},"c":[1]}`;
    const start = await startJson(value, 1 << 20, true);
    expect(start.rest).toBeNull();
    expect(start.pieces?.map(String).join('')).toBe(whole);
    expect(start.pieces?.[1]).toBe(value.b.pieces?.[0]);
    expect((await started(value, 1 << 20)).text).toBe(whole);
    expect(stringifyJson(value)).toBe(whole);
    expect(smallJson({ d: rawJson(Buffer.from('[2]')) })).toBe('{"d":[2]}');
    expect(smallJson(value)).toBeNull();
    expect(await startJson({ a: 1 }, 100, true)).toEqual({ text: '{"a":1}', rest: null });
  });

  it.each([
    ['few hex digits are text', 100, 1],
    ['many hex digits are a piece', 20_000, 3],
    ['more hex digits than a buffer holds are not', 600_000, null],
  ])('%s', async (_, length, pieces) => {
    const bytes = Buffer.alloc(length, 0x5a);
    const start = await startJson({ a: hexOf(bytes), b: 1 }, 1 << 20, true);
    let text = start.text + (start.pieces ?? []).map(String).join('');
    if (start.rest !== null) for await (const chunk of start.rest) text += chunk;
    expect(text).toBe(`{"a":"${bytes.toString('hex')}","b":1}`);
    if (pieces === null) expect(start.rest).not.toBeNull();
    else expect(start.pieces?.length ?? 1).toBe(pieces);
  });

  it('limits the sum of the hex digits that are pieces', async () => {
    const hex = hexOf(Buffer.alloc(1 << 17));
    const [most, more] = [Array<JsonOut>(4).fill(hex), Array<JsonOut>(5).fill(hex)];
    const start = await startJson(most, 1 << 20, true);
    expect(start.pieces?.filter((piece) => piece === hex)).toHaveLength(4);
    const { text, pieces, rest } = await startJson(more, 1 << 20, true);
    expect(pieces).toBeUndefined();
    expect(text.length).toBeLessThan(5 << 18);
    expect(text + (await collect(rest!)).join('')).toBe(stringifyJson(more));
  });

  it('writes a value in pieces of text and bytes', async () => {
    const bytes = Buffer.from('"\u00e9"');
    const value = [1, rawJson(['{"a":', bytes, ',"b":[', bytes, ']}'])];
    const whole = '[1,{"a":"\u00e9","b":["\u00e9"]}]';
    const start = await startJson(value, 1 << 20, true);
    expect(start.pieces).toEqual(['[1,{"a":', bytes, ',"b":[', bytes, ']}]']);
    expect(stringifyJson(value)).toBe(whole);
    expect(smallJson(value, 20)).toBeNull();
    expect((await started(rawJson(['[', '1]']), 10)).text).toBe('[1]');
    expect(rawJson('1').pieces).toBeNull();
  });

  it('reads no more of a large value than it can write at once', () => {
    let read = 0;
    const counted = (length: number, item: JsonOut): JsonOut =>
      new Proxy(Array<JsonOut>(length).fill(item), {
        get(target, key, receiver): unknown {
          if (typeof key === 'string' && /^\d+$/.test(key)) read++;
          return Reflect.get(target, key, receiver);
        },
      });
    for (const item of [0, null, true, 1n, 'x', {}, []] as JsonOut[]) {
      read = 0;
      expect(smallJson(counted(1_000_000, item))).toBeNull();
      expect(read).toBeLessThanOrEqual(CHUNK_CHARS);
    }
    for (const long of [
      'x'.repeat(CHUNK_CHARS + 1),
      rawJson(`"${'x'.repeat(CHUNK_CHARS)}"`),
      hexOf(Buffer.alloc(CHUNK_CHARS)),
    ])
      expect(smallJson(long)).toBeNull();
    expect(smallJson({ ['x'.repeat(CHUNK_CHARS + 1)]: 1 })).toBeNull();
  });

  it('continues where it stopped, for any value', async () => {
    async function* later(): AsyncGenerator<string> {
      for (let i = 0; i < 500; i++) {
        await Promise.resolve();
        yield 'y'.repeat(1000);
      }
    }
    const parts = (): JsonOut => ({
      plain: Array.from({ length: 3000 }, (_, i) => `text ${i}`),
      hex: hexOf(Buffer.alloc(200_000, 7)),
      lazy: jsonArray(Array.from({ length: 300 }, () => 'x'.repeat(1000))),
      later: jsonArray(later()),
      end: null,
    });
    const whole = (await collect(jsonChunks(parts()))).join('');
    for (const maxChars of [1, 100_000, 500_000, 700_000, 10_000_000]) {
      const { text, atOnce } = await started(parts(), maxChars);
      expect(text === whole, `${maxChars}`).toBe(true);
      expect(atOnce).toBeLessThanOrEqual(maxChars + 2 * CHUNK_CHARS);
    }
  });

  it('fails when the value does, and releases its sources', async () => {
    let released = 0;
    function* failing(after: number): Generator<string> {
      try {
        for (let i = 0; i < after; i++) yield 'x'.repeat(100);
        throw new Error('source broke');
      } finally {
        released++;
      }
    }
    async function* failingLater(after: number): AsyncGenerator<string> {
      await Promise.resolve();
      yield* failing(after);
    }
    const outer = function* (inner: JsonOut): Generator<JsonOut> {
      try {
        yield inner;
      } finally {
        released++;
      }
    };
    expect(() => startJson(jsonArray(outer(jsonArray(failing(1)))), 1000)).toThrow('source broke');
    await Promise.resolve();
    expect(released).toBe(2);
    await expect(startJson(jsonArray(outer(jsonArray(failingLater(1)))), 1000)).rejects.toThrow(
      'source broke',
    );
    expect(released).toBe(4);
    const { rest } = await startJson(jsonArray(outer(jsonArray(failingLater(5000)))), 1000);
    await expect(collect(rest!)).rejects.toThrow('source broke');
    expect(released).toBe(6);
  });
});
