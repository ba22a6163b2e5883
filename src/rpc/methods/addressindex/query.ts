/**
 * The query parameters of the address index methods: addresses or scripts, a range of heights and a page. The shape is
 * that of Bitcore's and Insight's methods of the same names, `{"addresses": [...], "start": n, "end": n}`; scripts and
 * pages are ours.
 */
import { scriptKeyOf } from '../../../index/addressScripts.js';
import type { PageRequest } from '../../../index/addressQueries.js';
import { decodeDestination } from '../../../script/address.js';
import { scriptForDestination } from '../../../script/standard.js';
import { asBuffer, fromHex, isHex, toHex, type Bytes } from '../../../util/bytes.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { JsonObject, type JsonValue } from '../../../util/json/json.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { RPC_ERROR, rpcError, type RpcError } from '../../declare/errors.js';
import { addressPrefixes } from '../../format/addresses.js';
import type { ParamDecl } from '../../declare/method.js';
import { getArray, getBool, getInt, getString } from '../../declare/paramTypes.js';
import { t, type Schema } from '../../../schema/schema.js';
import type { AddressService, RpcServices } from '../../../interfaces/services.js';

/** Maximum number of addresses and scripts in one call. */
const MAX_SCRIPTS = 1000;
/** Maximum number of entries in a result without pages, and in a page. */
const MAX_ENTRIES = 100_000;

/** The next schema of a page. */
export const NEXT_SCHEMA = t.optional(t.hex('where the next page begins'), 'when there is one');

/** The parameter common to all of these methods. */
export const QUERY_PARAM = {
  name: 'addresses',
  type: 'textArrayOrObject',
  required: true,
  description:
    'An address or the hex of an output script, an array of them, or an object: "addresses" (array), and optionally ' +
    '"start" and "end" (heights, both included), "limit" (entries of a page, the answer is an object with "next" ' +
    'then), "after" ("next" of the page before), "mempool" (boolean, whether unconfirmed transactions count)',
} as const satisfies ParamDecl;

/** A position in the mempool: a transaction by its arrival number, and an element of it by its number. */
export interface MempoolMark {
  readonly arrival: number;
  readonly order: number;
}

/** Size of such a mark, which distinguishes it from marks in the chain. */
const MEMPOOL_MARK_BYTES = 12;
/** The position before everything in the mempool. */
export const MEMPOOL_BEGIN: MempoolMark = { arrival: 0, order: 0 };

export interface AddressQuery {
  /** Addresses as given by the caller, by index key. */
  readonly asked: ReadonlyMap<string, string>;
  readonly keys: readonly string[];
  readonly startHeight: number | undefined;
  readonly endHeight: number | undefined;
  /** Null when the result is not paged. */
  readonly limit: number | null;
  /** End of the previous page, if in the chain. */
  readonly after: Bytes | undefined;
  /** End of the previous page, if in the mempool. */
  readonly afterMempool: MempoolMark | undefined;
  readonly mempool: boolean;
  readonly options: JsonObject;
}

function invalid(message: string): RpcError {
  return rpcError(RPC_ERROR.INVALID_PARAMETER, message);
}

/** Throws unless the index is enabled and at the tip. */
export function requireIndex({ addresses, chain, indexes }: RpcServices): AddressService {
  const status = indexes().find(({ name }) => name === 'addressindex');
  if (status !== undefined && !status.synced) {
    const progress = `block ${status.height} of ${chain.chain.height}`;
    const message =
      status.failure === null
        ? `The address index is still being filled: ${progress}`
        : `The address index could not be filled beyond ${progress}. ${status.failure}`;
    throw rpcError(RPC_ERROR.MISC_ERROR, message);
  }
  if (addresses) return addresses;
  throw rpcError(
    RPC_ERROR.MISC_ERROR,
    'The address index is not enabled. Start with -addressindex to use it',
  );
}

/** Throws on an invalid query. `markBytes` is the size of a mark in the chain; null if all entries are in the mempool. */
export async function parseQuery(
  { params }: RpcServices,
  value: JsonValue,
  markBytes: number | null,
): Promise<AddressQuery> {
  const options = value instanceof JsonObject ? value : new JsonObject();
  const prefixes = addressPrefixes(params);
  const asked = new Map<string, string>();
  let since = performance.now();
  for (const item of listOf(value)) {
    since = await yieldIfDue(since);
    const text = getString(item);
    const destination = decodeDestination(text, prefixes);
    if (!destination && (text === '' || !isHex(text))) {
      throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, `Invalid address: ${text}`);
    }
    const key = scriptKeyOf(destination ? scriptForDestination(destination) : fromHex(text));
    if (key === null) throw invalid(`The outputs of the script are unspendable: ${text}`);
    if (!asked.has(key)) asked.set(key, text);
    if (asked.size > MAX_SCRIPTS) throw invalid(`More than ${MAX_SCRIPTS} addresses`);
  }
  if (asked.size === 0) throw invalid('No addresses given');
  const limit = numberOf(options, 'limit', 1, MAX_ENTRIES) ?? null;
  const mempool = flagOf(options, 'mempool');
  const after = markOf(options, markBytes, mempool || markBytes === null);
  return {
    asked,
    keys: [...asked.keys()],
    startHeight: numberOf(options, 'start', 0, 0x7ffffffe),
    endHeight: numberOf(options, 'end', 0, 0x7ffffffe),
    limit,
    ...after,
    mempool,
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

function markOf(
  options: JsonObject,
  markBytes: number | null,
  mempool: boolean,
): Pick<AddressQuery, 'after' | 'afterMempool'> {
  const value = options.get('after') ?? null;
  if (value === null) return { after: undefined, afterMempool: undefined };
  const text = getString(value);
  const mark = asBuffer(isHex(text) ? fromHex(text) : new Uint8Array(0));
  if (mark.length === markBytes) return { after: mark, afterMempool: undefined };
  if (!mempool || mark.length !== MEMPOOL_MARK_BYTES) throw invalid(`"after" is not a page mark: ${text}`);
  const arrival = Number(mark.readBigUInt64BE());
  return { after: undefined, afterMempool: { arrival, order: mark.readUInt32BE(8) } };
}

/** The mark of a page that ends in the mempool. */
export function mempoolMark({ arrival, order }: MempoolMark): Buffer {
  const mark = Buffer.alloc(MEMPOOL_MARK_BYTES);
  mark.writeBigUInt64BE(BigInt(arrival));
  mark.writeUInt32BE(order, 8);
  return mark;
}

/** Maximum number of entries in the result. */
export function entryLimit({ limit }: AddressQuery): number {
  return limit ?? MAX_ENTRIES;
}

/** Schema of a result that is a list or, with "limit", a page of it under `name`. */
export function pagedSchema(name: string, list: Schema): Schema {
  return t.union([
    { when: 'without "limit"', schema: list },
    {
      when: 'with "limit"',
      schema: t.object({ [name]: list, next: NEXT_SCHEMA }),
    },
  ]);
}

/** The result in the schema of `pagedSchema`. */
export function pagedAnswer(
  { limit }: AddressQuery,
  name: string,
  list: JsonOut,
  next: Bytes | null,
): JsonOut {
  return limit === null ? list : { [name]: list, ...nextField(next) };
}

/** Field of an answer with the start of the next page. */
export function nextField(next: Bytes | null): { next?: string } {
  return next ? { next: toHex(next) } : {};
}

/** The query for the index. */
export function pageRequest(query: AddressQuery): PageRequest {
  const { after, startHeight, endHeight } = query;
  return { limit: entryLimit(query), after, startHeight, endHeight };
}

/** Throws for a result that would be truncated without the caller noticing. */
export function requireWhole(query: AddressQuery, next: Bytes | null): void {
  if (query.limit !== null || next === null) return;
  throw invalid(`More than ${MAX_ENTRIES} entries: ask for pages with "limit" and "after"`);
}
