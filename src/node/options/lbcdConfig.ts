/**
 * Reads lbcd's configuration file, which the operator names, and converts its options to ours. Reads no files. Source:
 * go-flags `readIni`, lbcd config.go.
 */
import type { ConfigEntry } from './configFile.js';
import { explainedOption, fullName, lbcdEqual, refusedNetwork, type OwnSetting } from './foreignConfig.js';
import { interpretBool, OptionError } from './optionArgs.js';

/** Matches the heading above the options of lbcd. */
const LBCD_HEADING = /^\s*\[\s*Application Options\s*\]\s*$/im;

/** Whether a file has lbcd's format, judged by its heading or its name. */
export function isLbcdConfig(path: string, text: string): boolean {
  return LBCD_HEADING.test(text) || /(^|[/\\])lbcd\.conf$/i.test(path);
}

/** Settings converted from a file of another program, and settings that could not be converted, with reasons. */
export interface TakenOver {
  readonly entries: readonly ConfigEntry[];
  readonly passedOver: readonly Remark[];
  /** Lines that must not be ignored. The node must not start with them. */
  readonly refused: readonly Remark[];
}

interface Remark {
  readonly line: number;
  readonly text: string;
}

/** What the reader must know about this node's options. */
export interface OwnOptions {
  /** Whether an option is ours, negated or not. */
  knows(name: string): boolean;
  /** Whether each occurrence of the option adds a value. */
  isList(name: string): boolean;
}

interface Line {
  readonly number: number;
  readonly name: string;
  readonly value: string;
}

/**
 * Converts lbcd's file. `network` is the network of the command line; the file may select another one. Options that only
 * this node has are accepted too.
 */
export function readLbcdConfig(
  text: string,
  own: OwnOptions,
  network: 'main' | 'test' | 'regtest' = 'main',
): TakenOver {
  const passedOver: Remark[] = [];
  const refused: Remark[] = [];
  const entries: ConfigEntry[] = [];
  for (const [index, raw] of text.split('\n').entries()) {
    try {
      const line = parseLine(raw, index + 1);
      if (line === null) continue;
      const ours = convert(line, own);
      if ('why' in ours) passedOver.push({ line: line.number, text: ours.why });
      else for (const one of ours.settings) entries.push({ section: '', ...one, line: line.number });
    } catch (error) {
      if (!(error instanceof OptionError)) throw error;
      refused.push({ line: index + 1, text: error.message });
    }
  }
  return { entries: inOwnSection(lastOfEach(entries, own), network), passedOver, refused };
}

/** Returns null for a comment, a heading and an empty line. Throws `OptionError` for a line that lbcd refuses. */
function parseLine(raw: string, number: number): Line | null {
  const line = raw.trim();
  if (line === '' || /^[;#]/.test(line)) return null;
  if (line.startsWith('[')) {
    if (LBCD_HEADING.test(line)) return null;
    throw new OptionError(`the section ${line} does not exist in lbcd's file, only [Application Options]`);
  }
  const equals = line.indexOf('=');
  if (equals < 0) throw new OptionError(`'${line}' has no value: write ${line}=<value>`);
  return { number, name: line.slice(0, equals).trim(), value: unquoted(line.slice(equals + 1).trim()) };
}

/** Converts one line. Returns why the option is ignored if no equivalent exists. */
function convert(
  { name: given, value }: Line,
  own: OwnOptions,
): { readonly settings: readonly OwnSetting[] } | { readonly why: string } {
  const name = fullName(given) ?? given.toLowerCase();
  const network = refusedNetwork(name, value);
  if (network !== null) throw new OptionError(network);
  const equal = lbcdEqual(name);
  if (equal !== undefined) return { settings: settingsOf(name, () => equal(value)) };
  const why = name === 'conf' ? explainedOption('configfile') : explainedOption(name);
  if (why === undefined && own.knows(name)) return { settings: [{ name, value }] };
  return { why: `${name} is ignored: ${why ?? 'neither lbcd nor lbcnode has this option'}` };
}

/** Runs `read`, and adds the name of the option to an error that it throws. */
function settingsOf(name: string, read: () => readonly OwnSetting[]): readonly OwnSetting[] {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    throw new OptionError(`${name}: ${error.message}`);
  }
}

/**
 * Removes the quotes and escapes of Go's syntax. Throws `OptionError` for text that begins with a quote and is not a string
 * literal. Source: Go `strconv.Unquote`.
 */
export function unquoted(value: string): string {
  if (!value.startsWith('"')) return value;
  const inner = /^"((?:[^"\\\n]|\\.)*)"$/s.exec(value)?.[1];
  if (inner === undefined) throw new OptionError('the value begins with a quote and does not end with one');
  const bytes: Uint8Array[] = [];
  for (const [part, escape] of inner.matchAll(ESCAPE_OR_TEXT)) {
    if (escape === undefined) bytes.push(Buffer.from(part));
    else bytes.push(unescaped(escape));
  }
  return Buffer.concat(bytes).toString();
}

/** Matches text without escapes, or one escape with its text behind the backslash in group 1. */
const ESCAPE_OR_TEXT = /[^\\]+|\\([0-7]{3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)/gs;
const ONE_LETTER: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
};

/** Returns the UTF-8 bytes of an escape. `\x` and octal escapes are single bytes. */
function unescaped(escape: string): Uint8Array {
  const code = parseInt(escape.slice(1), 16);
  if (/^[0-7]{3}$/.test(escape) && parseInt(escape, 8) <= 0xff) return Buffer.of(parseInt(escape, 8));
  if (escape.startsWith('x') && escape.length > 1) return Buffer.of(code);
  if (/^u./i.test(escape) && code <= 0x10ffff) return Buffer.from(String.fromCodePoint(code));
  const letter = Object.hasOwn(ONE_LETTER, escape) ? ONE_LETTER[escape] : undefined;
  if (letter === undefined) throw new OptionError(`the value has the unknown escape \\${escape}`);
  return Buffer.from(letter);
}

/**
 * Keeps the last occurrence of an option with one value. In lbcd's file the last one counts, in ours the first one.
 */
function lastOfEach(entries: readonly ConfigEntry[], own: OwnOptions): ConfigEntry[] {
  const last = new Map(entries.map((entry) => [entry.name, entry]));
  return entries.filter((entry) => own.isList(entry.name) || last.get(entry.name) === entry);
}

/**
 * Puts settings of lbcd's file into the section of the selected network. lbcd's file has no sections: its ports and
 * addresses apply to the network that the file or the command line selects. In this node's file, settings above the headings
 * apply to the main network only.
 */
function inOwnSection(entries: readonly ConfigEntry[], network: 'main' | 'test' | 'regtest'): ConfigEntry[] {
  const isOn = (wanted: string): boolean =>
    entries.some(({ name, value }) => name === wanted && interpretBool(value));
  const given = network === 'main' ? '' : network;
  const section = isOn('regtest') ? 'regtest' : isOn('testnet') ? 'test' : given;
  const isNetwork = (name: string): boolean => name === 'regtest' || name === 'testnet';
  return entries.map((entry) => (isNetwork(entry.name) ? entry : { ...entry, section }));
}
