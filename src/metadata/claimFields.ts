/**
 * Sets the fields of a claim from the arguments of commands that create and update claims. Fields without an argument stay
 * unchanged; items are appended to a list, unless an argument clears the list first. Source: lbry-sdk lbry/schema/claim.py
 * `update`, attrs.py.
 */
import { clone, create } from '@bufbuild/protobuf';
import type { JsonObject, JsonValue } from '../util/json/json.js';
import { Arguments, hexOf, textOf } from './arguments.js';
import type { DecodedKind } from './claim.js';
import { parseLanguage } from './languages.js';
import { parseLocation } from './locations.js';
import {
  ChannelSchema,
  ClaimListSchema,
  ClaimReferenceSchema,
  ClaimSchema,
  StreamSchema,
  type Channel,
  type Claim,
  type ClaimReference,
} from './messages/claim_pb.js';
import { MetadataError } from './metadataError.js';
import { setSource } from './sourceFields.js';
import { setStreamFields } from './streamFields.js';
import { normalizeTag } from './tags.js';

/**
 * Sets a list field. Clears the list first if `clear_<name>` is given. Then calls `add` for the given text or, if a list is
 * given, for each item.
 */
function setList(args: Arguments, name: string, clear: () => void, add: (item: JsonValue) => void): void {
  if (args.takeFlag(`clear_${name}`)) clear();
  const items = args.take(name);
  if (items === undefined) return;
  if (typeof items === 'string') add(items);
  else if (Array.isArray(items)) items.forEach(add);
  else throw new MetadataError(`${name} must be a string or a list`);
}

/** Creates a reference to the claim with this printed id. */
function referenceTo(claimId: JsonValue, name: string): ClaimReference {
  return create(ClaimReferenceSchema, { claimHash: hexOf(claimId, name).reverse() });
}

function addTag(tags: string[], item: JsonValue): void {
  const tag = normalizeTag(textOf(item, 'tag'));
  if (tag !== '' && !tags.includes(tag)) tags.push(tag);
}

function setCommon(claim: Claim, args: Arguments): void {
  const thumbnail = setSource(claim.thumbnail, args, 'thumbnail_');
  if (thumbnail !== undefined) claim.thumbnail = thumbnail;
  const { tags, languages, locations } = claim;
  setList(
    args,
    'tags',
    () => tags.splice(0),
    (item) => addTag(tags, item),
  );
  setList(
    args,
    'languages',
    () => languages.splice(0),
    (item) => languages.push(parseLanguage(textOf(item, 'language'))),
  );
  setList(
    args,
    'locations',
    () => locations.splice(0),
    (item) => locations.push(parseLocation(item)),
  );
  for (const name of ['title', 'description'] as const) {
    const value = args.take(name);
    if (value !== undefined) claim[name] = textOf(value, name);
  }
}

function setChannelFields(channel: Channel, args: Arguments): void {
  const cover = setSource(channel.cover, args, 'cover_');
  if (cover !== undefined) channel.cover = cover;
  setList(
    args,
    'featured',
    () => channel.featured?.claimReferences.splice(0),
    (item) =>
      (channel.featured ??= create(ClaimListSchema)).claimReferences.push(referenceTo(item, 'featured')),
  );
  for (const [name, field] of [
    ['email', 'email'],
    ['website_url', 'websiteUrl'],
  ] as const) {
    const value = args.take(name);
    if (value !== undefined) channel[field] = textOf(value, name);
  }
  const key = args.take('public_key');
  if (key !== undefined) channel.publicKey = hexOf(key, 'public_key');
}

/** Creates an empty message of a kind of claim. */
function typeOf(kind: DecodedKind): Claim['type'] {
  switch (kind) {
    case 'stream':
      return { case: kind, value: create(StreamSchema) };
    case 'channel':
      return { case: kind, value: create(ChannelSchema) };
    case 'collection':
      return { case: kind, value: create(ClaimListSchema) };
    case 'repost':
      return { case: kind, value: create(ClaimReferenceSchema) };
  }
}

/** Creates a claim of a kind without fields. */
export function newClaim(kind: DecodedKind): Claim {
  return create(ClaimSchema, { type: typeOf(kind) });
}

export interface SetFieldsOptions {
  /** File extension that was detected from the content of the stream's file; null if unknown. */
  readonly contentExtension?: string | null;
}

/**
 * Returns a copy of the claim with the arguments set. The argument names are those of LBRY's daemon. Unknown fields of the
 * claim are kept. Additional arguments are `public_key` of a channel and `reposted_claim_id` of a repost, in hex. A file is
 * described by `file_name`, `file_size`, `file_hash` and `sd_hash`. Throws `MetadataError` for null, for arguments that the
 * kind does not have, and for invalid values.
 */
export function setClaimFields(
  claim: Claim,
  values: JsonObject,
  { contentExtension = null }: SetFieldsOptions = {},
): Claim {
  const changed = clone(ClaimSchema, claim);
  const args = new Arguments(values);
  const { type } = changed;
  if (type.case === undefined) throw new MetadataError('The claim has no type');
  if (type.case === 'stream') setStreamFields(type.value, args, contentExtension);
  args.requireNoNulls();
  setCommon(changed, args);
  if (type.case === 'channel') setChannelFields(type.value, args);
  if (type.case === 'collection') {
    const { claimReferences } = type.value;
    setList(
      args,
      'claims',
      () => claimReferences.splice(0),
      (item) => claimReferences.push(referenceTo(item, 'claims')),
    );
  }
  if (type.case === 'repost') {
    const claimId = args.take('reposted_claim_id');
    if (claimId !== undefined) type.value.claimHash = hexOf(claimId, 'reposted_claim_id').reverse();
  }
  args.requireNoneLeft(type.case);
  return changed;
}
