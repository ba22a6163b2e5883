/** Converts claims in the JSON format of 2016 to current messages. Source: lbry-sdk lbry/schema/compat.py. */
import { create } from '@bufbuild/protobuf';
import type { Bytes } from '../util/bytes.js';
import { isJsonNumber, JsonObject, numberText, type JsonValue } from '../util/json/json.js';
import { decodeUtf8, JsonParseError, parseJson } from '../util/json/jsonParse.js';
import { decimalOf, hexOf, textOf } from './arguments.js';
import { parseFeeAddress, setFeeAmount } from './fee.js';
import { setLanguage } from './languages.js';
import {
  ClaimSchema,
  FeeSchema,
  LanguageSchema,
  SourceSchema,
  StreamSchema,
  type Claim,
  type Fee,
  type Language,
} from './messages/claim_pb.js';
import { MetadataError } from './metadataError.js';
import { MATURE_TAG } from './tags.js';

const OPENING_BRACE = 0x7b;
/** Maximum number of values in the JSON. Arbitrary: far more than a claim script can contain. */
const MAX_VALUES = 10_000;

/** Whether the value starts like a claim of 2016. */
export const isLegacyJson = (value: Bytes): boolean => value[0] === OPENING_BRACE;

function parse(value: Bytes): JsonObject {
  const text = decodeUtf8(value);
  try {
    const parsed = text === null ? null : parseJson(text, MAX_VALUES);
    if (parsed instanceof JsonObject) return parsed;
  } catch (error) {
    if (!(error instanceof JsonParseError)) throw error;
  }
  throw new MetadataError('The value is not valid JSON');
}

/** Value of a member. If several members have the name, the last one counts. Undefined if no member has it. */
function last(object: JsonObject, name: string): JsonValue | undefined {
  return object.entries.findLast(([key]) => key === name)?.[1];
}

/** Whether Python treats the value as true. */
function isTruthy(value: JsonValue | undefined): value is JsonValue {
  if (value === undefined || value === null || value === '' || value === false) return false;
  if (isJsonNumber(value)) return Number(numberText(value)) !== 0;
  if (Array.isArray(value)) return value.length > 0;
  return !(value instanceof JsonObject) || value.size > 0;
}

function objectOf(value: JsonValue | undefined, name: string): JsonObject {
  if (!(value instanceof JsonObject)) throw new MetadataError(`${name} is missing`);
  return value;
}

function required(object: JsonObject, name: string): JsonValue {
  const value = last(object, name);
  if (value === undefined) throw new MetadataError(`${name} is missing`);
  return value;
}

/** Converts a language. For an unknown language the result is empty, or has only the parts of the tag that are known. */
function convertLanguage(value: JsonValue): Language {
  const text = textOf(value, 'language');
  const message = create(LanguageSchema);
  try {
    setLanguage(message, text.toLowerCase() === 'english' ? 'en' : text);
  } catch (error) {
    if (!(error instanceof MetadataError)) throw error;
  }
  return message;
}

function convertFee(fee: JsonObject): Fee {
  const currency = fee.keys()[0];
  if (currency === undefined) throw new MetadataError('The fee has no currency');
  const price = objectOf(last(fee, currency), currency);
  const message = create(FeeSchema);
  setFeeAmount(message, currency, decimalOf(required(price, 'amount'), 'amount'));
  message.address = parseFeeAddress(textOf(required(price, 'address'), 'address'));
  return message;
}

/** The converted claim. Throws `MetadataError` if a field is missing or has the wrong type. */
export function convertLegacyJson(value: Bytes): Claim {
  const old = parse(value);
  const text = (name: string): string =>
    textOf(last(old, name) ?? (last(old, name) === null ? null : ''), name);
  const contentType =
    last(old, 'content_type') !== undefined ? last(old, 'content_type') : last(old, 'content-type');
  const source = create(SourceSchema, {
    sdHash: hexOf(required(objectOf(last(old, 'sources'), 'sources'), 'lbry_sd_hash'), 'lbry_sd_hash'),
    mediaType: isTruthy(contentType) ? textOf(contentType, 'content_type') : 'application/octet-stream',
  });
  const stream = create(StreamSchema, {
    source,
    author: text('author'),
    license: text('license'),
    licenseUrl: text('license_url'),
  });
  const claim = create(ClaimSchema, {
    type: { case: 'stream', value: stream },
    title: text('title'),
    description: text('description'),
  });
  const thumbnail = last(old, 'thumbnail');
  if (isTruthy(thumbnail)) claim.thumbnail = create(SourceSchema, { url: textOf(thumbnail, 'thumbnail') });
  const language = last(old, 'language');
  if (isTruthy(language)) claim.languages.push(convertLanguage(language));
  if (isTruthy(last(old, 'nsfw'))) claim.tags.push(MATURE_TAG);
  const fee = last(old, 'fee');
  if (fee instanceof JsonObject) stream.fee = convertFee(fee);
  return claim;
}
