/**
 * The parameter types of methods: each parses a JSON value, with the reference's errors. The types are named after the
 * functions that the reference's methods call: `get_str`, `get_int`, `ParseHashV`, `AmountFromValue` and so on. As in the
 * reference, a wrong JSON type gives error -1 in `get_*`, -8 in the `Parse*V` functions, and -3 in amounts.
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
 * How the command line converts a word to a value. `string`: unchanged. `json`: as JSON. `auto`: as JSON if it parses (a
 * text or a number). `text`: as JSON if it begins like an array, an object or a quoted text (a text, an array or an object).
 */
export type CliConversion = 'string' | 'json' | 'auto' | 'text';

interface ParamType<T> {
  /** The type name shown in help. */
  readonly help: string;
  /** JSON type that a strict declaration requires; null: any. */
  readonly json: JsonTypeName | null;
  readonly cli: CliConversion;
  /** Type of the argument in the generated client. */
  readonly client: string;
  /** JSON Schema of the OpenRPC document. */
  readonly schema: Readonly<Record<string, unknown>>;
  parse(value: JsonValue, label: string): T;
  /** Parser for the lbcd profile, if it differs. */
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

/** Number of characters of the longest 64-bit integer, including the sign. */
const LONGEST_INTEGER = 20;

function integerText(value: JsonValue): string {
  if (!isJsonNumber(value)) throw misc('JSON value is not an integer as expected');
  const text = numberText(value);
  // Longer ones exceed 64 bits and are not parsed.
  if (text.length > LONGEST_INTEGER || !/^-?[0-9]+$/.test(text)) throw misc('JSON integer out of range');
  return text;
}

/** A 32-bit integer; `1.0` and `1e3` are out of range as in the reference. Source: `UniValue::get_int`. */
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

/** Bytes from an even, non-zero number of hex digits. Source: `ParseHexV`. */
export function parseHexParam(value: JsonValue, label: string): Buffer {
  const text = typeof value === 'string' ? value : '';
  if (text === '' || !isHex(text)) throw notHex(text, label);
  return Buffer.from(text, 'hex');
}

/** The same in slices, for values that may be long. */
export async function readHexParam(text: string, label: string): Promise<Buffer> {
  if (text.length <= AT_ONCE_SIZE) return parseHexParam(text, label);
  const bytes = await inSlices(decodeHexInSlices(text));
  if (bytes === null) throw notHex(text, label);
  return bytes;
}

function notHex(text: string, label: string): RpcError {
  return rpcError(RPC_ERROR.INVALID_PARAMETER, `${label} must be hexadecimal string (not '${text}')`);
}

/** A hash in wire order from 64 hex digits in printed order. Source: `ParseHashV`. */
export function parseHashParam(value: JsonValue, label: string): Buffer {
  const text = typeof value === 'string' ? value : '';
  if (text === '' || !isHex(text)) throw notHex(text, label);
  if (text.length !== 64) {
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, `${label} must be of length 64 (not ${text.length})`);
  }
  return hashFromHex(text);
}

/**
 * A hash from the hex digits at the start of the string: the last 64 of them, padded with zeros. This is the reference's
 * lenient parsing, by which `getblock zz` searches for the zero hash and fails with -5. Source: `uint256S`,
 * `base_blob::SetHex`.
 */
export function parseLooseHash(value: JsonValue): Buffer {
  const digits = /^[ \f\n\r\t\v]*(?:0[xX])?([0-9a-fA-F]*)/.exec(getString(value))?.[1] ?? '';
  return hashFromHex(digits.slice(-64).padStart(64, '0'));
}

/**
 * A hash from up to 64 hex digits, padded with zeros. Source: lbcd `chainhash.NewHashFromStr`, rpcserver.go
 * `rpcDecodeHexError`.
 */
export function parseLbcdHash(value: JsonValue): Buffer {
  const text = getString(value);
  if (/^[0-9a-fA-F]{0,64}$/.test(text)) return hashFromHex(text.padStart(64, '0'));
  throw notLbcdHex(text);
}

function notLbcdHex(text: string): RpcError {
  const message = `Argument must be hexadecimal string (not ${JSON.stringify(text)})`;
  return rpcError(RPC_ERROR.DESERIALIZATION_ERROR, message);
}

/** Bytes from hex digits, in slices; an odd number of digits gets a zero in front. Source: lbcd `handleDecodeScript`. */
export async function readLbcdHex(text: string): Promise<Buffer> {
  const bytes = await inSlices(decodeHexInSlices(text.length % 2 === 0 ? text : `0${text}`));
  if (bytes === null) throw notLbcdHex(text);
  return bytes;
}

const CLAIM_ID_DIGITS = 40;

/**
 * A claim id or a prefix of one, in printed order: up to 40 digits, in lower case. A leading `0x` counts as two of the 40
 * characters, so the rest is a complete id only if it has 40 digits itself. Source: `ParseClaimtrieId`.
 */
export function parseClaimIdDigits(value: JsonValue, label: string): string {
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

/** Satoshis from a number or string in coins, exact. Source: `AmountFromValue`. */
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
  /** Hex of any non-zero length: a Buffer. */
  hex: define({
    help: 'string',
    json: 'string',
    cli: 'string',
    client: 'string',
    schema: { type: 'string', pattern: '^([0-9a-fA-F]{2})+$' },
    parse: parseHexParam,
  }),
  /** 64 hex digits: a Buffer in wire order. */
  hash: define({
    help: 'string',
    json: 'string',
    cli: 'string',
    client: 'string',
    schema: HASH_SCHEMA,
    parse: parseHashParam,
    parseInLbcd: parseLbcdHash,
  }),
  /** A hash read leniently (`uint256S`): a Buffer in wire order. */
  looseHash: define({
    help: 'string',
    json: 'string',
    cli: 'string',
    client: 'string',
    schema: { type: 'string' },
    parse: parseLooseHash,
    parseInLbcd: parseLbcdHash,
  }),
  /** A claim id or a prefix of one: its digits in lower case. */
  claimIdDigits: define({
    help: 'string',
    json: 'string',
    cli: 'string',
    client: 'string',
    schema: { type: 'string', pattern: '^(0x)?[0-9a-fA-F]{1,40}$' },
    parse: parseClaimIdDigits,
  }),
  /** A 32-bit integer. */
  integer: define({
    help: 'numeric',
    json: 'number',
    cli: 'json',
    client: 'number',
    schema: { type: 'integer' },
    parse: getInt,
  }),
  /** A 64-bit integer: a bigint. */
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
  /** A level, as a number or as false/true for 0/1: real clients send both. */
  verbosity: define({
    help: 'numeric or boolean',
    json: null,
    cli: 'json',
    client: 'number | boolean',
    schema: { oneOf: [{ type: 'integer' }, { type: 'boolean' }] },
    parse: (value) => (isJsonNumber(value) ? getInt(value) : getBool(value) ? 1 : 0),
  }),
  /** Coins as a number or a string: satoshis as a bigint. */
  amount: define({
    help: 'numeric or string',
    json: null,
    cli: 'auto',
    client: 'number | string',
    schema: { oneOf: [{ type: 'number' }, { type: 'string' }] },
    parse: parseAmount,
  }),
  /** A block's height as a number, or its hash as a Buffer. */
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
  /** A string or a number that the method itself parses, since the reference parses it after other checks. */
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
  /** A list; a null is passed to methods that reject it with their own message. */
  arrayOrNull: define({
    help: 'json array',
    json: 'array',
    cli: 'json',
    client: 'readonly unknown[]',
    schema: { type: 'array' },
    parse: (value: JsonValue): JsonValue[] | null => (value === null ? null : getArray(value)),
  }),
  /** A list or an object, not parsed. */
  arrayOrObject: define({
    help: 'json array or object',
    json: null,
    cli: 'json',
    client: 'readonly unknown[] | object',
    schema: { oneOf: [{ type: 'array' }, { type: 'object' }] },
    parse: (value: JsonValue): JsonValue => value,
  }),
  /** A text or an array of texts, not parsed. */
  textOrArray: define({
    help: 'string or json array',
    json: null,
    cli: 'text',
    client: 'string | readonly string[]',
    schema: { oneOf: [{ type: 'string' }, { type: 'array' }] },
    parse: (value: JsonValue): JsonValue => value,
  }),
  /** The same, or an object. */
  textArrayOrObject: define({
    help: 'string, json array or object',
    json: null,
    cli: 'text',
    client: 'string | readonly string[] | object',
    schema: { oneOf: [{ type: 'string' }, { type: 'array' }, { type: 'object' }] },
    parse: (value: JsonValue): JsonValue => value,
  }),
  /** Any JSON value. The command line accepts only JSON; use another type if texts are allowed. */
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

/** The type of the value that `run` gets for a parameter. */
export type ParamValue<K extends ParamTypeName> = ReturnType<(typeof PARAM_TYPES)[K]['parse']>;
