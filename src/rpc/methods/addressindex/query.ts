/**
 * Parameters of the address index methods: addresses or scripts, a range of heights, and a page. The format is that of the
 * methods with these names in Bitcore and Insight, `{"addresses": [...], "start": n, "end": n}`. Scripts and pages are
 * extensions of lbcnode.
 */
import { scriptKeyOf } from '../../../index/addressScripts.js';
import type { PageRequest } from '../../../index/addressQueries.js';
import { decodeDestination } from '../../../script/address.js';
import { scriptForDestination } from '../../../script/standard.js';
import { asBuffer, concatBytes, fromHex, fromLatin1, isHex, toHex, type Bytes } from '../../../util/bytes.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { JsonObject, type JsonValue } from '../../../util/json/json.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { RPC_ERROR, rpcError, type RpcError } from '../../declare/errors.js';
import { addressPrefixes } from '../../format/addresses.js';
import { listTag, TAG_BYTES, withoutTag } from '../../lookup/listTag.js';
import type { ParamDecl } from '../../declare/method.js';
import { getArray, getBool, getInt, getString } from '../../declare/paramTypes.js';
import { t, type Schema } from '../../../schema/schema.js';
import type { AddressService, RpcServices } from '../../../interfaces/services.js';

/** Maximum number of addresses and scripts in one query. Arbitrary. */
const MAX_SCRIPTS = 1000;
/** Maximum number of entries in a page, and in a result that is not paged. */
const MAX_ENTRIES = 100_000;

/** Schema of the field `next`, the cursor of the next page. */
export const NEXT_SCHEMA = t.optional(
  t.hex('cursor of the next page, to be passed as "after"'),
  'when there is one',
);

/** Query parameter that all address index methods share. */
export const QUERY_PARAM = {
  name: 'addresses',
  type: 'textArrayOrObject',
  required: true,
  description:
    'An address, an output script in hex, an array of these, or an object with the members "addresses" ' +
    '(array), and optionally "start" and "end" (first and last height, inclusive), "limit" (maximum ' +
    'entries of a page; the result is then an object with "next"), "after" ("next" of the previous ' +
    'page), "mempool" (boolean: include unconfirmed transactions)',
} as const satisfies ParamDecl;

/** Cursor within the mempool: the arrival number of a transaction, and the number of an element within it. */
export interface MempoolMark {
  readonly arrival: number;
  readonly order: number;
}

/** Size of a serialized mempool cursor in bytes, by which it differs from cursors in the chain. */
const MEMPOOL_MARK_BYTES = 12;
/** Cursor before all transactions of the mempool. */
export const MEMPOOL_BEGIN: MempoolMark = { arrival: 0, order: 0 };

export interface AddressQuery {
  /** Addresses as the caller wrote them, by index key. */
  readonly asked: ReadonlyMap<string, string>;
  readonly keys: readonly string[];
  readonly startHeight: number | undefined;
  readonly endHeight: number | undefined;
  /** Page size; null if the result is not paged. */
  readonly limit: number | null;
  /** Cursor of the last entry of the previous page, if that entry is on the chain. */
  readonly after: Bytes | undefined;
  /** Cursor of the last entry of the previous page, if that entry is in the mempool. */
  readonly afterMempool: MempoolMark | undefined;
  readonly mempool: boolean;
  readonly options: JsonObject;
  /** Tag of the list in its cursors, see `listTag`. */
  readonly tag: Bytes;
}

function invalid(message: string): RpcError {
  return rpcError(RPC_ERROR.INVALID_PARAMETER, message);
}

/** Returns the address index. Throws if the index is disabled or not at the tip. */
export function requireIndex({ addresses, chain, indexes }: RpcServices): AddressService {
  const status = indexes().find(({ name }) => name === 'addressindex');
  if (status !== undefined && !status.synced) {
    const progress = `block ${status.height} of ${chain.chain.height}`;
    const message =
      status.failure === null
        ? `The address index is not complete: ${progress}. Retry later; getindexinfo shows the progress`
        : status.isWaiting === true
          ? `The address index is not complete: ${progress}. ${status.failure}`
          : `The address index stopped at ${progress} because of an error: ${status.failure}`;
    throw rpcError(RPC_ERROR.MISC_ERROR, message);
  }
  if (addresses) return addresses;
  throw rpcError(
    RPC_ERROR.MISC_ERROR,
    'The address index is not enabled. Start with -addressindex to use it',
  );
}

/**
 * Parses the query of a method. Throws if it is invalid. `markBytes` is the size of a chain cursor; null for methods that return
 * only mempool entries.
 */
export async function parseQuery(
  { params }: RpcServices,
  value: JsonValue,
  method: string,
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
    if (key === null) throw invalid(`Outputs with this script are unspendable and not indexed: ${text}`);
    if (!asked.has(key)) asked.set(key, text);
    if (asked.size > MAX_SCRIPTS) throw invalid(`At most ${MAX_SCRIPTS} addresses are allowed in one call`);
  }
  if (asked.size === 0) throw invalid('The list of addresses is empty');
  const limit = numberOf(options, 'limit', 1, MAX_ENTRIES) ?? null;
  const mempool = flagOf(options, 'mempool');
  // The same list in the opposite order has other cursors.
  const order = flagOf(options, 'descending') ? ' descending' : '';
  const tag = listTag(`${method}${order}`, fromLatin1([...asked.keys()].sort().join('')));
  const after = markOf(options, markBytes, mempool || markBytes === null, tag);
  return {
    asked,
    keys: [...asked.keys()],
    startHeight: numberOf(options, 'start', 0, 0x7ffffffe),
    endHeight: numberOf(options, 'end', 0, 0x7ffffffe),
    limit,
    ...after,
    mempool,
    options,
    tag,
  };
}

function listOf(value: JsonValue): JsonValue[] {
  if (typeof value === 'string') return [value];
  if (!(value instanceof JsonObject)) return getArray(value);
  const list = value.get('addresses');
  if (list === undefined) throw invalid('The query object has no member "addresses"');
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
  tag: Bytes,
): Pick<AddressQuery, 'after' | 'afterMempool'> {
  const value = options.get('after') ?? null;
  if (value === null) return { after: undefined, afterMempool: undefined };
  const text = getString(value);
  const cursor = asBuffer(isHex(text) ? fromHex(text) : new Uint8Array(0));
  const length = cursor.length - TAG_BYTES;
  if (length !== markBytes && (!mempool || length !== MEMPOOL_MARK_BYTES))
    throw invalid(`"after" is not a cursor returned as "next": ${text}`);
  const mark = asBuffer(withoutTag(cursor, tag, '"after"'));
  if (length === markBytes) return { after: mark, afterMempool: undefined };
  const arrival = Number(mark.readBigUInt64BE());
  return { after: undefined, afterMempool: { arrival, order: mark.readUInt32BE(8) } };
}

/** Serializes the cursor of a page that ends in the mempool. */
export function mempoolMark({ arrival, order }: MempoolMark): Buffer {
  const mark = Buffer.alloc(MEMPOOL_MARK_BYTES);
  mark.writeBigUInt64BE(BigInt(arrival));
  mark.writeUInt32BE(order, 8);
  return mark;
}

/** Returns the maximum number of entries in the result. */
export function entryLimit({ limit }: AddressQuery): number {
  return limit ?? MAX_ENTRIES;
}

/** Schema of a result that is either a list or, if "limit" is given, an object with a page of the list in the member `name`. */
export function pagedSchema(name: string, list: Schema): Schema {
  return t.union([
    { when: 'without "limit"', schema: list },
    {
      when: 'with "limit"',
      schema: t.object({ [name]: list, next: NEXT_SCHEMA }),
    },
  ]);
}

/** Formats a result according to `pagedSchema`. */
export function pagedAnswer(query: AddressQuery, name: string, list: JsonOut, next: Bytes | null): JsonOut {
  return query.limit === null ? list : { [name]: list, ...nextField(query, next) };
}

/** Returns the field `next` with the cursor of the next page; an empty object on the last page. */
export function nextField({ tag }: AddressQuery, next: Bytes | null): { next?: string } {
  return next ? { next: toHex(concatBytes(next, tag)) } : {};
}

/** Returns the query in the form that the address index expects. */
export function pageRequest(query: AddressQuery): PageRequest {
  const { after, startHeight, endHeight } = query;
  return { limit: entryLimit(query), after, startHeight, endHeight };
}

/** Throws if a result without "limit" is incomplete, because the caller would not notice the missing entries. */
export function requireWhole(query: AddressQuery, next: Bytes | null): void {
  if (query.limit !== null || next === null) return;
  throw invalid(`The result has more than ${MAX_ENTRIES} entries. Request pages with "limit" and "after"`);
}
