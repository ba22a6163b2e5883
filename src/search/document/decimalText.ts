/** Converts numbers from clients to decimals without exponent. */

const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;
/** Maximum length of a number in characters. Arbitrary: even the largest double has only 309 digits before the point. */
const MAX_LENGTH = 1000;
/** Maximum number of digits before and after the decimal point. Numbers in the index have less than half as many. */
const MAX_DIGITS = 40;

/**
 * Converts a number to a decimal without exponent; null if it is invalid. A number with more than 40 digits before the point
 * becomes the smallest number with so many digits. More than 40 digits after the point are replaced by a final `1`. In both
 * cases, comparisons with indexed values have the same result as with the original number.
 */
export function readDecimal(text: string): string | null {
  const match = text.length > MAX_LENGTH ? null : NUMBER.exec(text);
  if (match === null) return null;
  const [, sign, whole = '', part = '', exponent = '0'] = match;
  if (whole === '' && part === '') return null;
  const digits = (whole + part).replace(/^0+/, '');
  if (digits === '') return '0';
  // `point` is the number of digits before the decimal point.
  const point = digits.length - part.length + Number(exponent);
  const minus = sign === '-' ? '-' : '';
  if (point > MAX_DIGITS) return `${minus}1${'0'.repeat(MAX_DIGITS)}`;
  const zeros = '0'.repeat(Math.min(MAX_DIGITS, Math.max(0, -point)));
  const before = digits.slice(0, Math.max(0, point)).padEnd(point, '0');
  const behind = `${zeros}${digits.slice(Math.max(0, point))}`.replace(/0+$/, '');
  const kept = behind.length > MAX_DIGITS ? `${behind.slice(0, MAX_DIGITS)}1` : behind;
  return `${minus}${before === '' ? '0' : before}${kept === '' ? '' : `.${kept}`}`;
}
