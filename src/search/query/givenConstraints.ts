/** The constraints of a search from a client's JSON as plain values, for all interfaces. */
import { JsonNumber, JsonObject, type JsonValue } from '../../util/json/json.js';
import type { Constraints } from './constraints.js';

/** Maximum length of a constraint name. Comparing thousands of long ones would take long. */
const MAX_NAME_LENGTH = 64;
/** Numbers with more digits need not be exact. */
const WHOLE_NUMBER = /^-?[0-9]{1,100}$/;

/** Integers of any size remain exact; of several constraints with the same name the last one counts. */
export function givenConstraints({ entries }: JsonObject): Constraints {
  const named = entries.filter(([name]) => name.length <= MAX_NAME_LENGTH);
  return Object.fromEntries(named.map(([name, value]) => [name, plain(value)]));
}

function plain(value: JsonValue): unknown {
  if (value instanceof JsonNumber)
    return WHOLE_NUMBER.test(value.text) ? BigInt(value.text) : Number(value.text);
  if (Array.isArray(value)) return value.map(plain);
  // No constraint accepts an object, whatever its members.
  return value instanceof JsonObject ? {} : value;
}
