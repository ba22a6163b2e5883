/** Numbers as clients write them, as plain decimals. Pure. */

const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;
/** Longer ones are none. Arbitrary: doubles have 309 digits at most in front of the point. */
const MAX_LENGTH = 1000;
/** Digits before the point, and behind it. No column of the index has half as many. */
const MAX_DIGITS = 40;

/**
 * A number as a decimal without exponent; null for what is none. What has more than 40 digits before the point becomes the
 * least such number; of what has more behind it a last `1` says that there are others: so both compare with all that the
 * index holds as the number itself would.
 */
export function readDecimal(text: string): string | null {
  const match = text.length > MAX_LENGTH ? null : NUMBER.exec(text);
  if (match === null) return null;
  const [, sign, whole = '', part = '', exponent = '0'] = match;
  if (whole === '' && part === '') return null;
  const digits = (whole + part).replace(/^0+/, '');
  if (digits === '') return '0';
  // How many of the digits stand before the point.
  const point = digits.length - part.length + Number(exponent);
  const minus = sign === '-' ? '-' : '';
  if (point > MAX_DIGITS) return `${minus}1${'0'.repeat(MAX_DIGITS)}`;
  const zeros = '0'.repeat(Math.min(MAX_DIGITS, Math.max(0, -point)));
  const before = digits.slice(0, Math.max(0, point)).padEnd(point, '0');
  const behind = `${zeros}${digits.slice(Math.max(0, point))}`.replace(/0+$/, '');
  const kept = behind.length > MAX_DIGITS ? `${behind.slice(0, MAX_DIGITS)}1` : behind;
  return `${minus}${before === '' ? '0' : before}${kept === '' ? '' : `.${kept}`}`;
}
