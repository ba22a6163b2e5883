/**
 * Claims, supports and purchases as JSON, as LBRY's daemon API returns them under `value`. The names of fields and their
 * order are those of the messages. Source: lbry-sdk lbry/schema/claim.py `to_dict`, json_response_encoder.py.
 */
import { toJson } from '@bufbuild/protobuf';
import { hash160 } from '../crypto/hash.js';
import { encodeDestination, type AddressPrefixes } from '../script/address.js';
import { hashToHex, toHex } from '../util/bytes.js';
import type { JsonOut } from '../util/json/jsonWrite.js';
import { channelPublicKey } from './channelSignature.js';
import type { DecodedClaim } from './claim.js';
import { formatFeeAddress, formatFeeAmount } from './fee.js';
import { formatLanguage } from './languages.js';
import { formatDegrees } from './locations.js';
import { streamKindOf } from './mediaTypes.js';
import {
  ClaimSchema,
  PurchaseSchema,
  SupportSchema,
  type Channel,
  type ClaimReference,
  type Location,
  type Purchase,
  type Stream,
  type Support,
} from './messages/claim_pb.js';
import { MetadataError } from './metadataError.js';

/** JSON object with own properties in a defined order. */
type Json = Record<string, JsonOut>;

const idsOf = (references: readonly ClaimReference[]): string[] =>
  references.map(({ claimHash }) => hashToHex(claimHash));

function showLocation(json: Json, { latitude, longitude }: Location): void {
  const [latitudeText, longitudeText] = [formatDegrees(latitude), formatDegrees(longitude)];
  if (latitudeText !== null) json['latitude'] = latitudeText;
  if (longitudeText !== null) json['longitude'] = longitudeText;
}

function showStream(json: Json, { source, fee }: Stream): void {
  if (source !== undefined) {
    const shown = json['source'] as Json;
    if ('hash' in shown) shown['hash'] = toHex(source.hash);
    // QUIRK: if the descriptor's hash is present, the torrent hash (`bt_infohash`) stays in base64.
    if ('sd_hash' in shown) shown['sd_hash'] = toHex(source.sdHash);
    else if ('bt_infohash' in shown) shown['bt_infohash'] = toHex(source.btInfohash);
    if ('media_type' in shown) json['stream_type'] = streamKindOf(source.mediaType);
  }
  if (fee !== undefined) {
    const shown = json['fee'] as Json;
    if ('address' in shown) shown['address'] = formatFeeAddress(fee.address);
    if ('amount' in shown) shown['amount'] = formatFeeAmount(fee);
  }
}

function showChannel(json: Json, channel: Channel, prefixes: AddressPrefixes | null): void {
  const key = channelPublicKey(channel.publicKey);
  if (key === null) throw new MetadataError('The public key of the channel cannot be read');
  json['public_key'] = toHex(key);
  if (channel.featured !== undefined) json['featured'] = idsOf(channel.featured.claimReferences);
  if (prefixes !== null)
    json['public_key_id'] = encodeDestination({ type: 'pubkeyhash', hash: hash160(key) }, prefixes);
}

/** Removes a member from the object. Returns whether the member existed. */
function take(json: Json, name: string): boolean {
  const has = name in json;
  delete json[name];
  return has;
}

/**
 * The claim as JSON: the fields common to all kinds, then those of its kind. `prefixes` are the address prefixes of the
 * network, for the address of a channel's key; without them the address is omitted. Throws `MetadataError` if the claim has
 * no kind, a key is invalid, or a language, region or currency has no name.
 */
export function claimToJson(
  { claim }: Pick<DecodedClaim, 'claim'>,
  prefixes: AddressPrefixes | null = null,
): Record<string, JsonOut> {
  const { type } = claim;
  if (type.case === undefined) throw new MetadataError('The claim has no type');
  const whole = toJson(ClaimSchema, claim, { useProtoFieldName: true }) as unknown as Json;
  const { [type.case]: own, ...common } = whole;
  const json: Json = { ...common, ...(own as Json) };
  if (claim.languages.length > 0) json['languages'] = claim.languages.map(formatLanguage);
  claim.locations.forEach((location, i) => showLocation((json['locations'] as Json[])[i]!, location));
  switch (type.case) {
    case 'stream':
      showStream(json, type.value);
      break;
    case 'channel':
      showChannel(json, type.value, prefixes);
      break;
    case 'repost':
      if (take(json, 'claim_hash')) json['claim_id'] = hashToHex(type.value.claimHash);
      break;
    case 'collection':
      if (take(json, 'claim_references')) json['claims'] = idsOf(type.value.claimReferences);
      break;
  }
  return json;
}

/** Converts the data of a support to JSON. */
export function supportToJson(support: Support): Record<string, JsonOut> {
  return toJson(SupportSchema, support) as Json;
}

/** JSON of a purchase in the reference's schema, with `claimHash` in base64. The API itself returns the claim's id instead. */
export function purchaseToJson(purchase: Purchase): Record<string, JsonOut> {
  return toJson(PurchaseSchema, purchase) as Json;
}
