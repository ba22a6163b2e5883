/**
 * Options as given on the command line and in configuration files, with the reference's precedence. The command line has
 * priority, with its last occurrence; then the network's section, then the default section, each with its first occurrence.
 * Contains no table: the existing names are passed in. Source: `ArgsManager`.
 */
import { suggestion } from '../../util/nearest.js';
import type { ConfigEntry } from './configFile.js';
import { OperatorError } from '../../util/text/operatorError.js';

export type NetworkSection = 'main' | 'test' | 'regtest';
/** The allowed headings of a file; the empty one is the part before the first heading. */
const SECTIONS: readonly string[] = ['', 'main', 'test', 'regtest'];

/** The options cannot be used; the message is for the operator. */
export class OptionError extends OperatorError {
  override readonly name = 'OptionError';
  /** The option concerned, and which of its values, to find the place where it was given. */
  readonly option: string | undefined;
  readonly value: string | undefined;

  constructor(message: string, option?: string, value?: string) {
    super(message);
    this.option = option;
    this.value = value;
  }
}

/** An error in the words after the program's name, before they are interpreted. Source: `AppInit`. */
function commandLineError(message: string): OptionError {
  return new OptionError(`Error parsing command line arguments: ${message}`);
}

/** The properties of an option that the parser needs. */
export interface KnownOption {
  readonly name: string;
  /** `bool` is a switch. Without a kind, the option is a switch unless there is a `valueName`. */
  readonly kind?: string;
  readonly valueName?: string;
  readonly networkOnly?: boolean;
}

/** The place of a value in a configuration file. */
export interface ConfigPlace {
  /** Path of the file as it was read. */
  readonly file: string;
  /** Line number from 1. */
  readonly line: number;
}

/** One given value; the place is null on the command line, or if another option implies the value. */
export interface GivenValue {
  readonly text: string;
  readonly place: ConfigPlace | null;
}

/** The values of one option. A negated option (`-nolisten`) has none, and stores the place of the negation. */
interface Occurrences {
  values: GivenValue[];
  negatedAt: ConfigPlace | null;
}
type Given = Map<string, Occurrences>;

/** ` (<file>, line <n>)` to append to a message; empty for the command line. */
export function placeText(place: ConfigPlace | null | undefined): string {
  return place ? ` (${place.file}, line ${place.line})` : '';
}

/** Error for a negated option that needs a path; the reference would use a file or folder `0` in the working directory. */
export function noPath(name: string, place = ''): OptionError {
  return new OptionError(`Invalid value -no${name}, it must be a path${place}`, name);
}

/**
 * The leading integer of a text, 0 if there is none; a number that is too large becomes the largest exact one, as the
 * reference's becomes the largest of 64 bits. Source: `atoi64`.
 */
export function leadingInteger(text: string): number {
  const value = Number(/^\s*[+-]?[0-9]+/.exec(text)?.[0] ?? 0);
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, value));
}

/** `-x` alone switches on; otherwise any number except 0 does, so `-x=true` switches off. Source: `InterpretBool`. */
export function interpretBool(text: string): boolean {
  return text === '' || leadingInteger(text) !== 0;
}

/** Whether a text is an integer that `leadingInteger` reads completely. */
export function isInteger(text: string): boolean {
  return /^\s*[+-]?[0-9]+\s*$/.test(text);
}

/** Whether a text is an unambiguous value of a switch. */
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
  /** Place of each section heading in the files. */
  private readonly sectionPlaces = new Map<string, ConfigPlace>();
  private section: NetworkSection | null = null;

  constructor(known: readonly KnownOption[]) {
    this.known = new Map(known.map((option) => [option.name, option]));
  }

  /**
   * Parses options up to the first word that is neither an option nor the value of one, and returns the rest. Source:
   * `ParseParameters`. Unlike there, a value may also be a separate word (`--datadir x`, `-server 0`).
   */
  parseCommandLine(words: readonly string[]): string[] {
    for (let index = 0; index < words.length; index++) {
      const word = words[index]!;
      if (!word.startsWith('-')) return this.finishCommandLine(words.slice(index));
      if (word === '-') continue;
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
      // A network prefix (`-regtest.port=1`) is accepted but has no effect here, as in the reference.
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

  /** Whether the word after an option without `=` is its value; for a switch only 0 and 1, a number may be negative. */
  private takesWord(name: string, word: string): boolean {
    const option = this.known.get(name);
    if (option === undefined) return false;
    if (word.startsWith('-')) return option.kind === 'int' && /^-[0-9]+$/.test(word);
    return isSwitch(option) ? word === '0' || word === '1' : true;
  }

  /** A suggestion of the known option that a name probably stands for, as a further sentence; also for negated options. */
  private suggest(name: string, dash: string): string {
    const names = [...this.known.keys()].filter((known) => known.length > 1);
    const negated = name.startsWith('no')
      ? suggestion(name.slice(2), names, (near) => `${dash}no${near}`)
      : '';
    const said = negated || suggestion(name, names, (near) => dash + near);
    return said === '' ? '' : `.${said}`;
  }

  /** Adds the settings of one file; unknown ones are rejected unless `ignoreUnknown`. */
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

  /** Sets the network, whose section is used from now on. */
  selectSection(section: NetworkSection): void {
    this.section = section;
  }

  /** The network according to `-testnet` and `-regtest`, read regardless of sections. Source: `GetChainName`. */
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

  /** All values of a repeatable option, the command line's first. */
  values(name: string): string[] {
    return this.givenValues(name).map(({ text }) => text);
  }

  /** The same with their places. */
  givenValues(name: string): GivenValue[] {
    if (this.isNegated(name)) return [];
    return [this.commandLine, ...this.applicableFiles(name)].flatMap(
      (given) => given.get(name)?.values ?? [],
    );
  }

  /** The effective value; `'0'` for a negated option, undefined if not given. */
  value(name: string): string | undefined {
    return this.givenValue(name)?.text;
  }

  /** The same with its place. */
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

  /** The place of an option, or of this value of a repeatable one, in the format of `placeText`. */
  placeOf(name: string, value?: string): string {
    const found = this.givenValues(name).find(({ text }) => text === value);
    return placeText((found ?? this.givenValue(name))?.place);
  }

  isSet(name: string): boolean {
    return this.value(name) !== undefined;
  }

  /** Whether the effective occurrence is negated. Source: `IsArgNegated`. */
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

  /** Sets an option as if on the command line; with `soft` only if it has no value. Returns whether it took effect. */
  set(name: string, value: string, soft: boolean): boolean {
    if (soft && this.isSet(name)) return false;
    this.commandLine.set(name, { values: [{ text: value, place: null }], negatedAt: null });
    return true;
  }

  /** Removes and returns the `includeconf` settings of the files read so far: default section first, then the network's. */
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
   * Warnings about sections: headings that are not networks, a network chosen below a heading, and options of the default
   * section that do not apply to the chosen network. Source: `WarnForSectionOnlyArgs`.
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
          `${name}=${last.text} chooses no network below a heading${placeText(last.place)}. Write it above the first one.`,
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

  /** Stores one occurrence, undoing a `no` prefix; returns the bare name. Source: `InterpretNegatedOption`. */
  private store(given: Given, name: string, value: GivenValue): string {
    const negated = /^([^.]*\.)?no(.*)$/.exec(name);
    if (negated === null || this.known.has(name)) {
      append(given, name, value);
      return name;
    }
    const bare = (negated[1] ?? '') + (negated[2] ?? '');
    // A double negative (`-nolisten=0`) switches the option on.
    if (interpretBool(value.text)) given.set(bare, { values: [], negatedAt: value.place });
    else append(given, bare, { ...value, text: '1' });
    return bare;
  }
}

function append(given: Given, name: string, value: GivenValue): void {
  given.set(name, { values: [...(given.get(name)?.values ?? []), value], negatedAt: null });
}
