import { describe, expect, it } from 'vitest';
import {
  compareToInteger,
  decimalOfDouble,
  formatQuotient,
  parseDecimal,
  roundUp,
  scaleToInteger,
} from '../../../src/metadata/decimal.js';
import { MetadataError } from '../../../src/metadata/metadataError.js';

const parsed = (text: string) => parseDecimal(text)!;

describe('decimals', () => {
  it.each(['', '.', 'e5', '1e', '0x1', '1_000', '1 2', 'NaN', 'Infinity', '--1', '1.2.3', '1'.repeat(1001)])(
    'refuses %j',
    (text) => {
      expect(parseDecimal(text)).toBeNull();
    },
  );

  it.each([
    ['1', 8, 100_000_000n],
    [' 1.5\n', 8, 150_000_000n],
    ['.5', 1, 5n],
    ['5.', 0, 5n],
    ['-0.000000019', 8, -1n],
    ['+1e3', 2, 100_000n],
    ['1E-999999999', 8, 0n],
    ['0e999999999', 8, 0n],
    // The 28th digit is rounded to the even one before the rest is dropped.
    ['0.99999999999999999999999999995', 0, 1n],
    ['1.0000000000000000000000000005', 27, 1_000_000_000_000_000_000_000_000_000n],
  ])('parses %j as a number times ten to the power of %i', (text, power, integer) => {
    expect(scaleToInteger(parsed(text), power)).toBe(integer);
  });

  it.each(['1e30', '1e999999999'])('refuses %s as an integer', (text) => {
    expect(() => scaleToInteger(parsed(text), 8)).toThrow(MetadataError);
    expect(() => roundUp(parsed(text), 2)).toThrow(MetadataError);
  });

  it('converts a double exactly', () => {
    expect(scaleToInteger(decimalOfDouble(0.29)!, 8)).toBe(28_999_999n);
    expect(scaleToInteger(decimalOfDouble(0.1)!, 8)).toBe(10_000_000n);
    expect(scaleToInteger(decimalOfDouble(-2.5)!, 1)).toBe(-25n);
    expect(scaleToInteger(decimalOfDouble(2 ** 60)!, 0)).toBe(2n ** 60n);
    expect(scaleToInteger(decimalOfDouble(5e-324)!, 8)).toBe(0n);
    expect(decimalOfDouble(NaN)).toBeNull();
    expect(decimalOfDouble(-Infinity)).toBeNull();
  });

  it.each([
    ['12.345', 1235n],
    ['12.34', 1234n],
    ['0.001', 1n],
    ['-0.001', -1n],
    ['1e-999999999', 1n],
    ['0', 0n],
    ['1e3', 100_000n],
  ])('rounds %s up to cents', (text, cents) => {
    expect(scaleToInteger(roundUp(parsed(text), 2), 2)).toBe(cents);
  });

  it.each([
    ['90', 90, 0],
    ['90.0', 90, 0],
    ['90.0000001', 90, 1],
    ['-90.0000001', -90, -1],
    ['0', 90, -1],
    ['1e999999999', 180, 1],
    ['-1e999999999', -180, -1],
    ['1e-999999999', 180, -1],
    ['1e-999999999', -180, 1],
    ['1e2', 90, 1],
  ])('compares %s with %i', (text, integer, sign) => {
    expect(Math.sign(compareToInteger(parsed(text), integer))).toBe(sign);
  });

  it.each([
    [1n, 8, 0, '1E-8'],
    [10n, 8, 0, '1E-7'],
    [100n, 8, 0, '0.000001'],
    [150_000_000n, 8, 0, '1.5'],
    [10_000_000_000n, 8, 0, '100'],
    [-714_609_890n, 7, 0, '-71.460989'],
    [1000n, 2, 1, '1E+1'],
    [1050n, 2, 1, '10.5'],
    [100_000n, 2, 1, '1.00E+3'],
    [100n, 2, 1, '1'],
    [18_446_744_073_709_551_615n, 8, 0, '184467440737.09551615'],
  ])('writes %i by ten to %i', (integer, places, idealExponent, text) => {
    expect(formatQuotient(integer, places, idealExponent)).toBe(text);
  });
});
