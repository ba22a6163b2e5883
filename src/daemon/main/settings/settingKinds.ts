/**
 * Kinds of settings. The kind of a setting defines its allowed values and their form in the file and in responses. Values
 * have the form of `JsonOut`; a server is a pair of host and port. Source: lbry-sdk lbry/conf.py `Setting` and its classes.
 */
import { isJsonNumber, JsonObject, JsonNumber, numberText, type JsonValue } from '../../../util/json/json.js';
import { float } from '../../base/answerJson.js';
import { DaemonError } from '../../base/daemonError.js';
import { pythonRepr } from '../../base/pythonText.js';

/** Value of a setting: a plain value, a list, or an object for a price. */
export type SettingValue = null | boolean | number | string | JsonNumber | SettingList | PriceValue;
export type SettingList = readonly (string | readonly [string, number])[];
// A type alias, because an interface would not be assignable to `JsonOut`.
export type PriceValue = {
  readonly currency: string;
  readonly amount: JsonNumber;
};

export type KindName =
  'text' | 'path' | 'endpoint' | 'integer' | 'float' | 'toggle' | 'choice' | 'texts' | 'servers' | 'price';

export interface SettingRow {
  readonly name: string;
  readonly kind: KindName;
  readonly default: SettingValue;
  readonly description: string;
  /** Names of the setting in earlier versions, which old files may contain. */
  readonly previousNames?: readonly string[];
  /** Name of the value in the help, for example `FILE`. */
  readonly valueName?: string;
  /** Allowed values, for a setting with fixed choices. */
  readonly choices?: readonly string[];
  /** Minimum and maximum of a number, both allowed. */
  readonly range?: readonly [least: number, most: number];
  /** Pattern that a text, or each text in a list, must match, with a description of the form for messages. */
  readonly form?: { readonly pattern: RegExp; readonly words: string };
  /** Whether responses must hide the value, because it is a secret. */
  readonly isSecret?: boolean;
}

const CURRENCIES: readonly string[] = ['BTC', 'LBC', 'USD'];

const mustBe = (row: SettingRow, what: string): DaemonError =>
  new DaemonError('AssertionError', `Setting '${row.name}' must be ${what}.`);
const noNumber = (row: SettingRow, value: JsonValue, what: string): DaemonError =>
  new DaemonError(
    typeof value === 'string' ? 'ValueError' : 'TypeError',
    `Setting '${row.name}' must be ${what}, not ${pythonRepr(value)}.`,
  );
const unknownCurrency = (currency: string): DaemonError =>
  new DaemonError('InvalidCurrencyError', `Invalid currency: ${currency} is not a supported currency.`);

function cleanText(row: SettingRow, value: JsonValue): string {
  if (typeof value !== 'string') throw mustBe(row, 'a string');
  if (row.form && !row.form.pattern.test(value)) throw noForm(row, value);
  return value;
}

const noForm = ({ name, form }: SettingRow, value: string): DaemonError =>
  new DaemonError('ValueError', `Setting '${name}': '${value}' is not ${form!.words}.`);

const INTEGER = /^[+-]?[0-9]+(?:_[0-9]+)*$/;

/**
 * Converts a value to an integer like Python's `int`: texts of digits are parsed, numbers are truncated, and booleans become
 * 0 or 1.
 */
function cleanInteger(row: SettingRow, value: JsonValue): number {
  if (typeof value === 'boolean') return Number(value);
  let number = NaN;
  if (typeof value === 'string' && INTEGER.test(value.trim())) number = Number(value.replaceAll('_', ''));
  if (isJsonNumber(value)) number = Math.trunc(Number(numberText(value)));
  if (!Number.isSafeInteger(number)) throw noNumber(row, value, 'an integer');
  assertRange(row, number);
  return number === 0 ? 0 : number;
}

function assertRange({ name, range }: SettingRow, number: number): void {
  if (!range) return;
  const [least, most] = range;
  const words = most === Infinity ? `at least ${least}` : `from ${least} to ${most}`;
  if (number < least || number > most)
    throw new DaemonError('ValueError', `Setting '${name}' must be ${words}, not ${number}.`);
}

const DECIMAL = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?$/i;
/** As in Python, an underscore may separate two digits. */
const DIGIT_SEPARATOR = /(?<=[0-9])_(?=[0-9])/g;

function readFloat(value: JsonValue): number {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'string') {
    const digits = value.trim().replace(DIGIT_SEPARATOR, '');
    return DECIMAL.test(digits) ? Number(digits) : NaN;
  }
  return isJsonNumber(value) ? Number(numberText(value)) : NaN;
}

function cleanFloat(row: SettingRow, value: JsonValue): JsonNumber {
  const number = readFloat(value);
  if (!Number.isFinite(number)) throw noNumber(row, value, 'a decimal');
  assertRange(row, number);
  return float(number);
}

function cleanChoice(row: SettingRow, value: JsonValue): string {
  const text = cleanText(row, value);
  if (!row.choices!.includes(text))
    throw new DaemonError(
      'ValueError',
      `Setting '${row.name}' value must be one of: ${row.choices!.map((choice) => choice || '"" (empty)').join(', ')}`,
    );
  return text;
}

function cleanTexts(row: SettingRow, value: JsonValue): readonly string[] {
  if (!Array.isArray(value)) throw mustBe(row, 'a tuple or list of strings');
  for (const item of value)
    if (typeof item !== 'string') throw mustBe(row, `a list of strings, without ${pythonRepr(item)}`);
    else if (row.form && !row.form.pattern.test(item)) throw noForm(row, item);
  return value as string[];
}

/** A path must name something: Node.js reads an empty path as the working directory in some functions and refuses it in others. */
function cleanPath(row: SettingRow, value: JsonValue): string {
  const text = cleanText(row, value);
  if (text === '') throw new DaemonError('ValueError', `Setting '${row.name}' must not be empty.`);
  return text;
}

export const MAX_PORT = 0xffff;
/** A host name or an IPv4 address, whose contents are not checked. IPv6 addresses contain colons. */
export const HOST = /^[^\s:/]+$/;

/** Parses `host:port`. Returns null if the text is invalid. */
export function parseServer(text: JsonValue): readonly [string, number] | null {
  if (typeof text !== 'string' || text.split(':').length !== 2) return null;
  const [host = '', port = ''] = text.split(':').map((part) => part.trim());
  const number = INTEGER.test(port) ? Number(port.replaceAll('_', '')) : NaN;
  return HOST.test(host) && number >= 0 && number <= MAX_PORT ? [host, number] : null;
}

/** Parses an item of a server list. Port 0 means any free port, which only a listening server can use. */
function parseListed(item: JsonValue): readonly [string, number] | null {
  const server = parseServer(item);
  return server === null || server[1] === 0 ? null : server;
}

function cleanEndpoint(row: SettingRow, value: JsonValue): string {
  const text = cleanText(row, value);
  if (parseServer(text) === null)
    throw new DaemonError('ValueError', `Setting '${row.name}' must be HOST:PORT, not '${text}'.`);
  return text;
}

/** Parses a server list. Invalid entries are omitted, as in the reference; `strayServers` returns them. */
function cleanServers(value: JsonValue): SettingList {
  return Array.isArray(value) ? value.map(parseListed).filter((server) => server !== null) : [];
}

/** Entries of a server list that are invalid, for a warning. */
export function strayServers(value: JsonValue): readonly JsonValue[] {
  if (!Array.isArray(value)) return value === null ? [] : [value];
  return value.filter((item) => parseListed(item) === null);
}

function priceOf({ name }: SettingRow, amount: number, currency: string): PriceValue {
  if (!CURRENCIES.includes(currency)) throw unknownCurrency(currency);
  if (amount < 0) throw new DaemonError('ValueError', `Setting '${name}' must be at least 0, not ${amount}.`);
  return { currency, amount: float(amount) };
}

function priceOfWords(row: SettingRow, words: readonly JsonValue[]): PriceValue | null {
  if (words.length === 1 && words[0] === 'null') return null;
  const [amountWord, currencyWord] = words;
  if (words.length !== 2)
    throw new DaemonError(
      'AssertionError',
      `Setting '${row.name}' is "AMOUNT CURRENCY", or "null" to set no limit.`,
    );
  const amount = readFloat(amountWord!);
  if (!Number.isFinite(amount))
    throw new DaemonError('AssertionError', `The first value of setting '${row.name}' must be a decimal.`);
  return priceOf(
    row,
    amount,
    typeof currencyWord === 'string' ? currencyWord.toUpperCase() : pythonRepr(currencyWord!),
  );
}

function cleanPrice(row: SettingRow, value: JsonValue): PriceValue | null {
  if (value === null) return null;
  if (typeof value === 'string') return priceOfWords(row, value.split(/\s+/).filter(Boolean));
  if (Array.isArray(value)) return priceOfWords(row, value);
  if (!(value instanceof JsonObject)) throw mustBe(row, 'a price');
  const [currency, amount] = [value.get('currency'), value.get('amount')];
  for (const [key, found] of [
    ['currency', currency],
    ['amount', amount],
  ] as const)
    if (found === undefined) throw new DaemonError('KeyError', `Setting '${row.name}' has no '${key}'.`);
  const number = readFloat(amount!);
  if (!Number.isFinite(number)) throw noNumber(row, amount!, 'a price with a decimal as amount');
  return priceOf(row, number, typeof currency === 'string' ? currency : pythonRepr(currency!));
}

/** Validates and converts a value. Throws `DaemonError` with the error names of lbry-sdk's settings. */
export function cleanSetting(row: SettingRow, value: JsonValue): SettingValue {
  switch (row.kind) {
    case 'text':
      return cleanText(row, value);
    case 'path':
      return cleanPath(row, value);
    case 'endpoint':
      return cleanEndpoint(row, value);
    case 'integer':
      return cleanInteger(row, value);
    case 'float':
      return cleanFloat(row, value);
    case 'toggle':
      if (typeof value !== 'boolean') throw mustBe(row, 'a true/false value');
      return value;
    case 'choice':
      return cleanChoice(row, value);
    case 'texts':
      return cleanTexts(row, value);
    case 'servers':
      return cleanServers(value);
    case 'price':
      return cleanPrice(row, value);
  }
}

const TRUE_WORDS: readonly string[] = ['true', '1', 'yes', 'on'];
const FALSE_WORDS: readonly string[] = ['false', '0', 'no', 'off', ''];

/** Parses the text of an environment variable: words for toggles, commas between list items. */
export function valueOfEnvironment(row: SettingRow, text: string): JsonValue {
  if (row.kind === 'toggle') {
    const word = text.toLowerCase();
    if (TRUE_WORDS.includes(word)) return true;
    return FALSE_WORDS.includes(word) ? false : text;
  }
  if (row.kind === 'texts' || row.kind === 'servers')
    return text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  return text;
}

/**
 * Converts a value of the settings file that lbrynet accepts there in another form: a number or null for a toggle, and one
 * text for a list. Returns undefined for a null that means the default.
 */
export function valueOfFile({ kind }: SettingRow, value: JsonValue): JsonValue | undefined {
  if (kind === 'toggle' && value === null) return false;
  if (kind === 'toggle' && isJsonNumber(value)) return Number(numberText(value)) !== 0;
  if (kind === 'texts' && typeof value === 'string') return [value];
  return value === null && kind !== 'price' && kind !== 'servers' ? undefined : value;
}

/** Converts a value to the form in the file: servers as `host:port`, numbers as plain numbers. */
export function valueForFile(value: SettingValue): unknown {
  if (value instanceof JsonNumber) return Number(value.text);
  if (Array.isArray(value))
    return (value as SettingList).map((item) => (typeof item === 'string' ? item : `${item[0]}:${item[1]}`));
  if (value !== null && typeof value === 'object' && 'currency' in value)
    return { amount: Number(value.amount.text), currency: value.currency };
  return value;
}
