import { describe, expect, it } from 'vitest';
import { nameBytes, nameText, nameTextWithReplacements } from '../../../../src/rpc/format/claimsText.js';
import { quoteJson } from '../../../../src/util/json/jsonWrite.js';

describe('nameText', () => {
  it('returns valid UTF-8 unchanged, including control characters', () => {
    const name = 'aß\u{1f600}\u0000\n"\\\u007f';
    expect(nameText(nameBytes(name))).toBe(name);
  });

  it('escapes all bytes that are not printable ASCII if the name is not valid UTF-8', () => {
    const bytes = Buffer.from([
      0x07, 0x08, 0x09, 0x0a, 0x0c, 0x0d, 0x0e, 0x1f, 0x20, 0x22, 0x5c, 0x61, 0x7e, 0x7f, 0xff,
    ]);
    expect(nameText(bytes)).toBe('\\u0007\\b\\t\\n\\f\\r\\u000e\\u001f \\"\\\\a~\\u007f\\u00ff');
  });

  it('does not escape a vertical tab, like the reference', () => {
    expect(nameText(Buffer.from([0x0b, 0x80]))).toBe('\u000b\\u0080');
  });

  it('also escapes the valid letters of an invalid name; JSON escapes the backslashes again', () => {
    const text = nameText(Buffer.from([0xc3, 0x9f, 0xc3]));
    expect(text).toBe('\\u00c3\\u009f\\u00c3');
    expect(quoteJson(text)).toBe('"\\\\u00c3\\\\u009f\\\\u00c3"');
  });

  it.each([
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['an overlong form', [0xc0, 0x80]],
    ['a code point above the last', [0xf4, 0x90, 0x80, 0x80]],
    ['a sequence cut short', [0xe2, 0x82]],
  ])('escapes %s', (_what, bytes) => {
    expect(nameText(Buffer.from(bytes))).toBe(
      bytes.map((byte) => `\\u${byte.toString(16).padStart(4, '0')}`).join(''),
    );
  });
});

describe('nameTextWithReplacements', () => {
  it('replaces each invalid byte and keeps the letters between', () => {
    const bytes = Buffer.from([0x61, 0xff, 0xc3, 0x9f, 0xe2, 0x82, 0x62, 0xed, 0xa0, 0x80]);
    expect(nameTextWithReplacements(bytes)).toBe('a\ufffdß\ufffd\ufffdb\ufffd\ufffd\ufffd');
  });

  it('returns valid names unchanged', () => {
    expect(nameTextWithReplacements(Buffer.from('aß\u{1f600}'))).toBe('aß\u{1f600}');
  });
});
