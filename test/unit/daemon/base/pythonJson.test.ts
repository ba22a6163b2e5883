import { describe, expect, it } from 'vitest';
import {
  compareCodePoints,
  pythonFloat,
  pythonNumber,
  writePythonJson,
} from '../../../../src/daemon/base/pythonJson.js';
import { parseJson } from '../../../../src/util/json/jsonParse.js';

describe('JSON as Python writes it', () => {
  it.each([
    [0, '0.0'],
    [-0, '-0.0'],
    [1, '1.0'],
    [0.1, '0.1'],
    [1.5, '1.5'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [123456789012345.6, '123456789012345.6'],
    [1e15, '1000000000000000.0'],
    [1e16, '1e+16'],
    [1.7976931348623157e308, '1.7976931348623157e+308'],
    [5e-324, '5e-324'],
    [-2.5e-7, '-2.5e-07'],
    [Infinity, 'Infinity'],
  ])('writes the float %d as %s', (value, text) => {
    expect(pythonFloat(value)).toBe(text);
  });

  it('distinguishes integers from floats by their literals', () => {
    expect(['1', '1.0', '1e2', '-0', '-0.0', '18446744073709551616'].map(pythonNumber)).toEqual([
      '1',
      '1.0',
      '100.0',
      '0',
      '-0.0',
      '18446744073709551616',
    ]);
  });

  it('keeps the order or sorts by code points, and uses the last of repeated keys', () => {
    const value = parseJson(
      '{"\\ud83d\\ude00": 1, "\\uff5e": [], "a": {}, "a": {"x": [1, "\\u007f\\n\\u00e9"]}}',
    );
    expect(writePythonJson(value)).toBe(
      '{"\\ud83d\\ude00": 1, "\\uff5e": [], "a": {"x": [1, "\\u007f\\n\\u00e9"]}}',
    );
    expect(writePythonJson(value, { indent: 2, sortKeys: true })).toBe(
      '{\n  "a": {\n    "x": [\n      1,\n      "\\u007f\\n\\u00e9"\n    ]\n  },\n  "\\uff5e": [],\n  "\\ud83d\\ude00": 1\n}',
    );
    expect(compareCodePoints('ab', 'a')).toBeGreaterThan(0);
  });
});
