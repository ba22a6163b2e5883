/**
 * Converts parameters of `claim_search` to the hub's form. Hubs ignore unknown parameters. Source: lbry-sdk
 * lbry/extras/daemon/daemon.py `jsonrpc_claim_search`.
 */
import { isJsonNumber, JsonObject, numberText, type JsonValue } from '../../util/json/json.js';
import { DaemonError } from '../base/daemonError.js';

export type ClaimSearchQuery = Record<string, unknown>;

/** Maximum length of a list parameter. Source: lbryio/hub hub/common.py `expand_query`. */
const MAX_LIST_LENGTH = 2048;

/** Parameters that the daemon itself uses and does not send to the hub. */
const NOT_FOR_HUBS: ReadonlySet<string> = new Set([
  'others',
  'page',
  'page_size',
  'wallet_id',
  'no_totals',
  'include_purchase_receipt',
  'include_is_my_output',
  'new_sdk_server',
  'valid_channel_signature',
  'invalid_channel_signature',
  'has_source',
  'has_no_source',
  'order_by',
  'remove_duplicates',
]);

/** Matches the names of parameters that hubs require as lists, even for one value. */
const LISTS =
  /^(?:claim_ids|(?:not_)?channel_ids|stream_types|media_types|(?:any|all|not)_(?:tags|languages|locations))$/;
const OLD_TRENDING: ReadonlySet<string> = new Set([
  'trending_mixed',
  'trending_local',
  'trending_global',
  'trending_group',
]);

/**
 * Builds the hub's query. `args` are the declared parameters of the call, `others` the undeclared ones. Throws
 * `ConflictingInputValueError`, `TooManyClaimSearchParametersError`.
 */
export function searchQuery(
  args: Readonly<Record<string, unknown>>,
  others: ReadonlyMap<string, JsonValue>,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): ClaimSearchQuery {
  const query: ClaimSearchQuery = {};
  for (const [name, value] of others) if (value !== null) query[name] = plain(value);
  for (const [name, value] of Object.entries(args)) {
    if (value === undefined || NOT_FOR_HUBS.has(name)) continue;
    query[name] = LISTS.test(name) || !Array.isArray(value) ? value : unwrapped(name, value as string[]);
  }
  if (query['claim_id'] !== undefined && query['claim_ids'] !== undefined)
    throw new DaemonError(
      'ConflictingInputValueError',
      "Only 'claim_id' or 'claim_ids' is allowed, not both.",
    );
  if (args['valid_channel_signature']) query['signature_valid'] = 1;
  if (args['invalid_channel_signature']) query['signature_valid'] = 0;
  if (args['remove_duplicates']) query['remove_duplicates'] = true;
  const hasSource = sourceOf(args['has_source'], args['has_no_source']);
  if (hasSource !== undefined) query['has_source'] = hasSource;
  const order = args['order_by'] as readonly string[] | undefined;
  if (order !== undefined)
    query['order_by'] = [
      ...new Set(order.map((field) => (OLD_TRENDING.has(field) ? 'trending_score' : field))),
    ];
  for (const [name, value] of Object.entries(query))
    if (Array.isArray(value) && value.length > MAX_LIST_LENGTH)
      throw new DaemonError(
        // lbry-sdk gets this error from the hub, so the error has the name of hub errors.
        'RPCError',
        `${name} cant have more than ${MAX_LIST_LENGTH} items.`,
      );
  return { ...query, offset, limit };
}

/** Combines `has_source` and `has_no_source`. The command line sends false for both, which means no condition. */
function sourceOf(hasSource: unknown, hasNoSource: unknown): boolean | undefined {
  if (hasSource === false && hasNoSource === false) return undefined;
  return typeof hasNoSource === 'boolean' ? !hasNoSource : (hasSource as boolean | undefined);
}

/** Parameters that hubs accept only as text, even for numbers. */
const TEXTS: ReadonlySet<string> = new Set(['release_time', 'claim_type', 'fee_currency']);

/** Converts values to numbers where possible. A list of one value becomes the value itself, as hubs require. */
function unwrapped(name: string, values: readonly string[]): unknown {
  const read = values.map((text) => {
    const number = TEXTS.has(name) ? NaN : Number(text);
    return Number.isFinite(number) && String(number) === text ? number : text;
  });
  return read.length === 1 ? read[0] : read;
}

/** Converts parsed JSON to plain JavaScript values. */
function plain(value: JsonValue): unknown {
  if (isJsonNumber(value)) return Number(numberText(value));
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof JsonObject)
    return Object.fromEntries(value.entries.map(([key, inner]) => [key, plain(inner)]));
  return value;
}
