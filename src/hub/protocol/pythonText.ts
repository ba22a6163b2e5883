/** Formats values of requests in the way in which the reference formats them in its messages. */
import type { JsonValue } from '../../util/json/json.js';
import { stringifyJson } from '../../util/json/jsonStream.js';

/** Maximum length of the text of a list or object in an error message. Arbitrary. */
const MAX_TEXT = 1000;

/** Text of a value as Python's `str` formats it. Lists and objects are shown as truncated JSON. */
export function pythonText(value: JsonValue): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.length > MAX_TEXT) return '[…]';
  const text = stringifyJson(value);
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

/** Formats a number with commas between groups of three digits. */
export function withCommas(value: number): string {
  return value.toString().replace(/\B(?=(\d{3})+$)/g, ',');
}
