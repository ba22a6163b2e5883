/**
 * Parser for settings on the command line: `--name-with-dashes value`, and `--no-…` for toggles. Source:
 * `contribute_to_argparse`.
 */
import type { JsonValue } from '../../../util/json/json.js';
import { suggestion } from '../../../util/nearest.js';
import type { SettingRow } from './settingKinds.js';

/** Settings that the command line contains, by name. */
export type GivenSettings = ReadonlyMap<string, JsonValue>;

const optionOf = ({ name }: SettingRow): string => `--${name.replaceAll('_', '-')}`;
const oppositeOf = ({ name }: SettingRow): string => `--no-${name.replaceAll('_', '-')}`;
const hasOpposite = ({ kind }: SettingRow): boolean => kind === 'toggle' || kind === 'price';

/** Returns the options of the settings with their descriptions, for the help text. */
export function settingOptions(rows: readonly SettingRow[]): [string, string][] {
  return rows.flatMap((row): [string, string][] => {
    const value = row.kind === 'toggle' ? '' : ` ${row.valueName ?? row.name.toUpperCase()}`;
    const option: [string, string] = [`${optionOf(row)}${value}`, row.description];
    return hasOpposite(row) ? [option, [oppositeOf(row), `opposite of ${optionOf(row)}`]] : [option];
  });
}

/** Returns the names of the options for settings, including negated options. */
export function settingOptionNames(rows: readonly SettingRow[]): string[] {
  return [...rows.map(optionOf), ...rows.filter(hasOpposite).map(oppositeOf)];
}

/**
 * Finds the option for a full or abbreviated word, like argparse. If an abbreviation is ambiguous but matches only one
 * option of lbry-sdk, that option is used, so that lbrynet command lines stay valid. For other ambiguous abbreviations a
 * description of the problem is returned. Returns null if no option matches. `own` contains the options that lbry-sdk lacks.
 */
export function resolveOption(
  given: string,
  known: readonly string[],
  own: ReadonlySet<string>,
): string | { readonly problem: string } | null {
  if (known.includes(given)) return given;
  if (!/^--[^-]/.test(given)) return null;
  const starting = known.filter((option) => option.startsWith(given));
  const ofReference = starting.filter((option) => !own.has(option));
  const [only, ...more] = ofReference.length > 0 ? ofReference : starting;
  if (only === undefined) return null;
  if (more.length === 0) return only;
  return { problem: `The option '${given}' could mean ${[only, ...more].join(', ')}.` };
}

export type ReadSetting =
  | {
      readonly given: [name: string, value: JsonValue];
      /** Whether the value is one item of a list. If the option is repeated, each occurrence adds an item. */
      readonly isItem: boolean;
    }
  | { readonly problem: string };

/**
 * Whether a word can be the value of the option before it. As in argparse, a word with a dash is an option unless it is a
 * negative number or contains a blank, for example `-af loudnorm`.
 */
export function isValueWord(word: string | undefined): boolean {
  return word !== undefined && (!/^-./.test(word) || / |^-[0-9]+$|^-[0-9]*\.[0-9]+$/.test(word));
}

/**
 * Parses one setting at the start of `words`, and removes its words. `others` contains other options that may be suggested
 * for an unknown word.
 */
export function readSettingWords(
  rows: readonly SettingRow[],
  words: string[],
  others: readonly string[] = [],
): ReadSetting {
  const word = words.shift()!;
  const equals = word.indexOf('=');
  const option = equals < 0 ? word : word.slice(0, equals);
  const opposite = rows.find((row) => hasOpposite(row) && oppositeOf(row) === option);
  if (opposite && equals >= 0) return { problem: `${option} does not accept a value.` };
  if (opposite) return { given: [opposite.name, opposite.kind === 'toggle' ? false : null], isItem: false };
  const row = rows.find((one) => optionOf(one) === option);
  if (row === undefined) {
    return {
      problem: `The option '${option}' does not exist.${suggestion(option, [...settingOptionNames(rows), ...others])}`,
    };
  }
  if (row.kind === 'toggle') {
    if (equals >= 0)
      return { problem: `${option} does not accept a value; its opposite is ${oppositeOf(row)}.` };
    return { given: [row.name, true], isItem: false };
  }
  const next = equals < 0 && isValueWord(words[0]) ? words.shift() : undefined;
  const value = equals < 0 ? next : word.slice(equals + 1);
  if (value === undefined) return { problem: `${option} needs a value.` };
  if (row.kind === 'price') {
    const parts = [value];
    while (words[0] !== undefined && !words[0].startsWith('-')) parts.push(words.shift()!);
    return { given: [row.name, parts], isItem: false };
  }
  const isItem = row.kind === 'texts' || row.kind === 'servers';
  return { given: [row.name, isItem ? [value] : value], isItem };
}
