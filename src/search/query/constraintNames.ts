/** Names of search constraints. The hub logs a warning for unknown names; `searchclaims` rejects them. */
import { fieldName, searchField } from '../document/fields.js';
import { badRequest } from './searchError.js';

/** Maximum number of characters of a constraint name that an error message contains. Arbitrary. */
const MAX_SHOWN = 100;

/**
 * Names of constraints that are not document fields: constraints that are parsed together with others, and options for the
 * result.
 */
const OTHER_NAMES: ReadonlySet<string> = new Set([
  'text',
  'namehex',
  'channel',
  'claim_ids',
  'channel_ids',
  'not_channel_ids',
  'not_claim_id',
  'not_claim_ids',
  'tags',
  'any_tags',
  'all_tags',
  'not_tags',
  'languages',
  'any_languages',
  'all_languages',
  'not_languages',
  'any_locations',
  'all_locations',
  'not_locations',
  'has_channel_signature',
  'signature_valid',
  'invalid_channel_signature',
  'censor_type',
  'order_by',
  'amount_order',
  'limit',
  'offset',
  'remove_duplicates',
  'limit_claims_per_channel',
  'has_no_source',
  'confirmed_only',
  'exclude_shorts',
  'exclude_shorts_aspect_ratio_lte',
  'exclude_shorts_duration_lte',
  // lbry-sdk sends this option with each search. It has no effect, because totals are always computed.
  'no_totals',
]);

/** Returns those of the given names that are not search constraints. */
export function unknownNames(names: Iterable<string>): string[] {
  return [...names].filter((given) => {
    const name = given.replaceAll('claim.', '').replace(/__in$|_?_or_missing$/, '');
    return !OTHER_NAMES.has(name) && searchField(fieldName(name)) === null;
  });
}

/** Throws `SearchError` if one of the names is not a constraint. */
export function refuseUnknownNames(names: Iterable<string>): void {
  const [first] = unknownNames(names);
  if (first !== undefined) throw badRequest(`The constraint "${first.slice(0, MAX_SHOWN)}" does not exist.`);
}
