import { describe, expect, it } from 'vitest';
import { HOLE, JsonFrame } from '../../../../src/util/json/jsonFrame.js';
import { hexOf, jsonArray, rawJson } from '../../../../src/util/json/jsonWrite.js';

describe('JsonFrame', () => {
  it('writes the values of its holes between the rest of the text', () => {
    const frame = JsonFrame.of(
      { a: HOLE, b: 'x\u0000y', c: [HOLE], d: undefined, e: hexOf(Buffer.from([1])) },
      1000,
    )!;
    expect(frame.fill(-1, '"t"').text).toBe('{"a":-1,"b":"x\\u0000y","c":["t"],"e":"01"}');
    expect(frame.fill('null', 2).text).toBe('{"a":null,"b":"x\\u0000y","c":[2],"e":"01"}');
    expect(frame.chars).toBe(frame.fill('', '').text.length);
  });

  it('has the whole text if there is no hole', () => {
    const frame = JsonFrame.of(rawJson('[1]'), 3)!;
    expect(frame.fill().text).toBe('[1]');
    expect(frame.chars).toBe(3);
  });

  it('is null for a text that is too long, and for lazy parts', () => {
    expect(JsonFrame.of('abc', 4)).toBeNull();
    expect(JsonFrame.of({ a: jsonArray([1]), b: HOLE }, 1000)).toBeNull();
  });
});
