/** The constraints of a search as a client's JSON has them, as plain values: the same for all ways by which they come. */
import { JsonNumber, JsonObject, type JsonValue } from '../../util/json/json.js';
import type { Constraints } from './constraints.js';

/** No constraint has a longer name. Thousands of long ones would take long to be distinguished. */
const MAX_NAME_LENGTH = 64;
/** Numbers of more digits need not be exact. */
const WHOLE_NUMBER = /^-?[0-9]{1,100}$/;

/** Whole numbers of any size stay exact; of several constraints of a name the last counts. */
export function givenConstraints({ entries }: JsonObject): Constraints {
  const named = entries.filter(([name]) => name.length <= MAX_NAME_LENGTH);
  return Object.fromEntries(named.map(([name, value]) => [name, plain(value)]));
}

function plain(value: JsonValue): unknown {
  if (value instanceof JsonNumber)
    return WHOLE_NUMBER.test(value.text) ? BigInt(value.text) : Number(value.text);
  if (Array.isArray(value)) return value.map(plain);
  // No constraint takes one, whatever its members are.
  return value instanceof JsonObject ? {} : value;
}
