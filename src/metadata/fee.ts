/** Formats and sets the fee of a stream, i.e. its price. Source: lbry-sdk lbry/schema/attrs.py `Fee`. */
import { decodeBase58, encodeBase58 } from '../script/base58.js';
import { checkRange } from './arguments.js';
import { formatQuotient, roundUp, scaleToInteger, type Decimal } from './decimal.js';
import { enumNames } from './enumNames.js';
import { Fee_CurrencySchema, type Fee } from './messages/claim_pb.js';
import { MetadataError } from './metadataError.js';

export const feeCurrencies = enumNames(Fee_CurrencySchema);

/** Number of decimal places of amounts in each currency. */
const PLACES: ReadonlyMap<string, number> = new Map([
  ['LBC', 8],
  ['BTC', 8],
  ['USD', 2],
]);
/**
 * `idealExponent` of amounts in USD for `formatQuotient`. QUIRK: the reference divides cents by 100.0, so a zero before the
 * point becomes an exponent: ten dollars are `1E+1`.
 */
const USD_IDEAL_EXPONENT = 1;
/** QUIRK: for an amount without a currency the reference returns this text. */
const NO_AMOUNT = 'None';
const MAX_AMOUNT = (1n << 64n) - 1n;
/**
 * Maximum length in bytes of an address that is converted to or from text. The conversion takes quadratic time. A real
 * address has 25 bytes.
 */
const MAX_ADDRESS_SIZE = 1024;

/** Formats a fee address as base58. Throws `MetadataError` if the address is too long. */
export function formatFeeAddress(address: Uint8Array): string {
  if (address.length > MAX_ADDRESS_SIZE) throw new MetadataError('The address of the fee is too long');
  return encodeBase58(address);
}

/** Decodes the text of a fee address to bytes of any length. The checksum is not verified. Throws `MetadataError`. */
export function parseFeeAddress(text: string): Buffer {
  const bytes = /^[0-9A-Za-z]+$/.test(text) ? decodeBase58(text, MAX_ADDRESS_SIZE) : null;
  if (bytes === null) throw new MetadataError(`'${text}' is not a valid address`);
  return bytes;
}

/** Formats the amount of a fee. Throws `MetadataError` if the currency is unknown. */
export function formatFeeAmount({ currency, amount }: Fee): string {
  if (currency === 0) return NO_AMOUNT;
  const name = feeCurrencies.nameOf(currency);
  return formatQuotient(amount, PLACES.get(name)!, name === 'USD' ? USD_IDEAL_EXPONENT : 0);
}

/**
 * Sets the currency (by its name in capitals) and the amount of a fee. Fractions of a cent are rounded up; fractions of a
 * dewie or satoshi are cut off.
 */
export function setFeeAmount(fee: Fee, currency: string, amount: Decimal): void {
  const places = PLACES.get(currency);
  if (places === undefined) throw new MetadataError(`Missing or unknown currency provided: ${currency}`);
  const integer = scaleToInteger(currency === 'USD' ? roundUp(amount, places) : amount, places);
  checkRange(integer, 0n, MAX_AMOUNT);
  fee.amount = integer;
  fee.currency = feeCurrencies.numberOf(currency);
}
