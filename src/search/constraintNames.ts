/** The names of constraints. Hubs pass over names that they do not know; `searchclaims` refuses them. */
import type { Constraints } from './constraints.js';
import { fieldName, searchField } from './fields.js';
import { badRequest } from './searchError.js';

/** Names that are no fields: what is read together with others, and what says how to answer. */
const OTHER_NAMES: ReadonlySet<string> = new Set([
  'text',
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
  // lbry-sdk sends it with each search.
  'no_totals',
]);

/** Throws `SearchError` for a name that no constraint has. */
export function refuseUnknownNames(constraints: Constraints): void {
  for (const given of Object.keys(constraints)) {
    const name = given.replaceAll('claim.', '').replace(/__in$/, '');
    if (!OTHER_NAMES.has(name) && searchField(fieldName(name)) === null)
      throw badRequest(`There is no constraint "${given}".`);
  }
}
