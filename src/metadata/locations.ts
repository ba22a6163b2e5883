/**
 * Locations of claims: conversion to JSON, and from the texts and objects that commands accept. Source: lbry-sdk
 * lbry/schema/attrs.py.
 */
import { create } from '@bufbuild/protobuf';
import { JsonObject, type JsonValue } from '../util/json/json.js';
import { JsonParseError, parseJson } from '../util/json/jsonParse.js';
import { decimalOf, textOf } from './arguments.js';
import { compareToInteger, formatQuotient, scaleToInteger } from './decimal.js';
import { enumNames } from './enumNames.js';
import { Location_CountrySchema, LocationSchema, type Location } from './messages/claim_pb.js';
import { MetadataError } from './metadataError.js';

/** Number of decimal places with which degrees of latitude and longitude are stored. */
const DEGREE_PLACES = 7;
const MAX_LATITUDE = 90;
const MAX_LONGITUDE = 180;
/** Parts of the text of a location, in order. `COORDINATES_FROM` is the index of the first coordinate, the latitude. */
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

/**
 * Sets the parts of a location from a text in which colons separate the parts. If the text starts with a number, it may
 * consist of the coordinates alone.
 */
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

/**
 * Parses a location from an object, from the JSON text of an object, or from `country:state:city:code:latitude:longitude`.
 * Throws `MetadataError`.
 */
export function parseLocation(value: JsonValue): Location {
  const message = create(LocationSchema);
  const parsed = typeof value === 'string' && value.startsWith('{') ? parseObject(value) : value;
  if (parsed instanceof JsonObject) for (const [name, part] of parsed.entries) setPart(message, name, part);
  else if (typeof parsed === 'string') setFromText(message, parsed);
  else throw new MetadataError('A location is neither a string nor an object');
  return message;
}

/** Characters that separate the parts of a location's key. */
const SEPARATORS = /[:@]/g;

function countryName(number: number): string {
  try {
    return number === 0 ? '' : countries.nameOf(number);
  } catch {
    return String(number);
  }
}

/**
 * Key by which locations are compared: `country:state:city:code@latitude,longitude`. Empty parts at the end and zero
 * coordinates are omitted. The coordinates are degrees times 10,000,000. The key of an empty location is empty.
 */
export function placeName({ country, state, city, code, latitude, longitude }: Location): string {
  const parts = [countryName(country), state, city, code].map((part) => part.replace(SEPARATORS, ' ').trim());
  while (parts.at(-1) === '') parts.pop();
  const path = parts.join(':');
  return latitude === 0 && longitude === 0 ? path : `${path}@${latitude},${longitude}`;
}

/**
 * Keys of a location and of the larger locations that contain it. A location with coordinates also has a key that consists
 * only of the coordinates.
 */
export function placesAround(name: string): string[] {
  const [path = '', point] = name.split('@');
  const parts = path.split(':');
  const around = parts
    .map((_part, at) => parts.slice(0, at + 1).join(':'))
    .filter((_, at) => parts[at] !== '');
  return point === undefined ? around : [...new Set([...around, name, `@${point}`])];
}

/** Formats degrees as a text; null for zero, which cannot be distinguished from a missing value. */
export function formatDegrees(value: number): string | null {
  return value === 0 ? null : formatQuotient(BigInt(value), DEGREE_PLACES);
}
