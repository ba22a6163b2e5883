/**
 * Amounts of LBC as texts in the format of the API of LBRY's daemon. Source: lbry-sdk lbry/wallet/util.py, dewies.py.
 */
import { MetadataError } from './metadataError.js';

const PLACES = 8;
/**
 * Pattern of an amount. As in the reference, decimal digits of any Unicode script are accepted, and a line break at the end
 * is ignored.
 */
const PATTERN = /^(\p{Nd}{1,10})\.(\p{Nd}{1,8})\n?$/u;

/** Value of a decimal digit of any script. Unicode has these digits in runs of ten that start with zero. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0)!;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return code - zero;
}

/**
 * Formats an amount with at least one decimal place and without trailing zeros. QUIRK: the reference divides with doubles,
 * so the last place may be rounded for amounts above 2^53.
 */
export function formatLbc(amountSat: bigint): string {
  const negative = amountSat < 0n;
  const digits = (negative ? -amountSat : amountSat).toString().padStart(PLACES + 1, '0');
  const exact = `${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`;
  const text = Number(exact).toFixed(PLACES).replace(/0+$/, '');
  return (negative ? '-' : '') + (text.endsWith('.') ? `${text}0` : text);
}

/** An amount in dewies. Throws `MetadataError` unless the text is digits, a point and one to eight digits. */
export function parseLbc(text: string): bigint {
  const match = PATTERN.exec(text);
  if (match === null)
    throw new MetadataError(
      `'${text}' is not a valid amount: 1 to 10 digits, a point and 1 to 8 digits are required`,
    );
  const [, whole, fraction] = match;
  const digits = Array.from(`${whole}${fraction}`, digitValue).join('');
  return BigInt(digits) * 10n ** BigInt(PLACES - Array.from(fraction!).length);
}
