/**
 * What the methods of the address index are asked: addresses or scripts, a range of heights and a page. The shape is
 * that of Bitcore's and Insight's methods of the same names, `{"addresses": [...], "start": n, "end": n}`; scripts and
 * pages are ours.
 */
import { scriptKeyOf } from '../../../index/addressScripts.js';
import type { PageRequest } from '../../../index/addressQueries.js';
import { decodeDestination } from '../../../script/address.js';
import { scriptForDestination } from '../../../script/standard.js';
import { fromHex, isHex, type Bytes } from '../../../util/bytes.js';
import { JsonObject, type JsonValue } from '../../../util/json.js';
import { RPC_ERROR, rpcError, type RpcError } from '../../errors.js';
import { addressPrefixes } from '../../format/addresses.js';
import type { ParamDecl } from '../../method.js';
import { getArray, getBool, getInt, getString } from '../../paramTypes.js';
import type { AddressService, RpcServices } from '../../services.js';

/** Addresses and scripts that one call may ask for. */
const MAX_SCRIPTS = 1000;
/** Entries of an answer that is not asked for in pages, and of a page. */
const MAX_ENTRIES = 100_000;

/** The parameter that all of them have. */
export const QUERY_PARAM = {
  name: 'addresses',
  type: 'any',
  required: true,
  description:
    'An address or the hex of an output script, an array of them, or an object: "addresses" (array), and optionally ' +
    '"start" and "end" (heights, both included), "limit" (entries of a page, the answer is an object with "next" ' +
    'then), "after" ("next" of the page before), "mempool" (boolean, whether unconfirmed transactions count)',
} as const satisfies ParamDecl;

export interface AddressQuery {
  /** As the caller wrote them, by the key under which the index files them. */
  readonly asked: ReadonlyMap<string, string>;
  readonly keys: readonly string[];
  readonly startHeight: number | undefined;
  readonly endHeight: number | undefined;
  /** Null when the answer is no page. */
  readonly limit: number | null;
  readonly after: Bytes | undefined;
  readonly mempool: boolean;
  readonly options: JsonObject;
}

function invalid(message: string): RpcError {
  return rpcError(RPC_ERROR.INVALID_PARAMETER, message);
}

/** Throws unless the node keeps the index. */
export function requireIndex({ addresses }: RpcServices): AddressService {
  if (addresses) return addresses;
  throw rpcError(
    RPC_ERROR.MISC_ERROR,
    'The address index is not enabled. Start with -addressindex to use it',
  );
}

/** Throws on what is no query. `markBytes` is the size of a page's mark. */
export function parseQuery({ params }: RpcServices, value: JsonValue, markBytes: number): AddressQuery {
  const options = value instanceof JsonObject ? value : new JsonObject();
  const prefixes = addressPrefixes(params);
  const asked = new Map<string, string>();
  for (const item of listOf(value)) {
    const text = getString(item);
    const destination = decodeDestination(text, prefixes);
    if (!destination && (text === '' || !isHex(text))) {
      throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, `Invalid address: ${text}`);
    }
    const key = scriptKeyOf(destination ? scriptForDestination(destination) : fromHex(text));
    if (key === null) throw invalid(`Nobody can spend what the script pays: ${text}`);
    if (!asked.has(key)) asked.set(key, text);
  }
  if (asked.size === 0) throw invalid('No addresses given');
  if (asked.size > MAX_SCRIPTS) throw invalid(`More than ${MAX_SCRIPTS} addresses`);
  const limit = numberOf(options, 'limit', 1, MAX_ENTRIES) ?? null;
  return {
    asked,
    keys: [...asked.keys()],
    startHeight: numberOf(options, 'start', 0, 0x7ffffffe),
    endHeight: numberOf(options, 'end', 0, 0x7ffffffe),
    limit,
    after: markOf(options, markBytes),
    mempool: flagOf(options, 'mempool'),
    options,
  };
}

function listOf(value: JsonValue): JsonValue[] {
  if (typeof value === 'string') return [value];
  if (!(value instanceof JsonObject)) return getArray(value);
  const list = value.get('addresses');
  if (list === undefined) throw invalid('The query has no "addresses"');
  return typeof list === 'string' ? [list] : getArray(list);
}

function numberOf(options: JsonObject, name: string, min: number, max: number): number | undefined {
  const value = options.get(name) ?? null;
  if (value === null) return undefined;
  const number = getInt(value);
  if (number < min || number > max) throw invalid(`"${name}" must be between ${min} and ${max}`);
  return number;
}

export function flagOf(options: JsonObject, name: string): boolean {
  const value = options.get(name) ?? null;
  return value !== null && getBool(value);
}

function markOf(options: JsonObject, markBytes: number): Bytes | undefined {
  const value = options.get('after') ?? null;
  if (value === null) return undefined;
  const text = getString(value);
  if (!isHex(text) || text.length !== 2 * markBytes) throw invalid(`"after" is no mark of a page: ${text}`);
  return fromHex(text);
}

/** What to ask the index for. */
export function pageRequest({ limit, after, startHeight, endHeight }: AddressQuery): PageRequest {
  return { limit: limit ?? MAX_ENTRIES, after, startHeight, endHeight };
}

/** Refuses an answer that would be cut off without the caller noticing. */
export function requireWhole(query: AddressQuery, next: Bytes | null): void {
  if (query.limit !== null || next === null) return;
  throw invalid(`More than ${MAX_ENTRIES} entries: ask for pages with "limit" and "after"`);
}
