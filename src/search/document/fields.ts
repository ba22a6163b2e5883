/** Searchable fields of a document: their columns, their comparison types, and their aliases for old clients. */

/**
 * Comparison types of fields: integers, real numbers, strings stored as a whole, strings stored as a key (equality only),
 * hex ids stored as bytes, and booleans.
 */
export type FieldType = 'int' | 'real' | 'text' | 'key' | 'id' | 'bool';

export interface SearchField {
  readonly column: string;
  readonly type: FieldType;
  /** Whether values of the field may be preceded by `<`, `<=`, `>` or `>=`. */
  readonly range?: true;
  /** Whether a document may lack the field. */
  readonly nullable?: true;
}

const int = (column: string): SearchField => ({ column, type: 'int' });
const range = (column: string, nullable?: true): SearchField => ({
  column,
  type: 'int',
  range: true,
  ...(nullable && { nullable }),
});

/**
 * Fields by the name of their constraint. Source: lbryio/hub and OdyseeTeam/hub, hub/common.py `FIELDS`, `RANGE_FIELDS`,
 * `TEXT_FIELDS`.
 */
const SEARCH_FIELDS: Readonly<Record<string, SearchField>> = {
  claim_id: { column: 'claim_id', type: 'id' },
  claim_type: int('claim_type'),
  normalized_name: { column: 'normalized_name', type: 'text' },
  tx_id: { column: 'tx_key', type: 'key' },
  tx_nout: int('tx_nout'),
  tx_num: range('tx_num'),
  tx_position: range('tx_position'),
  short_url: { column: 'short_url', type: 'key' },
  canonical_url: { column: 'canonical_url', type: 'key' },
  is_controlling: { column: 'is_controlling', type: 'bool' },
  last_take_over_height: int('last_take_over_height'),
  public_key_id: { column: 'public_key_id', type: 'text', nullable: true },
  claims_in_channel: { column: 'claims_in_channel', type: 'int', nullable: true },
  channel_id: { column: 'channel_id', type: 'id', nullable: true },
  signature: { column: 'signature_key', type: 'key', nullable: true },
  is_signature_valid: { column: 'is_signature_valid', type: 'bool' },
  amount: range('amount'),
  effective_amount: range('effective_amount'),
  support_amount: range('support_amount'),
  fee_amount: range('fee_amount', true),
  fee_currency: { column: 'fee_currency', type: 'text', nullable: true },
  height: range('height'),
  creation_height: range('creation_height'),
  activation_height: range('activation_height'),
  expiration_height: range('expiration_height'),
  stream_type: { column: 'stream_type', type: 'int', nullable: true },
  media_type: { column: 'media_type', type: 'text', nullable: true },
  title: { column: 'title', type: 'text', nullable: true },
  author: { column: 'author', type: 'text', nullable: true },
  description: { column: 'description_key', type: 'key', nullable: true },
  timestamp: range('timestamp'),
  creation_timestamp: range('creation_timestamp'),
  duration: range('duration', true),
  content_width: range('content_width', true),
  content_height: range('content_height', true),
  content_aspect_ratio: { column: 'content_aspect_ratio', type: 'real', range: true, nullable: true },
  release_time: range('release_time'),
  has_source: { column: 'has_source', type: 'bool' },
  reposted_claim_type: { column: 'reposted_claim_type', type: 'int', nullable: true },
  reposted_claim_id: { column: 'reposted_claim_id', type: 'id', nullable: true },
  is_reposted_claim_gone: { column: 'is_reposted_gone', type: 'bool' },
  repost_count: range('repost_count'),
  sd_hash: { column: 'sd_hash', type: 'id', nullable: true },
  trending_score: { column: 'trending_score', type: 'real', range: true, nullable: true },
};

/** Aliases of fields. `publish_time` is added because apps order by it, although the hub rejects it. Source: `REPLACEMENTS`. */
const FIELD_ALIASES: Readonly<Record<string, string>> = {
  claim_name: 'normalized_name',
  name: 'normalized_name',
  txid: 'tx_id',
  nout: 'tx_nout',
  trending_group: 'trending_score',
  trending_mixed: 'trending_score',
  trending_global: 'trending_score',
  trending_local: 'trending_score',
  reposted: 'repost_count',
  stream_types: 'stream_type',
  media_types: 'media_type',
  valid_channel_signature: 'is_signature_valid',
  channel_ids: 'channel_id',
  claim_ids: 'claim_id',
  publish_time: 'creation_timestamp',
};

/** Returns the name of the field for an alias. Other names are returned unchanged. */
export function fieldName(name: string): string {
  return Object.hasOwn(FIELD_ALIASES, name) ? FIELD_ALIASES[name]! : name;
}

export function searchField(name: string): SearchField | null {
  return Object.hasOwn(SEARCH_FIELDS, name) ? SEARCH_FIELDS[name]! : null;
}
