/**
 * Converts a client's constraints to a query. All constraints must hold. Null, and lists that are empty after the removal of
 * false members, count as absent. Unknown names are ignored. Invalid values result in a `SearchError` of the kind
 * `bad-request`. `channel` is not handled here: a caller that can resolve URLs replaces it by `channel_id`. Source:
 * lbryio/hub and OdyseeTeam/hub, hub/common.py `expand_query`.
 */
import { normalizeName } from '../../claimtrie/normalize.js';
import { parseLocation, placeName } from '../../metadata/locations.js';
import { isHex } from '../../util/bytes.js';
import { MetadataError } from '../../metadata/metadataError.js';
import { normalizeTag } from '../../metadata/tags.js';
import { tightestBounds } from './bounds.js';
import { readDecimal } from '../document/decimalText.js';
import { storedText } from './claimRow.js';
import { CLAIM_TYPES, MAX_KEYWORD_LENGTH, STREAM_TYPES, nameText } from '../document/document.js';
import { fieldName, searchField, type SearchField } from '../document/fields.js';
import { parseOrder } from './order.js';
import { badRequest } from './searchError.js';
import {
  languageLabel,
  placeLabel,
  tagLabel,
  type Bound,
  type Condition,
  type SearchQuery,
} from './searchQuery.js';
import { refuseBadReleaseTime } from './releaseTime.js';
import { parseTextQuery } from './textQuery.js';

export type Constraints = Readonly<Record<string, unknown>>;

/** Maximum number of items of a list. Source: hub/common.py `TooManyClaimSearchParametersError`. */
export const MAX_LIST_LENGTH = 2048;
/** Number of rows per page if the client sets no limit. */
const DEFAULT_LIMIT = 10;
/**
 * Bounds of a release time are rounded up to a multiple of this number of seconds, so that "before now" stays the same query
 * for a while and can be cached.
 */
const RELEASE_TIME_STEP_SEC = 360n;
/** Maximum number of characters of a value that an error message contains. Arbitrary. */
const SHOWN_CHARACTERS = 200;
const BEYOND_DOUBLES = '1e400';
/** Default limits of a short video: aspect ratio and duration. Source: OdyseeTeam/hub, `expand_query`. */
const SHORTS_ASPECT_RATIO = '0.95';
const SHORTS_DURATION_SEC = '180';
/**
 * Suffix of a field name with which the condition also matches claims without a value. Source: OdyseeTeam/hub,
 * `expand_query`.
 */
const OR_MISSING = /_?_or_missing$/;
const CLAIM_ID_DIGITS = 40;
const SD_HASH_DIGITS = 96;

const HEX = /^[0-9a-f]+$/;

/** Constraints that are parsed together with others or are options for the result, although a field has the same name. */
const NOT_FIELDS: ReadonlySet<string> = new Set(['signature_valid', 'has_source', 'is_signature_valid']);

/** Formats a value for an error message. Numbers from clients may exceed the range of JavaScript numbers. */
function shown(value: unknown): string {
  if (typeof value === 'bigint' || typeof value === 'number') return cut(String(value));
  const text = JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' ? String(inner) : inner,
  );
  return cut(text ?? 'the value');
}

function cut(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

function decimalText(key: string, value: unknown): string {
  // A JSON number beyond the range of doubles was parsed as infinity.
  const text =
    typeof value === 'number' || typeof value === 'bigint'
      ? String(value).replace('Infinity', BEYOND_DOUBLES)
      : value;
  const decimal = typeof text === 'string' ? readDecimal(text.trim()) : null;
  if (decimal === null) throw badRequest(`${key}: ${shown(value)} is not a number.`);
  return decimal;
}

/** Returns a decimal number multiplied by 1,000, without rounding. */
function timesThousand(decimal: string): string {
  const [whole, part = ''] = decimal.split('.') as [string, string?];
  const digits = part.padEnd(3, '0');
  const rest = digits.slice(3).replace(/0+$/, '');
  return `${whole}${digits.slice(0, 3)}${rest === '' ? '' : `.${rest}`}`;
}

function roundedReleaseTime(decimal: string): string {
  const seconds = BigInt(decimal.split('.')[0]!);
  const steps =
    seconds / RELEASE_TIME_STEP_SEC - (seconds < 0n && seconds % RELEASE_TIME_STEP_SEC !== 0n ? 1n : 0n);
  return String((steps + 1n) * RELEASE_TIME_STEP_SEC);
}

function truth(key: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  if (value === 1 || value === '1' || value === 'true') return true;
  if (value === 0 || value === '0' || value === 'false') return false;
  throw badRequest(`${key}: ${shown(value)} is neither true nor false.`);
}

function wholeNumber(key: string, value: unknown, least: number): number {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < least) {
    throw badRequest(`${key}: ${shown(value)} is not a whole number from ${least} on.`);
  }
  return number;
}

function textList(key: string, value: unknown): string[] {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.map((one) => {
    if (typeof one !== 'string') throw badRequest(`${key}: ${shown(one)} is not a string.`);
    return one;
  });
}

const numberAsText = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value);

function normalizedTags(key: string, value: unknown): string[] {
  return [...new Set(textList(key, value).map(normalizeTag))].filter((tag) => tag !== '');
}

/**
 * Returns the labels of locations. Each location is given as `country:state:city:code:latitude:longitude` or as the JSON of
 * an object with these members.
 */
function placeLabels(key: string, value: unknown): string[] {
  return textList(key, value).map((text) => {
    let name = '';
    try {
      name = placeName(parseLocation(text));
    } catch (error) {
      if (error instanceof MetadataError) throw badRequest(`${key}: ${error.message}`);
      throw error;
    }
    if (name === '') throw badRequest(`${key}: ${shown(text)} names no place.`);
    return placeLabel(storedText(name));
  });
}

/** Converts constraints one by one to conditions of a query. */
class QueryReader {
  readonly conditions: Condition[] = [];
  findsNothing = false;

  /** Adds a constraint for a document field. Labels, signatures and pages are handled by other methods. */
  addField(
    key: string,
    field: SearchField,
    name: string,
    value: unknown,
    { many, orMissing }: { readonly many: boolean; readonly orMissing: boolean },
  ): void {
    if (name === 'claim_type' || name === 'reposted_claim_type')
      return this.addNamed(key, field, CLAIM_TYPES, value, true);
    if (name === 'stream_type') return this.addNamed(key, field, STREAM_TYPES, value, false);
    if (field.type === 'bool') {
      this.conditions.push({ kind: 'bool', column: field.column, value: truth(key, value) });
      return;
    }
    if (field.type === 'id') return this.addIds(key, field, value, many);
    if (field.type === 'int' || field.type === 'real')
      return this.addNumbers(key, field, name, value, orMissing);
    const texts = textList(key, value)
      .filter((text) => text.length <= MAX_KEYWORD_LENGTH)
      .map((text) => (name === 'fee_currency' ? text.toUpperCase() : text));
    const { column } = field;
    // Zero characters are replaced in the values, because stored strings have none (`claimRow.ts`).
    if (field.type === 'key') this.addAnyOf(texts, (values) => ({ kind: 'keys', column, values }));
    else this.addAnyOf(texts.map(storedText), (values) => ({ kind: 'texts', column, values }));
  }

  /** Adds a condition that one of the values matches. Without values, the query matches nothing. */
  addAnyOf(values: readonly string[], condition: (values: readonly string[]) => Condition): void {
    const distinct = [...new Set(values)];
    if (distinct.length === 0) this.findsNothing = true;
    else this.conditions.push(condition(distinct));
  }

  private addNamed(
    key: string,
    field: SearchField,
    numbers: Readonly<Record<string, number>>,
    value: unknown,
    isStrict: boolean,
  ): void {
    const values: string[] = [];
    const known = new Set(Object.values(numbers).map(String));
    const list: unknown[] = Array.isArray(value) ? value : [value];
    // Types may be given as numbers, too, because the reference does not accept names for `reposted_claim_type`.
    for (const name of textList(key, list.map(numberAsText))) {
      if (Object.hasOwn(numbers, name)) values.push(String(numbers[name]!));
      else if (known.has(name)) values.push(name);
      else if (isStrict) throw badRequest(`${key}: there is no type ${shown(name)}.`);
    }
    this.addAnyOf(values, (types) => ({ kind: 'numbers', column: field.column, values: types }));
  }

  private addIds(key: string, field: SearchField, value: unknown, many: boolean): void {
    const digits = field.column === 'sd_hash' ? SD_HASH_DIGITS : CLAIM_ID_DIGITS;
    const ids = textList(key, value);
    const [only] = ids;
    const { column } = field;
    const isPrefix = column === 'sd_hash' || (column === 'claim_id' && (only?.length ?? 0) < digits);
    if (!many && only !== undefined && isPrefix && only.length <= digits) {
      if (HEX.test(only))
        this.conditions.push({ kind: 'idPrefix', column: column as 'claim_id', digits: only });
      else this.findsNothing = true;
      return;
    }
    const valid = ids.filter((id) => id.length === digits && HEX.test(id));
    this.addAnyOf(valid, (values) => ({ kind: 'ids', column, values }));
  }

  private addNumbers(
    key: string,
    field: SearchField,
    name: string,
    value: unknown,
    orMissing: boolean,
  ): void {
    const list: unknown[] = Array.isArray(value) ? value : [value];
    if (name === 'release_time') list.forEach(refuseBadReleaseTime);
    const hasBound = field.range === true && list.some((one) => typeof one === 'string' && /^[<>]/.test(one));
    const scale = name === 'fee_amount' ? timesThousand : (text: string) => text;
    if (!hasBound) {
      const values = list.map((one) => scale(decimalText(key, one)));
      this.addAnyOf(values, (distinct) => ({ kind: 'numbers', column: field.column, values: distinct }));
      return;
    }
    const bounds = list.map((one): Bound => {
      const [, op, number] = (typeof one === 'string' && /^([<>]=?)(.*)$/s.exec(one)) || [];
      if (op === undefined) throw badRequest(`${key}: bounds and single values cannot be mixed.`);
      const decimal = scale(decimalText(key, number));
      return {
        op: op as Bound['op'],
        value: name === 'release_time' ? roundedReleaseTime(decimal) : decimal,
      };
    });
    this.conditions.push({
      kind: 'range',
      column: field.column,
      bounds: tightestBounds(bounds),
      ...(orMissing && { orMissing }),
    });
  }

  /** Adds a constraint that does not belong to a single field. Returns false for other keys. */
  addSpecial(key: string, value: unknown): boolean {
    switch (key) {
      case 'not_channel_ids':
        this.conditions.push({ kind: 'notChannels', ids: [...new Set(textList(key, value))] });
        return true;
      case 'not_claim_id':
      case 'not_claim_ids':
        this.conditions.push({ kind: 'notClaims', ids: [...new Set(textList(key, value))] });
        return true;
      case 'any_tags':
        this.addAnyOf(normalizedTags(key, value), (tags) => labels('any', tags.map(tagLabel)));
        return true;
      case 'all_tags':
        this.conditions.push(labels('all', normalizedTags(key, value).map(tagLabel)));
        return true;
      case 'not_tags':
        this.conditions.push(labels('none', normalizedTags(key, value).map(tagLabel)));
        return true;
      case 'tags':
        this.addAnyOf(textList(key, value), (tags) => labels('any', tags.map(tagLabel)));
        return true;
      case 'languages':
        this.addAnyOf(textList(key, value), (codes) => labels('any', codes.map(languageLabel)));
        return true;
      case 'any_languages':
        this.addAnyOf(normalizedTags(key, value), (codes) => labels('any', codes.map(languageLabel)));
        return true;
      case 'all_languages':
        this.conditions.push(labels('all', textList(key, value).map(languageLabel)));
        return true;
      case 'not_languages':
        this.conditions.push(labels('none', textList(key, value).map(languageLabel)));
        return true;
      case 'any_locations':
        this.addPlaces(key, 'any', value);
        return true;
      case 'all_locations':
        this.addPlaces(key, 'all', value);
        return true;
      case 'not_locations':
        this.addPlaces(key, 'none', value);
        return true;
      case 'has_source':
        this.conditions.push({ kind: 'hasSource', value: truth(key, value) });
        return true;
      case 'has_no_source':
        this.conditions.push({ kind: 'hasSource', value: !truth(key, value) });
        return true;
      case 'invalid_channel_signature':
        if (truth(key, value))
          this.conditions.push({ kind: 'bool', column: 'is_signature_valid', value: false });
        return true;
      case 'censor_type':
        this.addCensorType(value);
        return true;
      default:
        return false;
    }
  }

  /** An empty string or an empty list contains no location, so the constraint is ignored. */
  private addPlaces(key: string, how: 'any' | 'all' | 'none', value: unknown): void {
    if (value !== '') this.conditions.push(labels(how, placeLabels(key, value)));
  }

  private addCensorType(value: unknown): void {
    const list: unknown[] = Array.isArray(value) ? value : [value];
    const tests = list.map((one) => {
      if (typeof one === 'object') throw badRequest(`censor_type: ${shown(one)} is not a number.`);
      const [, op = '', number] = /^([<>]=?)?(.*)$/s.exec(String(one))!;
      const bound = Number(decimalText('censor_type', number));
      return { op, holds: (type: number) => holds(type, op, bound) };
    });
    const all = tests.every(({ op }) => op !== '');
    const types = [0, 1, 2].filter((type) =>
      all ? tests.every((test) => test.holds(type)) : tests.some((test) => test.holds(type)),
    );
    if (types.length === 0) this.findsNothing = true;
    else this.conditions.push({ kind: 'censored', types });
  }
}

function holds(value: number, op: string, bound: number): boolean {
  if (op === '<') return value < bound;
  if (op === '<=') return value <= bound;
  if (op === '>') return value > bound;
  if (op === '>=') return value >= bound;
  return value === bound;
}

function labels(how: 'any' | 'all' | 'none', given: readonly string[]): Condition {
  return { kind: 'labels', how, labels: [...new Set(given)] };
}

/** Converts a client's constraints to a query. */
export function parseConstraints(constraints: Constraints): SearchQuery {
  const reader = new QueryReader();
  const given = new Map<string, unknown>();
  for (const [fullKey, fullValue] of Object.entries(constraints)) {
    const key = fullKey.replaceAll('claim.', '');
    let value = fullValue;
    if (Array.isArray(value)) {
      if (value.length > MAX_LIST_LENGTH) {
        throw badRequest(`${key} cant have more than ${MAX_LIST_LENGTH} items.`);
      }
      if (key !== 'order_by') value = value.filter(Boolean);
      if ((value as unknown[]).length === 0) continue;
    }
    if (value === null || value === undefined) continue;
    given.set(key, value);
  }
  for (const [fullKey, value] of given) {
    const isIn = fullKey.endsWith('__in');
    const orMissing = OR_MISSING.test(fullKey);
    const key = isIn ? fullKey.slice(0, -'__in'.length) : fullKey.replace(OR_MISSING, '');
    if (reader.addSpecial(key, value)) continue;
    if (key === 'namehex') {
      reader.addAnyOf(namesOfHex(textList(key, value)), (values) => ({
        kind: 'texts',
        column: 'normalized_name',
        values,
      }));
      continue;
    }
    const name = fieldName(key);
    const field = searchField(name);
    if (field === null || (NOT_FIELDS.has(key) && key !== 'is_signature_valid')) continue;
    if (key === 'publish_time') continue;
    if (key === 'is_controlling' && !truth(key, value)) continue;
    const asked = key === 'name' ? normalizedNames(textList(key, value)) : value;
    reader.addField(key, field, name, asked, {
      many: isIn || Array.isArray(value) || key.endsWith('_ids'),
      orMissing,
    });
  }
  addSignature(reader, given);
  addShorts(reader, given);
  const text = given.get('text') ?? '';
  if (typeof text !== 'string') throw badRequest('text: the value is not a string.');
  if (/^[*?]/.test(text)) throw badRequest('Leading wildcards are not allowed in text queries');
  const amountOrder = given.get('amount_order');
  const only = amountOrder === undefined ? 0 : wholeNumber('amount_order', amountOrder, 1);
  const perChannel = given.get('limit_claims_per_channel') ?? 0;
  return {
    conditions: reader.conditions,
    text: text === '' ? null : parseTextQuery(text),
    order: parseOrder(only > 0 ? 'effective_amount' : given.get('order_by')),
    limit: given.has('limit') ? wholeNumber('limit', given.get('limit'), 0) : DEFAULT_LIMIT,
    offset: given.has('offset') ? wholeNumber('offset', given.get('offset'), 0) : 0,
    allPages: false,
    removeDuplicates:
      given.has('remove_duplicates') && truth('remove_duplicates', given.get('remove_duplicates')),
    perChannel: Math.max(0, Math.trunc(Number(decimalText('limit_claims_per_channel', perChannel)))),
    only,
    confirmedOnly: given.has('confirmed_only') && truth('confirmed_only', given.get('confirmed_only')),
    findsNothing: reader.findsNothing,
  };
}

/**
 * Normalizes the names. A name longer than twice the indexed length is skipped, because its normalized form would still be
 * too long for the index.
 */
function normalizedNames(names: readonly string[]): string[] {
  const short = names.filter((name) => name.length <= 2 * MAX_KEYWORD_LENGTH);
  return short.map((name) => nameText(normalizeName(Buffer.from(name))));
}

/**
 * Returns the stored forms of names whose bytes are given in hex. Bytes that are not UTF-8 are never normalized, and are stored as
 * Latin-1 (`nameText`).
 */
function namesOfHex(names: readonly string[]): string[] {
  return names.flatMap((digits) => {
    if (!isHex(digits)) throw badRequest(`namehex: ${shown(digits)} is not hex.`);
    const text = storedText(nameText(normalizeName(Buffer.from(digits, 'hex'))));
    return text.length <= MAX_KEYWORD_LENGTH ? [text] : [];
  });
}

/** Adds the condition for `has_channel_signature` and `signature_valid`, which are parsed together. */
function addSignature(reader: QueryReader, given: ReadonlyMap<string, unknown>): void {
  const isSigned =
    given.has('has_channel_signature') && truth('has_channel_signature', given.get('has_channel_signature'));
  const valid = given.has('signature_valid') ? truth('signature_valid', given.get('signature_valid')) : null;
  if (isSigned) reader.conditions.push({ kind: 'signed' });
  if (valid === null) return;
  if (isSigned) reader.conditions.push({ kind: 'bool', column: 'is_signature_valid', value: valid });
  else reader.conditions.push({ kind: 'unsignedOrValid', valid });
}

/** Adds the condition for `exclude_shorts`, which is parsed together with its two limits. */
function addShorts(reader: QueryReader, given: ReadonlyMap<string, unknown>): void {
  const limitOf = (key: string, fallback: string): string =>
    given.has(key) ? decimalText(key, given.get(key)) : fallback;
  const aspectRatio = limitOf('exclude_shorts_aspect_ratio_lte', SHORTS_ASPECT_RATIO);
  const durationSec = limitOf('exclude_shorts_duration_lte', SHORTS_DURATION_SEC);
  if (!given.has('exclude_shorts') || !truth('exclude_shorts', given.get('exclude_shorts'))) return;
  reader.conditions.push({ kind: 'notShorts', aspectRatio, durationSec });
}
