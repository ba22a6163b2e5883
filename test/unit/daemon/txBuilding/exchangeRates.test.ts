import { describe, expect, it } from 'vitest';
import { exchangeBy } from '../../../../src/daemon/txBuilding/exchangeRates.js';

describe('fixed rates of exchange', () => {
  it('convert to the nearest dewie', () => {
    const { toDewies } = exchangeBy(['USD=38.5', 'btc=2500000.0']);
    expect(toDewies('USD', '1.01')).toBe(3_888_500_000n);
    expect(toDewies('USD', '1E+1')).toBe(38_500_000_000n);
    expect(toDewies('BTC', '0.00000001')).toBe(2_500_000n);
    expect(toDewies('LBC', '0.00000001')).toBe(1n);
    expect(exchangeBy(['USD=0.000000015']).toDewies('USD', '1')).toBe(2n);
    expect(exchangeBy(['USD=0.000000025']).toDewies('USD', '1')).toBe(2n);
  });

  it('are missing if none is set', () => {
    const error = { name: 'CurrencyConversionError', message: 'Unable to convert 1.0 from USD to LBC' };
    expect(() => exchangeBy([]).toDewies('USD', '1.0')).toThrow(expect.objectContaining(error));
    expect(() => exchangeBy([]).toDewies('LBC', 'much')).toThrow('Unable to convert much');
  });

  it('are refused if invalid', () => {
    for (const rate of ['USD', 'USD=', 'USD=x', 'USD=0', 'USD=-1', '=1', 'USD=1e999999'])
      expect(() => exchangeBy([rate]), rate).toThrow('use a form like USD=38.5.');
  });
});
