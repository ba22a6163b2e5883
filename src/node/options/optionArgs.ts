/**
 * Options from the command line and configuration files, with the reference's precedence. The command line has priority,
 * with its last occurrence of an option. The section of the network in the file comes next, and then the default section; of
 * each the first occurrence counts. The caller passes the known option names. Source: `ArgsManager`.
 */
import { suggestion } from '../../util/nearest.js';
import type { ConfigEntry } from './configFile.js';
import { OperatorError } from '../../util/text/operatorError.js';

export type NetworkSection = 'main' | 'test' | 'regtest';
/** Allowed section headings of a file. The empty name is the default section above the first heading. */
const SECTIONS: readonly string[] = ['', 'main', 'test', 'regtest'];

/** Error: the options cannot be used. The message is for the operator. */
export class OptionError extends OperatorError {
  override readonly name = 'OptionError';
  /** Name and value of the invalid option, used to find where it was set. */
  readonly option: string | undefined;
  readonly value: string | undefined;

  constructor(message: string, option?: string, value?: string) {
    super(message);
    this.option = option;
    this.value = value;
  }
}

/** Creates an error about the words of the command line, before they are interpreted as options. Source: `AppInit`. */
function commandLineError(message: string): OptionError {
  return new OptionError(`Error parsing command line arguments: ${message}`);
}

/** Properties of an option that the parser needs. */
export interface KnownOption {
  readonly name: string;
  /** Value type; `bool` is a switch. If absent, the option is a switch unless it has a `valueName`. */
  readonly kind?: string;
  readonly valueName?: string;
  readonly networkOnly?: boolean;
}

/** File and line of a value in a configuration file. */
export interface ConfigPlace {
  /** Path of the file, as it was opened. */
  readonly file: string;
  /** Line number in the file, starting at 1. */
  readonly line: number;
}

/** One value given for an option. `place` is null for the command line and for values that another option implies. */
export interface GivenValue {
  readonly text: string;
  readonly place: ConfigPlace | null;
}

/**
 * Values given for one option. A negated option (`-nolisten`) has no values; instead the position (file and line) of the
 * negation is stored.
 */
interface Occurrences {
  values: GivenValue[];
  negatedAt: ConfigPlace | null;
}
type Given = Map<string, Occurrences>;

/** Returns ` (<file>, line <n>)`, to be appended to a message; empty for the command line. */
export function placeText(place: ConfigPlace | null | undefined): string {
  return place ? ` (${place.file}, line ${place.line})` : '';
}

/** Error for a negated option that needs a path. The reference would use a file or folder named `0` in the working directory. */
export function noPath(name: string, place = ''): OptionError {
  return new OptionError(`Invalid value -no${name}, it must be a path${place}`, name);
}

/**
 * Returns the leading integer of a text, or 0 if there is none. A value beyond the safe integers is clamped; the reference
 * clamps to 64 bits. Source: `atoi64`.
 */
export function leadingInteger(text: string): number {
  const value = Number(/^\s*[+-]?[0-9]+/.exec(text)?.[0] ?? 0);
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, value));
}

/**
 * Value of a switch. An empty text (`-x` alone) means on. Any other text is on only if it begins with an integer other than
 * 0, so `-x=true` means off. Source: `InterpretBool`.
 */
export function interpretBool(text: string): boolean {
  return text === '' || leadingInteger(text) !== 0;
}

/** Whether a text is an integer that `leadingInteger` reads completely. */
export function isInteger(text: string): boolean {
  return /^\s*[+-]?[0-9]+\s*$/.test(text);
}

/** Whether a text is an unambiguous value of a switch: empty or an integer. */
export function isSwitchValue(text: string): boolean {
  return text === '' || isInteger(text);
}

function isSwitch({ kind, valueName }: KnownOption): boolean {
  return kind === undefined ? valueName === undefined : kind === 'bool';
}

export class OptionArgs {
  private readonly known: ReadonlyMap<string, KnownOption>;
  private readonly commandLine: Given = new Map();
  private readonly files = new Map<string, Given>();
  /** First position (file and line) of each section in the configuration files, by section name. */
  private readonly sectionPlaces = new Map<string, ConfigPlace>();
  private section: NetworkSection | null = null;

  constructor(known: readonly KnownOption[]) {
    this.known = new Map(known.map((option) => [option.name, option]));
  }

  /**
   * Parses options up to the first word that is neither an option nor the value of an option. Returns the remaining words.
   * Source: `ParseParameters`. Unlike the reference, a value may also be a separate word (`--datadir x`, `-server 0`).
   */
  parseCommandLine(words: readonly string[]): string[] {
    for (let index = 0; index < words.length; index++) {
      const word = words[index]!;
      if (!word.startsWith('-')) return this.finishCommandLine(words.slice(index));
      if (word === '-' || word === '--') continue;
      const text = word.startsWith('--') ? word.slice(2) : word.slice(1);
      const equals = text.indexOf('=');
      const name = equals < 0 ? text : text.slice(0, equals);
      let value = equals < 0 ? '' : text.slice(equals + 1);
      const next = words[index + 1];
      if (equals < 0 && next !== undefined && this.takesWord(name, next)) {
        value = next;
        index++;
      }
      const stored = this.store(this.commandLine, name, { text: value, place: null });
      // A network prefix (`-regtest.port=1`) is accepted on the command line but has no effect, as in the reference.
      if (!this.known.has(stored.slice(stored.indexOf('.') + 1)))
        throw commandLineError(`Invalid parameter -${name}${this.suggest(name, '-')}`);
    }
    return this.finishCommandLine([]);
  }

  private finishCommandLine(rest: string[]): string[] {
    const included = this.commandLine.get('includeconf')?.values ?? [];
    if (included.length > 0) {
      throw commandLineError(
        included
          .map(({ text }) => `-includeconf cannot be used from commandline; -includeconf=${text}`)
          .join('\n'),
      );
    }
    return rest;
  }

  /**
   * Whether the word after an option without `=` is the option's value. A switch accepts only 0 and 1; an integer may be
   * negative.
   */
  private takesWord(name: string, word: string): boolean {
    const option = this.known.get(name);
    if (option === undefined) return false;
    if (word.startsWith('-')) return option.kind === 'int' && /^-[0-9]+$/.test(word);
    return isSwitch(option) ? word === '0' || word === '1' : true;
  }

  /** Returns a sentence that suggests the known option most similar to `name`, also in negated form. Empty if none is similar. */
  private suggest(name: string, dash: string): string {
    const names = [...this.known.keys()].filter((known) => known.length > 1);
    const negated = name.startsWith('no')
      ? suggestion(name.slice(2), names, (near) => `${dash}no${near}`)
      : '';
    const said = negated || suggestion(name, names, (near) => dash + near);
    return said === '' ? '' : `.${said}`;
  }

  /** Adds the settings of one file. Throws for an unknown setting unless `ignoreUnknown` is set. */
  addConfig(entries: readonly ConfigEntry[], ignoreUnknown: boolean, file = ''): void {
    for (const { section, name, value, line } of entries) {
      const place = { file, line };
      const given = this.files.get(section) ?? new Map<string, Occurrences>();
      this.files.set(section, given);
      if (!this.sectionPlaces.has(section)) this.sectionPlaces.set(section, place);
      const stored = this.store(given, name, { text: value, place });
      if (!ignoreUnknown && !this.known.has(stored)) {
        const full = `${section === '' ? '' : `${section}.`}${name}`;
        throw new OptionError(
          `Invalid configuration value ${full}${placeText(place)}${this.suggest(name, '')}`,
        );
      }
    }
  }

  /** Whether an option of this name exists, negated or not. */
  knows(name: string): boolean {
    return this.known.has(name) || (name.startsWith('no') && this.known.has(name.slice(2)));
  }

  /** Whether each occurrence of the option adds a value. */
  isList(name: string): boolean {
    return this.known.get(name)?.kind === 'list';
  }

  /** Selects the network. Later lookups use its section of the configuration files. */
  selectSection(section: NetworkSection): void {
    this.section = section;
  }

  /** Returns the network selected by `-testnet` and `-regtest`. The sections of files are ignored. Source: `GetChainName`. */
  network(): NetworkSection {
    const regtest = this.networkSwitch('regtest');
    const testnet = this.networkSwitch('testnet');
    if (regtest && testnet) {
      const place = this.placeOf('regtest') || this.placeOf('testnet');
      throw new OptionError(`Invalid combination of -regtest and -testnet.${place}`);
    }
    return regtest ? 'regtest' : testnet ? 'test' : 'main';
  }

  private networkSwitch(name: string): boolean {
    const given = this.commandLine.get(name) ?? this.files.get('')?.get(name);
    const last = given?.values[given.values.length - 1];
    return last !== undefined && interpretBool(last.text);
  }

  /** All values of a repeatable option. Values of the command line come first. */
  values(name: string): string[] {
    return this.givenValues(name).map(({ text }) => text);
  }

  /** All values of a repeatable option with their positions (file and line). Values of the command line come first. */
  givenValues(name: string): GivenValue[] {
    if (this.isNegated(name)) return [];
    return [this.commandLine, ...this.applicableFiles(name)].flatMap(
      (given) => given.get(name)?.values ?? [],
    );
  }

  /** Returns the effective value of an option: `'0'` if it is negated, undefined if it is not given. */
  value(name: string): string | undefined {
    return this.givenValue(name)?.text;
  }

  /** Returns the effective value of an option with its position (file and line). */
  givenValue(name: string): GivenValue | undefined {
    const negation = this.negation(name);
    if (negation !== undefined) return { text: '0', place: negation.negatedAt };
    const fromCommandLine = this.commandLine.get(name)?.values ?? [];
    if (fromCommandLine.length > 0) return fromCommandLine[fromCommandLine.length - 1];
    for (const given of this.applicableFiles(name)) {
      const first = given.get(name)?.values[0];
      if (first !== undefined) return first;
    }
    return undefined;
  }

  /**
   * Returns the position (file and line) of an option, or of the given value of a repeatable option, in the format of
   * `placeText`.
   */
  placeOf(name: string, value?: string): string {
    const found = this.givenValues(name).find(({ text }) => text === value);
    return placeText((found ?? this.givenValue(name))?.place);
  }

  isSet(name: string): boolean {
    return this.value(name) !== undefined;
  }

  /** Whether the effective occurrence of the option is negated. Source: `IsArgNegated`. */
  isNegated(name: string): boolean {
    return this.negation(name) !== undefined;
  }

  private negation(name: string): Occurrences | undefined {
    const places = [this.commandLine, this.sectionFile(), this.files.get('')];
    for (const given of places) {
      const found = given?.get(name);
      if (found !== undefined) return found.values.length === 0 ? found : undefined;
    }
    return undefined;
  }

  /**
   * Sets an option as if it were on the command line. With `soft`, does so only if the option has no value. Returns whether
   * the option was set.
   */
  set(name: string, value: string | readonly string[], soft: boolean): boolean {
    if (soft && this.isSet(name)) return false;
    const values = [value].flat().map((text) => ({ text, place: null }));
    this.commandLine.set(name, { values, negatedAt: null });
    return true;
  }

  /**
   * Removes and returns the `includeconf` settings of the files that were read so far. Settings of the default section come
   * before those of the network's section.
   */
  takeIncludes(section: NetworkSection): GivenValue[] {
    if (this.commandLine.has('includeconf')) return [];
    return ['', section].flatMap((place) => {
      const files = this.files.get(place);
      const included = files?.get('includeconf')?.values ?? [];
      files?.delete('includeconf');
      return included;
    });
  }

  /**
   * Returns warnings about sections: unknown headings, a network selected inside a section, and options of the default
   * section that do not apply to the selected network. Source: `WarnForSectionOnlyArgs`.
   */
  sectionWarnings(): string[] {
    const unknown = [...this.files.keys()].filter((name) => !SECTIONS.includes(name));
    const warnings = unknown.map(
      (name) =>
        `Section [${name}] is not recognized${placeText(this.sectionPlaces.get(name))}.` +
        suggestion(name, SECTIONS.slice(1), (near) => `[${near}]`),
    );
    const section = this.section;
    for (const [name, network] of [
      ['testnet', 'test'],
      ['regtest', 'regtest'],
    ] as const) {
      if (network === section) continue;
      for (const [heading, given] of this.files) {
        const last = heading === '' ? undefined : given.get(name)?.values.at(-1);
        if (last === undefined || !interpretBool(last.text)) continue;
        warnings.push(
          `${name}=${last.text} has no effect below a section heading${placeText(last.place)}. Move it above ` +
            'the first heading.',
        );
      }
    }
    if (section === null || section === 'main') return warnings;
    for (const { name, networkOnly } of this.known.values()) {
      if (networkOnly !== true || this.commandLine.has(name) || this.sectionFile()?.has(name) === true)
        continue;
      if (this.files.get('')?.has(name) !== true) continue;
      warnings.push(
        `Config setting for -${name} only applied on ${section} network when in [${section}] section.`,
      );
    }
    return warnings;
  }

  private sectionFile(): Given | undefined {
    return this.section === null ? undefined : this.files.get(this.section);
  }

  private applicableFiles(name: string): Given[] {
    const usesDefault =
      this.section === null || this.section === 'main' || this.known.get(name)?.networkOnly !== true;
    const places = [this.sectionFile(), usesDefault ? this.files.get('') : undefined];
    return places.filter((given) => given !== undefined);
  }

  /**
   * Stores one occurrence of an option. A `no` prefix is removed and stored as negation. Returns the name without prefix.
   * Source: `InterpretNegatedOption`.
   */
  private store(given: Given, name: string, value: GivenValue): string {
    const negated = /^([^.]*\.)?no(.*)$/.exec(name);
    if (negated === null || this.known.has(name)) {
      append(given, name, value);
      return name;
    }
    const bare = (negated[1] ?? '') + (negated[2] ?? '');
    // The reference reads a word as 0: `-nolisten=yes` would mean -listen=1.
    if (!isSwitchValue(value.text) && this.known.has(bare.slice(bare.indexOf('.') + 1)))
      throw new OptionError(
        `Invalid value -${name}=${value.text}, it must be 1 (on) or 0 (off)${placeText(value.place)}`,
        name,
      );
    // A double negative such as `-nolisten=0` switches the option on.
    if (interpretBool(value.text)) given.set(bare, { values: [], negatedAt: value.place });
    else append(given, bare, { ...value, text: '1' });
    return bare;
  }
}

function append(given: Given, name: string, value: GivenValue): void {
  given.set(name, { values: [...(given.get(name)?.values ?? []), value], negatedAt: null });
}
