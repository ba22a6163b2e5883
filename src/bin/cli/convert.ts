/** Converts the words of a command line into the parameters of a call. Source: `RPCConvertValues`, `RPCConvertNamedValues`. */
import { JsonObject, type JsonValue } from '../../util/json/json.js';
import { JsonParseError, parseJson } from '../../util/json/jsonParse.js';
import { CONVERSIONS, type Conversion } from './convertTable.js';

/** Error: the command cannot be sent. The message is for the user. */
export class CliError extends Error {
  override readonly name = 'CliError';
}

/** Converts words whose position in the list is the position of the parameter. */
export function convertPositional(method: string, words: readonly string[]): JsonValue[] {
  const conversions = conversionsOf(method);
  return words.map((word, index) =>
    convertWord(word, conversions.find((conversion) => conversion[0] === index)?.[2]),
  );
}

/** Converts words of the form `name=value`. */
export function convertNamed(method: string, words: readonly string[]): JsonObject {
  const conversions = conversionsOf(method);
  const entries = new Map<string, JsonValue>();
  for (const word of words) {
    const equals = word.indexOf('=');
    if (equals < 0) {
      throw new CliError(
        `No '=' in named argument '${word}', this needs to be present for every argument (even if it is empty)`,
      );
    }
    const name = word.slice(0, equals);
    const conversion = conversions.find(([, names]) => names.split('|').includes(name));
    entries.set(name, convertWord(word.slice(equals + 1), conversion?.[2]));
  }
  return new JsonObject([...entries]);
}

function conversionsOf(method: string): readonly Conversion[] {
  return Object.hasOwn(CONVERSIONS, method) ? (CONVERSIONS[method] ?? []) : [];
}

function convertWord(word: string, how: Conversion[2] | undefined): JsonValue {
  if (how === undefined || (how === 'text' && !/^\s*["[{]/.test(word))) return word;
  try {
    return parseJson(word);
  } catch (error) {
    if (!(error instanceof JsonParseError)) throw error;
    if (how === 'auto') return word;
    throw new CliError(`Error parsing JSON:${word}`);
  }
}
