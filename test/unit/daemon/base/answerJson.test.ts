/** Answers as JSON text equal those of Python for the same value, for any representation of the value. */
import { describe, expect, it, vi } from 'vitest';
import { answerPieces, fixed, float } from '../../../../src/daemon/base/answerJson.js';
import { pythonRepr } from '../../../../src/daemon/base/pythonText.js';
import { JsonObject, rawNumber } from '../../../../src/util/json/json.js';
import { parseJson } from '../../../../src/util/json/jsonParse.js';
import { hexOf, jsonArray, jsonObject, rawJson, type JsonOut } from '../../../../src/util/json/jsonWrite.js';

const ANSWER: JsonOut = {
  z: [1, 2.5, 10n ** 20n, float(3), null, true],
  a: { '\u{10000}': 1, '\uffff': 2, b: undefined },
  empty: [{}, []],
  text: 'é"\n',
  hex: hexOf(Buffer.from('00ff', 'hex')),
  map: new Map([['k', 'v']]),
  raw: rawJson('{"y":1.50,"x":[]}'),
  object: new JsonObject([
    ['k', 1],
    ['k', rawNumber('2e0')],
  ]),
};

const TEXT = `{
  "a": {
    "\\uffff": 2,
    "\\ud800\\udc00": 1
  },
  "empty": [
    {},
    []
  ],
  "hex": "00ff",
  "map": {
    "k": "v"
  },
  "object": {
    "k": 2.0
  },
  "raw": {
    "x": [],
    "y": 1.5
  },
  "text": "\\u00e9\\"\\n",
  "z": [
    1,
    2.5,
    100000000000000000000,
    3.0,
    null,
    true
  ]
}
`;

const answerText = async (value: JsonOut): Promise<string> => (await answerPieces(value)).join('');

describe('an answer', () => {
  it('is written with sorted keys, in ASCII, with an indent of two spaces', async () => {
    expect(await answerText(ANSWER)).toBe(TEXT);
  });

  it('yields if it is long, with the same result', async () => {
    let nowMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 10));
    const pieces = answerPieces(ANSWER);
    expect(pieces).toBeInstanceOf(Promise);
    expect((await pieces).join('')).toBe(TEXT);
    vi.restoreAllMocks();
  });

  it('is in several pieces if it is long', async () => {
    const items = Array.from({ length: 2000 }, (_, n) => ({ n, text: 'x'.repeat(50) }));
    const pieces = await answerPieces({ items });
    expect(JSON.parse(pieces.join(''))).toEqual({ items });
    expect(pieces.length).toBeGreaterThan(10);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(100_000);
    const later = await answerPieces({ items: jsonArray(items), more: items });
    expect(JSON.parse(later.join(''))).toEqual({ items, more: items });
    expect(later.length).toBeGreaterThan(20);
  });

  it('reuses the text of constant values at any depth', async () => {
    const kept = fixed({ b: [1, { c: 2 }], a: 'x' });
    const shown = async (value: JsonOut): Promise<string> => answerText({ result: value, deep: [{ value }] });
    const plain = await shown({ b: [1, { c: 2 }], a: 'x' });
    expect(await shown(kept)).toBe(plain);
    expect(await shown(kept)).toBe(plain);
  });

  it('can be written one item at a time', async () => {
    async function* items(): AsyncGenerator<number> {
      yield 1;
      yield 2;
    }
    const answer = { list: jsonArray(items()), members: jsonObject([['b', 1] as const, ['a', 2] as const]) };
    expect(await answerText(answer)).toBe(await answerText({ list: [1, 2], members: { a: 2, b: 1 } }));
  });

  it('sorts the keys of each object, whatever objects were written before', async () => {
    const keys = ['z', 'b', 'a', '\u{10000}', '\uffff', 'é'];
    const shuffled = (n: number): string[] => [...keys.slice(n), ...keys.slice(0, n)];
    for (let n = 0; n < keys.length; n++) {
      const whole = Object.fromEntries(shuffled(n).map((key) => [key, n]));
      const lines = ['a', 'b', 'z', '\\u00e9', '\\uffff', '\\ud800\\udc00'].map((key) => `  "${key}": ${n}`);
      expect(await answerText(whole)).toBe(`{\n${lines.join(',\n')}\n}\n`);
      expect(await answerText({ ...whole, z: undefined })).toBe(
        `{\n${lines.filter((_, at) => at !== 2).join(',\n')}\n}\n`,
      );
    }
    // More sequences of keys than are cached.
    for (let n = 0; n < 10_000; n++)
      expect(await answerText({ [`url${n}`]: 1, a: n })).toBe(`{\n  "a": ${n},\n  "url${n}": 1\n}\n`);
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`k${999 - n}`, n]));
    expect(Object.keys(JSON.parse(await answerText(many)) as object)).toEqual(Object.keys(many).sort());
  });
});

describe('quoted values', () => {
  it('equal those of Python', () => {
    const shown = (text: string): string => pythonRepr(parseJson(text));
    expect(shown('[null, true, 1.0, "it\'s", "a\\"b\'", "\\n\\u0001é\\u2028", {"k": []}]')).toBe(
      `[None, True, 1.0, "it's", 'a"b\\'', '\\n\\x01é\\u2028', {'k': []}]`,
    );
  });
});
