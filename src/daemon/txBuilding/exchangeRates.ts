/**
 * Converts amounts of other currencies to LBC by fixed rates from the settings. The rate of USD may also come from the price
 * feed of an exchange. Source of the semantics: lbry-sdk lbry/extras/daemon/exchange_rate_manager.py `convert_currency`.
 */
import { parseDecimal, type Decimal } from '../../metadata/decimal.js';
import { badValue, DaemonError } from '../base/daemonError.js';
import type { ExchangePort } from './ports.js';
import type { RateFeed } from './rateFeed.js';

/** Number of decimal places of LBC amounts. */
const PLACES = 8;
/** Maximum number of digits of amounts and rates, which limits the computing time. Arbitrary. */
const MAX_DIGITS = 60;
const RATE = /^([A-Za-z]{1,10})=(.+)$/;

/** Converts an amount of LBC to dewies, rounded half to even. */
function dewiesOf({ digits, exponent }: Decimal): bigint {
  const shift = exponent + PLACES;
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const unit = 10n ** BigInt(-shift);
  const whole = digits / unit;
  const twice = (digits % unit) * 2n;
  return twice > unit || (twice === unit && whole % 2n === 1n) ? whole + 1n : whole;
}

function decimalIn(text: string): Decimal | null {
  const decimal = parseDecimal(text);
  if (decimal === null || decimal.digits < 0n || Math.abs(decimal.exponent) > MAX_DIGITS) return null;
  return text.length > MAX_DIGITS ? null : decimal;
}

/**
 * Creates a converter from rates such as `USD=38.5`, in LBC per unit of the currency. If `rates` has none for USD, the price
 * of the feed is used, if a feed is given. Throws `ValueError` for a malformed rate.
 */
export function exchangeBy(rates: readonly string[], feed?: Pick<RateFeed, 'lbcPerUsd'>): ExchangePort {
  const lbcFor = new Map<string, Decimal>([['LBC', { digits: 1n, exponent: 0 }]]);
  for (const rate of rates) {
    const [, currency = '', text = ''] = RATE.exec(rate) ?? [];
    const decimal = decimalIn(text);
    if (decimal === null || decimal.digits === 0n)
      throw badValue(`Invalid exchange rate '${rate}': use a form like USD=38.5.`);
    lbcFor.set(currency.toUpperCase(), decimal);
  }
  return {
    toDewies(currency, amount) {
      const name = currency.toUpperCase();
      const rate = lbcFor.get(name) ?? (name === 'USD' ? feed?.lbcPerUsd() : null) ?? undefined;
      const decimal = decimalIn(amount);
      if (rate === undefined || decimal === null)
        throw new DaemonError(
          'CurrencyConversionError',
          `Unable to convert ${amount} from ${currency} to LBC`,
        );
      return dewiesOf({ digits: decimal.digits * rate.digits, exponent: decimal.exponent + rate.exponent });
    },
  };
}
