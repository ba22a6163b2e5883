/** Converts the JSON of a client with search constraints to plain values, for all interfaces. */
import { JsonNumber, JsonObject, type JsonValue } from '../../util/json/json.js';
import type { Constraints } from './constraints.js';

/** Maximum length of a constraint name in characters. Comparing thousands of longer names would take long. */
const MAX_NAME_LENGTH = 64;
/** Matches integers that are kept exact. Numbers with more digits need not be exact. */
const WHOLE_NUMBER = /^-?[0-9]{1,100}$/;

/**
 * Returns the constraints as plain values. Integers of any size remain exact. If a name occurs several times, the last value
 * counts.
 */
export function givenConstraints({ entries }: JsonObject): Constraints {
  const named = entries.filter(([name]) => name.length <= MAX_NAME_LENGTH);
  return Object.fromEntries(named.map(([name, value]) => [name, plain(value)]));
}

function plain(value: JsonValue): unknown {
  if (value instanceof JsonNumber)
    return WHOLE_NUMBER.test(value.text) ? BigInt(value.text) : Number(value.text);
  if (Array.isArray(value)) return value.map(plain);
  // An object is replaced by an empty object, because no constraint accepts objects.
  return value instanceof JsonObject ? {} : value;
}
