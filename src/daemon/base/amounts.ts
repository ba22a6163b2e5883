/**
 * Amounts of LBC as parameters of methods. Source: lbry-sdk lbry/extras/daemon/daemon.py `get_dewies_or_error`;
 * lbry/wallet/dewies.py `lbc_to_dewies`.
 */
import { parseLbc as parseAmount } from '../../metadata/amounts.js';
import { MetadataError } from '../../metadata/metadataError.js';
import { badValue } from './daemonError.js';

const EXAMPLES = 'an amount is text like "1.0" or "0.00000001": 1 to 10 digits, a point and 1 to 8 digits';

export interface AmountRule {
  /** Whether only amounts above zero are allowed. */
  readonly isPositive?: boolean;
}

/**
 * Parses an amount of LBC to dewies. Throws a `ValueError` that names the argument if the text is not an amount, or is zero
 * although `isPositive` is set.
 */
export function parseLbc(argument: string, text: unknown, { isPositive = false }: AmountRule = {}): bigint {
  const dewies = typeof text === 'string' ? tryParse(text) : null;
  if (dewies === null) {
    const shown = typeof text === 'string' || typeof text === 'number' ? `, not '${text}'` : '';
    throw badValue(`Invalid value for '${argument}': ${EXAMPLES}${shown}.`);
  }
  if (isPositive && dewies <= 0n) {
    throw badValue(`Invalid value for '${argument}': '${argument}' value must be greater than 0.0`);
  }
  return dewies;
}

function tryParse(text: string): bigint | null {
  try {
    return parseAmount(text);
  } catch (error) {
    if (error instanceof MetadataError) return null;
    throw error;
  }
}
