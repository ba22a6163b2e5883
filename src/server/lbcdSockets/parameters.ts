/**
 * Parsing of the parameters of lbcd's WebSocket commands, with the error texts of lbcd's parser. Source: lbcd
 * btcjson/cmdparse.go `UnmarshalCmd`, chaincfg/chainhash/hash.go `NewHashFromStr`.
 */
import { RPC_ERROR, rpcError, type RpcError } from '../../rpc/declare/errors.js';
import { hashFromHex, toLatin1 } from '../../util/bytes.js';
import { isJsonNumber, JsonObject, numberText, type JsonValue } from '../../util/json/json.js';
import { outPointKey } from './watchedTransaction.js';

export interface CommandParam {
  readonly name: string;
  readonly kind: 'string' | 'bool' | 'strings' | 'outpoints';
  readonly isOptional?: boolean;
}

/** An output in a parameter: transaction id and output number. */
export interface OutPointText {
  readonly hash: string;
  readonly index: number;
}

export type CommandArg = string | boolean | readonly string[] | readonly OutPointText[] | undefined;

/** Go's type names, used in error texts. */
const GO_TYPES = {
  string: 'string',
  bool: 'bool',
  strings: '[]string',
  outpoints: '[]btcjson.OutPoint',
} as const;

const MAX_UINT32 = 0xffffffff;

/** Thrown if a parameter value has the wrong type. */
class Mismatch extends Error {
  readonly wanted: string;
  readonly got: string;
  constructor(wanted: string, got: string) {
    super();
    this.wanted = wanted;
    this.got = got;
  }
}

/** Reads the parameter values of a command. Throws the same error as lbcd. */
export function readCommandParams(
  params: readonly CommandParam[],
  values: readonly JsonValue[],
): readonly CommandArg[] {
  const required = params.filter(({ isOptional }) => isOptional !== true).length;
  if (values.length < required || values.length > params.length) {
    const expected = required === params.length ? `${required}` : `between ${required} and ${params.length}`;
    throw invalid(`wrong number of params (expected ${expected}, received ${values.length})`);
  }
  return values.map((value, i) => {
    const { name, kind, isOptional } = params[i]!;
    if (isOptional === true && value === null) return undefined;
    try {
      return readValue(kind, value, isOptional === true);
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error;
      throw invalid(`parameter #${i + 1} '${name}' must be type ${error.wanted} (got ${error.got})`);
    }
  });
}

function invalid(message: string): RpcError {
  return rpcError(RPC_ERROR.INVALID_PARAMS, message);
}

/** Reads one parameter value. As in Go, null becomes the zero value of the type. */
function readValue(kind: CommandParam['kind'], value: JsonValue, isOptional: boolean): CommandArg {
  switch (kind) {
    case 'string':
      return textOf(value);
    case 'bool':
      return flagOf(value, isOptional);
    case 'strings':
      return listOf(kind, value).map(textOf);
    case 'outpoints':
      return listOf(kind, value).map(outPointOf);
  }
}

function textOf(value: JsonValue): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  throw new Mismatch('string', goTypeName(value));
}

/** QUIRK: lbcd reads a whole number as a boolean only if the parameter is optional. */
function flagOf(value: JsonValue, isOptional: boolean): boolean {
  if (value === null) return false;
  if (typeof value === 'boolean') return value;
  if (isOptional && isJsonNumber(value) && /^-?[0-9]+$/.test(numberText(value)))
    return Number(numberText(value)) !== 0;
  throw new Mismatch('bool', goTypeName(value));
}

function listOf(kind: 'strings' | 'outpoints', value: JsonValue): readonly JsonValue[] {
  if (value === null) return [];
  if (Array.isArray(value)) return value;
  throw new Mismatch(GO_TYPES[kind], goTypeName(value));
}

function outPointOf(value: JsonValue): OutPointText {
  if (value === null) return { hash: '', index: 0 };
  if (!(value instanceof JsonObject)) throw new Mismatch('btcjson.OutPoint', goTypeName(value));
  const index = value.get('index') ?? null;
  if (index !== null && !isJsonNumber(index)) throw new Mismatch('uint32', goTypeName(index));
  const number = index === null ? '0' : numberText(index);
  if (!/^[0-9]+$/.test(number) || Number(number) > MAX_UINT32)
    throw new Mismatch('uint32', `number ${number}`);
  return { hash: textOf(value.get('hash') ?? null), index: Number(number) };
}

function goTypeName(value: JsonValue): string {
  if (Array.isArray(value)) return 'array';
  if (value instanceof JsonObject) return 'object';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'string' : 'number';
}

/**
 * Parses a hash into wire order. A short text is padded with zeros. For an invalid text the hash is null, and `problem` has
 * Go's error text.
 */
export function hashOf(text: string): { hash: Buffer } | { hash: null; problem: string } {
  if (text.length > 64) return { hash: null, problem: 'max hash string length is 64 bytes' };
  const bad = /[^0-9a-fA-F]/u.exec(text)?.[0];
  if (bad === undefined) return { hash: hashFromHex(text.padStart(64, '0')) };
  const byte = Buffer.from(bad)[0]!;
  const point = byte.toString(16).toUpperCase().padStart(4, '0');
  return { hash: null, problem: `encoding/hex: invalid byte: U+${point} '${String.fromCharCode(byte)}'` };
}

/** Source: lbcd rpcserver.go `rpcDecodeHexError`. */
export function notHex(text: string): RpcError {
  return rpcError(
    RPC_ERROR.DESERIALIZATION_ERROR,
    `Argument must be hexadecimal string (not ${JSON.stringify(text)})`,
  );
}

/** Watch keys of outputs. `refuse` creates the error for an invalid hash. */
export function outPointKeys(
  outPoints: readonly OutPointText[],
  refuse: (text: string, problem: string) => RpcError = notHex,
): string[] {
  return outPoints.map(({ hash: text, index }) => {
    const read = hashOf(text);
    if (read.hash === null) throw refuse(text, read.problem);
    return outPointKey(toLatin1(read.hash), index);
  });
}
