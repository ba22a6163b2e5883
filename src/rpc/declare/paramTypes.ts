/**
 * Parameter types of methods. Each type parses a JSON value and throws the reference's errors. Types are named after
 * functions of the reference: `get_str`, `get_int`, `ParseHashV`, `AmountFromValue` and so on. As in the reference, a wrong
 * JSON type gives error -1 in `get_*`, -8 in the `Parse*V` functions, and -3 in amounts.
 */
import { isMoneyRange } from '../../consensus/limits.js';
import { hashFromHex, isHex } from '../../util/bytes.js';
import {
  isJsonNumber,
  JsonObject,
  numberText,
  parseFixedPoint,
  type JsonTypeName,
  type JsonValue,
} from '../../util/json/json.js';
import { decodeHexInSlices } from '../../util/text/hexSlices.js';
import { inSlices } from '../../scheduler/slices.js';
import { AT_ONCE_SIZE } from '../../util/slices.js';
import { RPC_ERROR, rpcError, type RpcError } from './errors.js';

/**
 * How the command line client converts a word to a JSON value. `string`: unchanged. `json`: parsed as JSON. `auto`: parsed
 * as JSON if possible, otherwise a string (for a string or a number). `text`: parsed as JSON if it begins like an array, an
 * object or a quoted string, otherwise a string.
 */
export type CliConversion = 'string' | 'json' | 'auto' | 'text';

interface ParamType<T> {
  /** Name of the type in help texts. */
  readonly help: string;
  /** JSON type that a strict declaration requires; null for any type. */
  readonly json: JsonTypeName | null;
  readonly cli: CliConversion;
  /** TypeScript type of the argument in the generated client. */
  readonly client: string;
  /** JSON Schema of the type for the OpenRPC document. */
  readonly schema: Readonly<Record<string, unknown>>;
  parse(value: JsonValue, label: string): T;
  /** Parser for the lbcd profile. Absent if the parser is the same in all profiles. */
  parseInLbcd?(value: JsonValue): T;
}

function misc(message: string): RpcError {
  return rpcError(RPC_ERROR.MISC_ERROR, message);
}

/** Source: `UniValue::get_str`. */
export function getString(value: JsonValue): string {
  if (typeof value !== 'string') throw misc('JSON value is not a string as expected');
  return value;
}

/** Source: `UniValue::get_bool`. */
export function getBool(value: JsonValue): boolean {
  if (typeof value !== 'boolean') throw misc('JSON value is not a boolean as expected');
  return value;
}

/** Maximum number of characters of a 64-bit integer, including the sign. */
const LONGEST_INTEGER = 20;

function integerText(value: JsonValue): string {
  if (!isJsonNumber(value)) throw misc('JSON value is not an integer as expected');
  const text = numberText(value);
  // A longer text cannot be a 64-bit integer and is not parsed.
  if (text.length > LONGEST_INTEGER || !/^-?[0-9]+$/.test(text)) throw misc('JSON integer out of range');
  return text;
}

/** Parses a 32-bit integer. `1.0` and `1e3` are out of range, as in the reference. Source: `UniValue::get_int`. */
export function getInt(value: JsonValue): number {
  const number = Number(integerText(value));
  if (number < -0x80000000 || number > 0x7fffffff) throw misc('JSON integer out of range');
  return number + 0;
}

/** Source: `UniValue::get_int64`. */
export function getInt64(value: JsonValue): bigint {
  const number = BigInt(integerText(value));
  if (BigInt.asIntN(64, number) !== number) throw misc('JSON integer out of range');
  return number;
}

/** Source: `UniValue::get_real`. */
export function getReal(value: JsonValue): number {
  if (!isJsonNumber(value)) throw misc('JSON value is not a number as expected');
  const number = Number(numberText(value));
  if (!Number.isFinite(number)) throw misc('JSON double out of range');
  return number;
}

/** Source: `UniValue::get_obj`. */
export function getObject(value: JsonValue): JsonObject {
  if (!(value instanceof JsonObject)) throw misc('JSON value is not an object as expected');
  return value;
}

/** Source: `UniValue::get_array`. */
export function getArray(value: JsonValue): JsonValue[] {
  if (!Array.isArray(value)) throw misc('JSON value is not an array as expected');
  return value;
}

/** Parses hex to bytes. The number of digits must be even and not zero. Source: `ParseHexV`. */
export function parseHexParam(value: JsonValue, label: string): Buffer {
  const text = typeof value === 'string' ? value : '';
  if (text === '' || !isHex(text)) throw notHex(text, label);
  return Buffer.from(text, 'hex');
}

/** Like `parseHexParam`, but yields to the event loop during the conversion of long values. */
export async function readHexParam(text: string, label: string): Promise<Buffer> {
  if (text.length <= AT_ONCE_SIZE) return parseHexParam(text, label);
  const bytes = await inSlices(decodeHexInSlices(text));
  if (bytes === null) throw notHex(text, label);
  return bytes;
}

function notHex(text: string, label: string): RpcError {
  return rpcError(RPC_ERROR.INVALID_PARAMETER, `${label} must be hexadecimal string (not '${text}')`);
}

/** A hash in the form that nearly all callers send. */
const USUAL_HASH = /^[0-9a-fA-F]{64}$/;
const parseUsualHash = (text: string): Buffer => Buffer.from(text, 'hex').reverse();

/** Parses 64 hex digits in display order to a hash in wire order. Source: `ParseHashV`. */
export function parseHashParam(value: JsonValue, label: string): Buffer {
  const text = typeof value === 'string' ? value : '';
  if (USUAL_HASH.test(text)) return parseUsualHash(text);
  if (text === '' || !isHex(text)) throw notHex(text, label);
  throw rpcError(RPC_ERROR.INVALID_PARAMETER, `${label} must be of length 64 (not ${text.length})`);
}

/**
 * Parses the hex digits at the start of a string to a hash: the last 64 digits, or fewer padded with zeros. This is the
 * reference's lenient parsing: `getblock zz` looks for the zero hash and fails with -5. Source: `uint256S`,
 * `base_blob::SetHex`.
 */
export function parseLooseHash(value: JsonValue): Buffer {
  const text = getString(value);
  if (USUAL_HASH.test(text)) return parseUsualHash(text);
  const digits = /^[ \f\n\r\t\v]*(?:0[xX])?([0-9a-fA-F]*)/.exec(text)?.[1] ?? '';
  return hashFromHex(digits.slice(-64).padStart(64, '0'));
}

/**
 * Parses up to 64 hex digits to a hash, padded with zeros. Source: lbcd `chainhash.NewHashFromStr`, rpcserver.go
 * `rpcDecodeHexError`.
 */
export function parseLbcdHash(value: JsonValue): Buffer {
  const text = getString(value);
  if (/^[0-9a-fA-F]{0,64}$/.test(text)) return hashFromHex(text.padStart(64, '0'));
  throw notLbcdHex(text);
}

/** lbcd's error for text that is not hexadecimal. Source: lbcd rpcserver.go `rpcDecodeHexError`. */
export function notLbcdHex(text: string): RpcError {
  const message = `Argument must be hexadecimal string (not ${JSON.stringify(text)})`;
  return rpcError(RPC_ERROR.DESERIALIZATION_ERROR, message);
}

/**
 * Converts hex digits to bytes, and yields to the event loop during the conversion. An odd number of digits is padded with a
 * zero in front. Source: lbcd `handleDecodeScript`.
 */
export async function readLbcdHex(text: string): Promise<Buffer> {
  const bytes = await inSlices(decodeHexInSlices(text.length % 2 === 0 ? text : `0${text}`));
  if (bytes === null) throw notLbcdHex(text);
  return bytes;
}

const CLAIM_ID_DIGITS = 40;

/**
 * Parses a claim id in display order, or the beginning of one. Returns up to 40 hex digits in lower case. A leading `0x`
 * counts as two of the 40 characters; the text after `0x` is a complete id only if it has 40 digits itself. Source:
 * `ParseClaimtrieId`.
 */
function parseClaimIdDigits(value: JsonValue, label: string): string {
  const text = typeof value === 'string' ? value : '';
  const prefix = text.length > 2 && text.startsWith('0x') ? 2 : 0;
  if (!/^[0-9a-fA-F]+$/.test(text.slice(prefix))) {
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, `${label} must be a hexadecimal string`);
  }
  if (text.length > CLAIM_ID_DIGITS) {
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, `${label} must be max 20-character hexadecimal string`);
  }
  const lower = text.toLowerCase();
  return text.length === CLAIM_ID_DIGITS ? lower.slice(prefix).padStart(CLAIM_ID_DIGITS, '0') : lower;
}

/** Parses an amount in coins, a number or a string, to satoshis without rounding. Source: `AmountFromValue`. */
export function parseAmount(value: JsonValue): bigint {
  if (!isJsonNumber(value) && typeof value !== 'string') {
    throw rpcError(RPC_ERROR.TYPE_ERROR, 'Amount is not a number or string');
  }
  const amount = parseFixedPoint(typeof value === 'string' ? value : numberText(value), 8);
  if (amount === null) throw rpcError(RPC_ERROR.TYPE_ERROR, 'Invalid amount');
  if (!isMoneyRange(amount)) throw rpcError(RPC_ERROR.TYPE_ERROR, 'Amount out of range');
  return amount;
}

function define<T>(type: ParamType<T>): ParamType<T> {
  return type;
}

const HASH_SCHEMA = { type: 'string', pattern: '^[0-9a-fA-F]{64}$' };

/** All parameter types by name. */
export const PARAM_TYPES = {
  string: define({
    help: 'string',
    json: 'string',
    cli: 'string',
    client: 'string',
    schema: { type: 'string' },
    parse: getString,
  }),
  /** Hex digits of any non-zero even number; parsed to a Buffer. */
  hex: define({
    help: 'string',
    json: 'string',
    cli: 'string',
    client: 'string',
    schema: { type: 'string', pattern: '^([0-9a-fA-F]{2})+$' },
    parse: parseHexParam,
  }),
  /** 64 hex digits; parsed to a Buffer in wire order. */
  hash: define({
    help: 'string',
    json: 'string',
    cli: 'string',
    client: 'string',
    schema: HASH_SCHEMA,
    parse: parseHashParam,
    parseInLbcd: parseLbcdHash,
  }),
  /** A hash that is parsed leniently (`uint256S`) to a Buffer in wire order. */
  looseHash: define({
    help: 'string',
    json: 'string',
    cli: 'string',
    client: 'string',
    schema: { type: 'string' },
    parse: parseLooseHash,
    parseInLbcd: parseLbcdHash,
  }),
  /** A claim id in display order, or the beginning of one. Parsed to hex digits in lower case. */
  claimIdDigits: define({
    help: 'string',
    json: 'string',
    cli: 'string',
    client: 'string',
    schema: { type: 'string', pattern: '^(0x)?[0-9a-fA-F]{1,40}$' },
    parse: parseClaimIdDigits,
  }),
  /** A 32-bit integer, parsed to a number. */
  integer: define({
    help: 'numeric',
    json: 'number',
    cli: 'json',
    client: 'number',
    schema: { type: 'integer' },
    parse: getInt,
  }),
  /** A 64-bit integer, parsed to a bigint. */
  int64: define({
    help: 'numeric',
    json: 'number',
    cli: 'json',
    client: 'number',
    schema: { type: 'integer' },
    parse: getInt64,
  }),
  /** A double. */
  number: define({
    help: 'numeric',
    json: 'number',
    cli: 'json',
    client: 'number',
    schema: { type: 'number' },
    parse: getReal,
  }),
  boolean: define({
    help: 'boolean',
    json: 'bool',
    cli: 'json',
    client: 'boolean',
    schema: { type: 'boolean' },
    parse: getBool,
  }),
  /** A level as a number, or as false/true for 0/1, because clients send both forms. */
  verbosity: define({
    help: 'numeric or boolean',
    json: null,
    cli: 'json',
    client: 'number | boolean',
    schema: { oneOf: [{ type: 'integer' }, { type: 'boolean' }] },
    parse: (value) => (isJsonNumber(value) ? getInt(value) : getBool(value) ? 1 : 0),
  }),
  /** An amount in coins, a number or a string; parsed to satoshis as a bigint. */
  amount: define({
    help: 'numeric or string',
    json: null,
    cli: 'auto',
    client: 'number | string',
    schema: { oneOf: [{ type: 'number' }, { type: 'string' }] },
    parse: parseAmount,
  }),
  /** A block, either by its height (number) or by its hash, which is parsed to a Buffer. */
  hashOrHeight: define<number | Buffer>({
    help: 'string or numeric',
    json: null,
    cli: 'auto',
    client: 'string | number',
    schema: { oneOf: [HASH_SCHEMA, { type: 'integer' }] },
    parse: (value, label) => (isJsonNumber(value) ? getInt(value) : parseHashParam(value, label)),
  }),
  object: define({
    help: 'json object',
    json: 'object',
    cli: 'json',
    client: 'object',
    schema: { type: 'object' },
    parse: getObject,
  }),
  array: define({
    help: 'json array',
    json: 'array',
    cli: 'json',
    client: 'readonly unknown[]',
    schema: { type: 'array' },
    parse: getArray,
  }),
  /** A string or number that the method itself parses, because the reference parses it only after other checks. */
  unreadString: define({
    help: 'string',
    json: 'string',
    cli: 'string',
    client: 'string',
    schema: { type: 'string' },
    parse: (value: JsonValue): JsonValue => value,
  }),
  unreadInteger: define({
    help: 'numeric',
    json: 'number',
    cli: 'json',
    client: 'number',
    schema: { type: 'integer' },
    parse: (value: JsonValue): JsonValue => value,
  }),
  /** A list that the method itself parses. Null is passed to the method, for methods that reject it with their own message. */
  arrayOrNull: define({
    help: 'json array',
    json: 'array',
    cli: 'json',
    client: 'readonly unknown[]',
    schema: { type: 'array' },
    parse: (value: JsonValue): JsonValue[] | null => (value === null ? null : getArray(value)),
  }),
  /** A list or an object that the method itself parses. */
  arrayOrObject: define({
    help: 'json array or object',
    json: null,
    cli: 'json',
    client: 'readonly unknown[] | object',
    schema: { oneOf: [{ type: 'array' }, { type: 'object' }] },
    parse: (value: JsonValue): JsonValue => value,
  }),
  /** A string or an array of strings, unparsed. */
  textOrArray: define({
    help: 'string or json array',
    json: null,
    cli: 'text',
    client: 'string | readonly string[]',
    schema: { oneOf: [{ type: 'string' }, { type: 'array' }] },
    parse: (value: JsonValue): JsonValue => value,
  }),
  /** A string, an array of strings or an object, unparsed. */
  textArrayOrObject: define({
    help: 'string, json array or object',
    json: null,
    cli: 'text',
    client: 'string | readonly string[] | object',
    schema: { oneOf: [{ type: 'string' }, { type: 'array' }, { type: 'object' }] },
    parse: (value: JsonValue): JsonValue => value,
  }),
  /**
   * Any JSON value. The command line accepts only JSON for this type, so parameters that accept plain strings need another
   * type.
   */
  any: define({
    help: 'any',
    json: null,
    cli: 'json',
    client: 'unknown',
    schema: {},
    parse: (value: JsonValue): JsonValue => value,
  }),
} as const;

export type ParamTypeName = keyof typeof PARAM_TYPES;

/** Type of the value that `run` receives for a parameter type. */
export type ParamValue<K extends ParamTypeName> = ReturnType<(typeof PARAM_TYPES)[K]['parse']>;
