/**
 * Options as given: by the command line and by configuration files, with the reference's precedence. The command line
 * wins, by its last occurrence; then the network's section, then the default section, each by its first occurrence.
 * Owns no table: it is told which names exist. Source: `ArgsManager`.
 */
import type { ConfigEntry } from './configFile.js';

export type NetworkSection = 'main' | 'test' | 'regtest';
/** The headings that a file may have; the empty one stands for what comes before any. */
const SECTIONS: readonly string[] = ['', 'main', 'test', 'regtest'];

/** The options cannot be used; the message is for the operator. */
export class OptionError extends Error {
  override readonly name = 'OptionError';
}

/** An error in the words after the program's name, before any meaning is given to them. Source: `AppInit`. */
function commandLineError(message: string): OptionError {
  return new OptionError(`Error parsing command line arguments: ${message}`);
}

/** What the manager must know of an option. */
export interface KnownOption {
  readonly name: string;
  readonly networkOnly?: boolean;
}

/** Values by option; an empty list means that the option was negated (`-nolisten`). */
type Given = Map<string, string[]>;

/**
 * The leading integer of a text, 0 where there is none; one too long for a number stops at the largest exact one, as
 * the reference's stops at 64 bits. Source: `atoi64`.
 */
export function leadingInteger(text: string): number {
  const value = Number(/^\s*[+-]?[0-9]+/.exec(text)?.[0] ?? 0);
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, value));
}

/** `-x` alone switches on, else a number other than 0 does: `-x=true` switches off. Source: `InterpretBool`. */
export function interpretBool(text: string): boolean {
  return text === '' || leadingInteger(text) !== 0;
}

export class OptionArgs {
  private readonly known: ReadonlyMap<string, KnownOption>;
  private readonly commandLine: Given = new Map();
  private readonly files = new Map<string, Given>();
  private section: NetworkSection | null = null;

  constructor(known: readonly KnownOption[]) {
    this.known = new Map(known.map((option) => [option.name, option]));
  }

  /** Takes the options before the first word without a dash and returns the rest. Source: `ParseParameters`. */
  parseCommandLine(words: readonly string[]): string[] {
    for (const [index, word] of words.entries()) {
      if (!word.startsWith('-')) return words.slice(index);
      if (word === '-') continue;
      const text = word.startsWith('--') ? word.slice(2) : word.slice(1);
      const equals = text.indexOf('=');
      const name = equals < 0 ? text : text.slice(0, equals);
      const stored = this.store(this.commandLine, name, equals < 0 ? '' : text.slice(equals + 1));
      // A network prefix (`-regtest.port=1`) is known but means nothing here, as in the reference.
      if (!this.known.has(stored.slice(stored.indexOf('.') + 1)))
        throw commandLineError(`Invalid parameter -${name}`);
    }
    const included = this.commandLine.get('includeconf') ?? [];
    if (included.length > 0) {
      throw commandLineError(
        included
          .map((file) => `-includeconf cannot be used from commandline; -includeconf=${file}`)
          .join('\n'),
      );
    }
    return [];
  }

  /** Takes the settings of one file, unless `ignoreUnknown` refusing those that do not exist. */
  addConfig(entries: readonly ConfigEntry[], ignoreUnknown: boolean): void {
    for (const { section, name, value } of entries) {
      const given = this.files.get(section) ?? new Map<string, string[]>();
      this.files.set(section, given);
      const stored = this.store(given, name, value);
      if (!ignoreUnknown && !this.known.has(stored)) {
        throw new OptionError(`Invalid configuration value ${section === '' ? '' : `${section}.`}${name}`);
      }
    }
  }

  /** Fixes the network, whose section counts from now on. */
  selectSection(section: NetworkSection): void {
    this.section = section;
  }

  /** The network by `-testnet` and `-regtest`, read without regard to sections. Source: `GetChainName`. */
  network(): NetworkSection {
    const regtest = this.networkSwitch('regtest');
    const testnet = this.networkSwitch('testnet');
    if (regtest && testnet) throw new OptionError('Invalid combination of -regtest and -testnet.');
    return regtest ? 'regtest' : testnet ? 'test' : 'main';
  }

  private networkSwitch(name: string): boolean {
    const given = this.commandLine.get(name) ?? this.files.get('')?.get(name);
    if (given === undefined) return false;
    const last = given[given.length - 1];
    return last !== undefined && interpretBool(last);
  }

  /** All values of a repeatable option, the command line's first. */
  values(name: string): string[] {
    if (this.isNegated(name)) return [];
    return [this.commandLine, ...this.applicableFiles(name)].flatMap((given) => given.get(name) ?? []);
  }

  /** The value that counts; `'0'` of a negated option, undefined of one not given. */
  value(name: string): string | undefined {
    if (this.isNegated(name)) return '0';
    const fromCommandLine = this.commandLine.get(name);
    if (fromCommandLine !== undefined && fromCommandLine.length > 0)
      return fromCommandLine[fromCommandLine.length - 1];
    for (const given of this.applicableFiles(name)) {
      const first = given.get(name)?.[0];
      if (first !== undefined) return first;
    }
    return undefined;
  }

  isSet(name: string): boolean {
    return this.value(name) !== undefined;
  }

  /** Whether what counts is the negated form. Source: `IsArgNegated`. */
  isNegated(name: string): boolean {
    const places = [this.commandLine, this.sectionFile(), this.files.get('')];
    for (const given of places) {
      const values = given?.get(name);
      if (values !== undefined) return values.length === 0;
    }
    return false;
  }

  /** Gives an option a value as if by the command line; `soft` only when it has none. True when it took effect. */
  set(name: string, value: string, soft: boolean): boolean {
    if (soft && this.isSet(name)) return false;
    this.commandLine.set(name, [value]);
    return true;
  }

  /** Takes `includeconf` out of the files read so far: default section first, then the network's. */
  takeIncludes(section: NetworkSection): string[] {
    if (this.commandLine.has('includeconf')) return [];
    return ['', section].flatMap((place) => {
      const files = this.files.get(place);
      const included = files?.get('includeconf') ?? [];
      files?.delete('includeconf');
      return included;
    });
  }

  /**
   * What is odd about sections: those that are no network, and options of the default section that the chosen network
   * does not take from there. Source: `WarnForSectionOnlyArgs`.
   */
  sectionWarnings(): string[] {
    const unknown = [...this.files.keys()].filter((name) => !SECTIONS.includes(name));
    const warnings = unknown.map((name) => `Section [${name}] is not recognized.`);
    const section = this.section;
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
  private store(given: Given, name: string, value: string): string {
    const negated = /^([^.]*\.)?no(.*)$/.exec(name);
    if (negated === null || this.known.has(name)) {
      given.set(name, [...(given.get(name) ?? []), value]);
      return name;
    }
    const bare = (negated[1] ?? '') + (negated[2] ?? '');
    // A double negative (`-nolisten=0`) is the option switched on.
    if (interpretBool(value)) given.set(bare, []);
    else given.set(bare, [...(given.get(bare) ?? []), '1']);
    return bare;
  }
}
