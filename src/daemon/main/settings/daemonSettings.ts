/**
 * The settings in use. Order of precedence: changes at run time, command line, environment, file, default. Source: lbry-sdk
 * lbry/conf.py `BaseConfig`.
 */
import { isAbsolute, join, resolve } from 'node:path';
import { EnvironmentError } from '../../../util/text/environmentError.js';
import { JsonNumber, type JsonValue } from '../../../util/json/json.js';
import { JsonParseError, parseJson } from '../../../util/json/jsonParse.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { suggestion } from '../../../util/nearest.js';
import type { Settings, SettingValues } from '../../api/settings.js';
import { fixed } from '../../base/answerJson.js';
import { DaemonError } from '../../base/daemonError.js';
import { pythonRepr } from '../../base/pythonText.js';
import { defaultFolders, expandPath, thisMachine, type Machine } from '../folders.js';
import {
  cleanSetting,
  strayServers,
  valueForFile,
  valueOfEnvironment,
  valueOfFile,
  type SettingRow,
  type SettingValue,
} from './settingKinds.js';
import { assertSettingsPath, readSettingsFile, writeSettingsFile } from './settingsFile.js';
import { SETTINGS } from './settingsTable.js';

const PREFIX = 'LBRY_';
/** Environment variables with this prefix that are not settings. `fee_per_name_char` is the fee for each character of a name. */
const OTHER_VARIABLES: ReadonlySet<string> = new Set(['fee_per_name_char']);
const FILE_NAME = 'daemon_settings.yml';

/** Settings whose defaults are servers of the public content network. On regtest their default is empty. */
const PUBLIC_SERVERS: ReadonlySet<string> = new Set([
  'fixed_peers',
  'http_blob_servers',
  'known_dht_nodes',
  'reflector_servers',
  'tracker_servers',
]);
const REGTEST = 'lbrycrd_regtest';

const ROWS: ReadonlyMap<string, SettingRow> = new Map(SETTINGS.map((row) => [row.name, row]));
const ROWS_BY_FORMER_NAME: ReadonlyMap<string, SettingRow> = new Map(
  SETTINGS.flatMap((row) => (row.previousNames ?? []).map((name) => [name, row] as const)),
);

export interface SettingSources {
  /** Settings of the command line, by name. */
  readonly given: ReadonlyMap<string, JsonValue>;
  readonly machine?: Machine;
  /** Called with warnings that do not prevent the start. */
  readonly warn: (message: string) => void;
}

type Warn = SettingSources['warn'];

/** Warns about entries of a server list that are invalid and therefore ignored. */
function warnOfStrays(row: SettingRow, value: JsonValue, where: string, warn: Warn): void {
  if (row.kind !== 'servers') return;
  for (const stray of strayServers(value))
    warn(`${where}: in setting '${row.name}' ${pythonRepr(stray)} is not HOST:PORT and is ignored.`);
}

/** Rejects invalid entries of a server list. Without this check, the call would reply with a shorter or empty list. */
function refuseStrays(row: SettingRow, value: JsonValue): void {
  if (row.kind !== 'servers') return;
  const [stray] = strayServers(value);
  if (stray !== undefined)
    throw new DaemonError(
      'ValueError',
      `Setting '${row.name}' must be a list of HOST:PORT, such as ["localhost:50001"]; ${pythonRepr(stray)} is not valid.`,
    );
}

/** Text that responses contain instead of a secret value. */
const HIDDEN = '[hidden]';

/** Converts a value to the form of responses; a secret is hidden. */
const answered = ({ isSecret }: SettingRow, value: SettingValue): SettingValue =>
  isSecret && value !== null && value !== '' ? HIDDEN : value;

/** Validates a value. The text of an error contains `where`, the source of the value. */
function cleanFrom(row: SettingRow, value: JsonValue, where: string, warn: Warn): SettingValue {
  warnOfStrays(row, value, where, warn);
  try {
    return cleanSetting(row, value);
  } catch (error) {
    if (error instanceof DaemonError) throw new EnvironmentError(`${where}: ${error.message}`);
    throw error;
  }
}

export class DaemonSettings implements Settings {
  readonly #runtime = new Map<string, SettingValue>();
  readonly #given: ReadonlyMap<string, SettingValue>;
  readonly #environment: ReadonlyMap<string, SettingValue>;
  readonly #file = new Map<string, SettingValue>();
  /** Unknown entries of the settings file. They are preserved when the file is written. */
  readonly #strangers = new Map<string, unknown>();
  readonly #defaults: ReadonlyMap<string, SettingValue>;
  readonly #machine: Machine;
  readonly #warn: Warn;
  /** The chain of this run. A later change of the setting has an effect at the next start. */
  readonly #chain: SettingValue;
  /** Cached answers: each setting, and all settings together. Cleared after each change. */
  readonly #known = new Map<string, SettingValue>();
  #knownAll: JsonOut = null;
  readonly #listeners = new Map<string, (() => void)[]>();
  readonly names: readonly string[] = SETTINGS.map(({ name }) => name);
  /** Absolute path of the settings file, which may not exist. */
  readonly path: string;

  /** Reads the settings from all sources. Throws `EnvironmentError` for the operator if a source contains an invalid value. */
  constructor({ given, machine = thisMachine(), warn }: SettingSources) {
    this.#machine = machine;
    this.#warn = warn;
    this.#given = new Map(
      [...given].map(([name, value]) => [name, cleanFrom(ROWS.get(name)!, value, 'Command line', warn)]),
    );
    const environment = new Map<string, SettingValue>();
    for (const row of SETTINGS) {
      const text = machine.environment[`${PREFIX}${row.name.toUpperCase()}`];
      if (text === undefined) continue;
      const where = `Environment variable ${PREFIX}${row.name.toUpperCase()}`;
      environment.set(row.name, cleanFrom(row, valueOfEnvironment(row, text), where, warn));
    }
    this.#environment = environment;
    this.#warnOfVariables();
    const folders = new Map<string, SettingValue>(Object.entries(defaultFolders(machine)));
    this.#defaults = folders;
    folders.set('config', join(this.#pathOf('data_dir'), FILE_NAME));
    this.path = this.#pathOf('config');
    assertSettingsPath(this.path);
    this.#readFile();
    this.#chain = this.#raw('blockchain_name');
  }

  get<Name extends keyof SettingValues>(name: Name): SettingValues[Name] {
    return this.#typed(name) as SettingValues[Name];
  }

  /** Value of a setting for use in the program: paths are expanded, numbers are plain numbers. */
  value(name: string): unknown {
    return this.#typed(name);
  }

  all(): JsonOut {
    this.#knownAll ??= fixed(
      Object.fromEntries(this.names.map((name) => [name, answered(ROWS.get(name)!, this.#shown(name))])),
    );
    return this.#knownAll;
  }

  async set(name: string, value: JsonValue): Promise<JsonOut> {
    const row = ROWS.get(name);
    if (row === undefined)
      throw new DaemonError(
        'AttributeError',
        `The setting '${name}' does not exist.${suggestion(name, this.names, (near) => `'${near}'`)}`,
      );
    const given = parseNested(value);
    refuseStrays(row, given);
    const cleaned = this.#withWholePath(row, cleanSetting(row, given));
    this.#save((members) => members.set(name, cleaned));
    this.#runtime.set(name, cleaned);
    this.#changed(name);
    return answered(row, cleaned);
  }

  async clear(name: string): Promise<JsonOut> {
    if (!ROWS.has(name))
      throw new DaemonError(
        'KeyError',
        `The setting '${name}' does not exist.${suggestion(name, this.names, (near) => `'${near}'`)}`,
      );
    this.#save((members) => members.delete(name));
    this.#runtime.delete(name);
    this.#changed(name);
    return answered(ROWS.get(name)!, this.#shown(name));
  }

  /** Warns about environment variables that have the prefix of settings and belong to no setting. */
  #warnOfVariables(): void {
    for (const variable of Object.keys(this.#machine.environment)) {
      const name = variable.slice(PREFIX.length).toLowerCase();
      if (!variable.startsWith(PREFIX) || ROWS.has(name) || OTHER_VARIABLES.has(name)) continue;
      const former = ROWS_BY_FORMER_NAME.get(name);
      const variableOf = (near: string): string => PREFIX + near.toUpperCase();
      const near = former
        ? ` Did you mean ${variableOf(former.name)}?`
        : suggestion(name, this.names, variableOf);
      this.#warn(`The environment variable ${variable} belongs to no setting.${near}`);
    }
  }

  #readFile(): void {
    const warn = this.#warn;
    const former = new Set<string>();
    const onDouble = (key: string): void =>
      warn(`The settings file ${this.path} contains '${key}' more than once; the last value is used.`);
    for (const [key, value] of readSettingsFile(this.path, onDouble)) {
      const row = ROWS.get(key) ?? ROWS_BY_FORMER_NAME.get(key);
      if (row === undefined) {
        const near = suggestion(key, this.names, (name) => `'${name}'`);
        warn(`The settings file ${this.path} contains '${key}', which is not a setting.${near}`);
        this.#strangers.set(key, value);
        continue;
      }
      // As in lbrynet, the value of a former name replaces that of the present name.
      if (row.name !== key) former.add(row.name);
      else if (former.has(key)) continue;
      const read = valueOfFile(row, value);
      if (read !== undefined)
        this.#file.set(row.name, cleanFrom(row, read, `Settings file ${this.path}`, warn));
    }
    if (former.size > 0) this.#upgrade();
  }

  /** Renames settings in the file that have names of earlier versions. If the file is not writable, the old names stay. */
  #upgrade(): void {
    try {
      this.#save(() => undefined);
    } catch (error) {
      this.#warn((error as Error).message);
    }
  }

  /** Applies a change to the file first, and then to the values in memory. */
  #save(change: (members: Map<string, SettingValue>) => void): void {
    const members = new Map(this.#file);
    change(members);
    const all = new Map<string, unknown>(this.#strangers);
    for (const [name, value] of members) all.set(name, valueForFile(value));
    writeSettingsFile(this.path, all);
    this.#file.clear();
    for (const [name, value] of members) this.#file.set(name, value);
  }

  #forget(): void {
    this.#known.clear();
    this.#knownAll = null;
  }

  #changed(name: string): void {
    this.#forget();
    for (const listener of this.#listeners.get(name) ?? []) listener();
  }

  onChange(name: keyof SettingValues, listener: () => void): void {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
  }

  isDefault(name: string): boolean {
    return this.#named(name) === undefined;
  }

  /** Returns the value of a setting from the first source that has it; undefined if no source has it. */
  #named(name: string): SettingValue | undefined {
    for (const source of [this.#runtime, this.#given, this.#environment, this.#file]) {
      const value = source?.get(name);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  #raw(name: string): SettingValue {
    // An explicit null in a source counts as a value.
    for (const value of [this.#named(name), this.#defaults?.get(name)]) if (value !== undefined) return value;
    // For a test chain the default must not contain servers of the public network.
    if (PUBLIC_SERVERS.has(name) && this.#chain === REGTEST) return [];
    return ROWS.get(name)!.default;
  }

  #shown(name: string): SettingValue {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const value = ROWS.get(name)!.kind === 'path' ? this.#pathOf(name) : this.#raw(name);
    this.#known.set(name, value);
    return value;
  }

  /** Path of a setting, absolute. A relative path begins at the working directory, as in lbrynet. */
  #pathOf(name: string): string {
    return resolve(expandPath(String(this.#raw(name)), this.#machine));
  }

  /** Makes a relative path absolute before it is stored, because the next start may have another working directory. */
  #withWholePath({ kind }: SettingRow, value: SettingValue): SettingValue {
    if (kind !== 'path' || typeof value !== 'string') return value;
    const expanded = expandPath(value, this.#machine);
    return isAbsolute(expanded) ? value : resolve(expanded);
  }

  #typed(name: string): unknown {
    const value = this.#shown(name);
    if (value instanceof JsonNumber) return Number(value.text);
    if (value !== null && typeof value === 'object' && 'currency' in value)
      return { currency: value.currency, amount: value.amount.text };
    return value;
  }
}

/** Parses a text that begins like a JSON list or object. */
function parseNested(value: JsonValue): JsonValue {
  if (typeof value !== 'string' || !/^[[{]/.test(value)) return value;
  try {
    return parseJson(value);
  } catch (error) {
    if (!(error instanceof JsonParseError)) throw error;
    throw new DaemonError('JSONDecodeError', `The value begins like JSON but is not valid: ${error.message}`);
  }
}
