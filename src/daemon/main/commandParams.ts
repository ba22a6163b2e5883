/**
 * Converts command-line words to parameters of a call. Source: lbry-sdk lbry/extras/cli.py `set_kwargs`, `normalize_value`.
 */
import { JsonObject, rawNumber, type JsonValue } from '../../util/json/json.js';
import type { MethodDeclaration } from '../api/declaration.js';
import { UsageError, UsagePattern, type UsageValues } from './usagePattern.js';

/** Parameters whose values are always sent as text, even if they look like numbers. */
const TEXTS: ReadonlySet<string> = new Set([
  'uri',
  'channel_name',
  'name',
  'file_name',
  'claim_name',
  'download_directory',
]);

/**
 * Pattern of words that Python's `isdigit` accepts: decimal digits, and other digits such as `²`. Source: Unicode,
 * Numeric_Type=Digit.
 */
const OTHER_DIGITS =
  /^[\p{Nd}\u00b2\u00b3\u00b9\u1369-\u1371\u19da\u2070\u2074-\u2079\u2080-\u2089\u2460-\u2468\u2474-\u247c\u2488-\u2490\u24ea\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792]+$/u;

/** Value of a decimal digit of any script. Unicode has these digits in runs of ten that start with zero. */
function digitOf(character: string): string {
  const code = character.codePointAt(0)!;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String(code - zero);
}

function valueOf(word: string, name: string): JsonValue {
  if (TEXTS.has(name)) return word;
  const lower = word.toLowerCase();
  if (lower === 'true' || lower === 'false') return lower === 'true';
  if (/^\p{Nd}+$/u.test(word))
    return rawNumber(
      Array.from(word, digitOf)
        .join('')
        .replace(/^0+(?=.)/, ''),
    );
  if (OTHER_DIGITS.test(word)) throw new UsageError(`'${word}' is neither a number nor a valid text`);
  return word;
}

/** Builds `params` from the parsed words. An absent list is sent as an empty list, and an absent flag as false. */
function paramsOf(values: UsageValues): JsonObject {
  const params = new Map<string, JsonValue>();
  for (const [key, value] of values) {
    if (value === null) continue;
    const name = key.startsWith('--') ? key.slice(2) : key.slice(1, -1);
    if (params.has(name)) continue;
    params.set(name, typeof value === 'string' ? valueOf(value, name) : (value as JsonValue));
  }
  return new JsonObject([...params]);
}

/** Parses the `params` of the call. Throws `UsageError`. */
export function readCommandParams(declaration: MethodDeclaration, words: readonly string[]): JsonObject {
  return paramsOf(new UsagePattern(declaration.usage.join(' ')).match(words));
}
