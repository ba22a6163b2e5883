import { describe, expect, it } from 'vitest';
import { decodeDestination } from '../../../src/script/address.js';
import { decodeBase58, decodeBase58Check, encodeBase58Check } from '../../../src/script/base58.js';
import { addressPrefixesOf } from '../../../src/script/address.js';
import { regtestParams } from '../../../src/params/regtest.js';

const prefixes = addressPrefixesOf(regtestParams);
const ADDRESS = 'mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8';
const MEGABYTE = 1 << 20;

describe('base58 of callers', () => {
  it('may have any amount of white space around them, and none within', () => {
    const payload = decodeBase58Check(ADDRESS)!;
    expect(payload).toHaveLength(21);
    const space = ' \t\n\v\f\r'.repeat(MEGABYTE / 8);
    for (const text of [
      ` ${ADDRESS}`,
      `${ADDRESS}\n`,
      `${space}${ADDRESS}${space}`,
      `${ADDRESS} \0 x`,
      `${ADDRESS}\0`,
    ]) {
      expect(decodeBase58Check(text)).toEqual(payload);
    }
    for (const text of [
      `${ADDRESS} x`,
      `${ADDRESS.slice(0, 9)} ${ADDRESS.slice(9)}`,
      `${ADDRESS}${space}1`,
      space,
      '',
    ]) {
      expect(decodeBase58Check(text)).toBeNull();
    }
  });

  it('are decoded up to the maximum number of digits', () => {
    const longest = encodeBase58Check(Buffer.alloc(740, 0xff));
    expect(longest.length).toBeLessThanOrEqual(1024);
    expect(decodeBase58Check(longest)).toEqual(Buffer.alloc(740, 0xff));
    // Decoding takes quadratic time. If these were decoded, the test would not end.
    for (const digit of ['1', 'z']) expect(decodeBase58Check(digit.repeat(8 * MEGABYTE))).toBeNull();
    expect(decodeBase58('z'.repeat(11), 10)).toBeNull();
    expect(decodeBase58(` ${'1'.repeat(10)} `, 10)).toEqual(Buffer.alloc(10));
  });

  it('in bech32 have a maximum length', () => {
    expect(decodeDestination(`lbrt1${'q'.repeat(MEGABYTE)}`, prefixes)).toBeNull();
  });
});
