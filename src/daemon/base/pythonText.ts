/** Parsed JSON as Python's `str` and `repr` show it, which messages of lbry-sdk quote. Source: CPython Objects/unicodeobject.c. */
import { isJsonNumber, numberText, type JsonObject, type JsonValue } from '../../util/json/json.js';
import { pythonNumber } from './pythonJson.js';

/**
 * Characters for which Python's `str.isprintable` is false: control, format, surrogate, private and unassigned characters,
 * and all spaces except the ASCII space.
 */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}\p{Zs}]/u;
const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

function escapeOf(code: number): string {
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}

function reprOfText(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let out = quote;
  for (const character of text) {
    const short = SHORT_ESCAPES.get(character);
    if (short !== undefined) out += short;
    else if (character === quote) out += `\\${quote}`;
    else if (character !== ' ' && UNPRINTABLE.test(character)) out += escapeOf(character.codePointAt(0)!);
    else out += character;
  }
  return out + quote;
}

/** Python's `repr`. */
export function pythonRepr(value: JsonValue): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return reprOfText(value);
  if (isJsonNumber(value)) return pythonNumber(numberText(value));
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`;
  return reprOfObject(value);
}

function reprOfObject(value: JsonObject): string {
  const members = [...new Map(value.entries)];
  return `{${members.map(([key, inner]) => `${reprOfText(key)}: ${pythonRepr(inner)}`).join(', ')}}`;
}

/** Python's `str`. */
export const pythonStr = (value: JsonValue): string =>
  typeof value === 'string' ? value : pythonRepr(value);
