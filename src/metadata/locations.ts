/** Locations of claims: their JSON, and the texts and objects that commands accept. Source: lbry-sdk lbry/schema/attrs.py. */
import { create } from '@bufbuild/protobuf';
import { JsonObject, type JsonValue } from '../util/json/json.js';
import { JsonParseError, parseJson } from '../util/json/jsonParse.js';
import { decimalOf, textOf } from './arguments.js';
import { compareToInteger, formatQuotient, scaleToInteger } from './decimal.js';
import { enumNames } from './enumNames.js';
import { Location_CountrySchema, LocationSchema, type Location } from './messages/claim_pb.js';
import { MetadataError } from './metadataError.js';

/** Decimal places with which degrees are stored. */
const DEGREE_PLACES = 7;
const MAX_LATITUDE = 90;
const MAX_LONGITUDE = 180;
/** The parts of a location text, in order. */
const PARTS = ['country', 'state', 'city', 'code', 'latitude', 'longitude'] as const;
const COORDINATES_FROM = 4;

const countries = enumNames(Location_CountrySchema);

function degreesOf(value: JsonValue, name: string, max: number): number {
  const degrees = decimalOf(value, name);
  if (compareToInteger(degrees, max) > 0 || compareToInteger(degrees, -max) < 0)
    throw new MetadataError(`${name} must be between -${max} and ${max} degrees.`);
  return Number(scaleToInteger(degrees, DEGREE_PLACES));
}

function setPart(message: Location, name: string, value: JsonValue): void {
  switch (name) {
    case 'country':
      message.country = countries.numberOf(textOf(value, name));
      return;
    case 'state':
    case 'city':
    case 'code':
      message[name] = textOf(value, name);
      return;
    case 'latitude':
      message.latitude = degreesOf(value, 'Latitude', MAX_LATITUDE);
      return;
    case 'longitude':
      message.longitude = degreesOf(value, 'Longitude', MAX_LONGITUDE);
      return;
    default:
      throw new MetadataError(`A location has no ${name}`);
  }
}

/** Parts are separated by colons; those before the coordinates may be omitted if the text begins with a number. */
function setFromText(message: Location, text: string): void {
  const values = text.split(':');
  const names = values.length > 2 || /^[A-Za-z]/.test(text) ? PARTS : PARTS.slice(COORDINATES_FROM);
  for (const [i, name] of names.entries()) {
    const value = values[i];
    if (value !== undefined && value !== '') setPart(message, name, value);
  }
}

function parseObject(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonParseError) throw new MetadataError('A location is not valid JSON');
    throw error;
  }
}

/** Parses an object, its JSON text, or `country:state:city:code:latitude:longitude`. Throws `MetadataError`. */
export function parseLocation(value: JsonValue): Location {
  const message = create(LocationSchema);
  const parsed = typeof value === 'string' && value.startsWith('{') ? parseObject(value) : value;
  if (parsed instanceof JsonObject) for (const [name, part] of parsed.entries) setPart(message, name, part);
  else if (typeof parsed === 'string') setFromText(message, parsed);
  else throw new MetadataError('A location is neither a text nor an object');
  return message;
}

/** Separators between parts. */
const SEPARATORS = /[:@]/g;

function countryName(number: number): string {
  try {
    return number === 0 ? '' : countries.nameOf(number);
  } catch {
    return String(number);
  }
}

/**
 * The key by which locations are compared: `country:state:city:code@latitude,longitude`, limited to the parts that exist,
 * degrees times 10,000,000. Empty for an empty location.
 */
export function placeName({ country, state, city, code, latitude, longitude }: Location): string {
  const parts = [countryName(country), state, city, code].map((part) => part.replace(SEPARATORS, ' ').trim());
  while (parts.at(-1) === '') parts.pop();
  const path = parts.join(':');
  return latitude === 0 && longitude === 0 ? path : `${path}@${latitude},${longitude}`;
}

/** A location and the larger ones that contain it, as keys; a point also by its coordinates alone. */
export function placesAround(name: string): string[] {
  const [path = '', point] = name.split('@');
  const parts = path.split(':');
  const around = parts
    .map((_part, at) => parts.slice(0, at + 1).join(':'))
    .filter((_, at) => parts[at] !== '');
  return point === undefined ? around : [...new Set([...around, name, `@${point}`])];
}

/** Degrees as text; null for zero, which cannot be distinguished from a missing value. */
export function formatDegrees(value: number): string | null {
  return value === 0 ? null : formatQuotient(BigInt(value), DEGREE_PLACES);
}
