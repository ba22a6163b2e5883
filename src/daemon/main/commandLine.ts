/**
 * Parser of the command line, with the grammar of lbrynet. Source: lbry-sdk lbry/extras/cli.py.
 */
import type { JsonObject, JsonValue } from '../../util/json/json.js';
import { nearestWord, suggestion } from '../../util/nearest.js';
import { GROUPS, type Group, type MethodDeclaration } from '../api/declaration.js';
import { ALIASES, DECLARATIONS } from '../api/declarations/table.js';
import { commandWords, groupHelp, methodHelp, programHelp } from '../api/help.js';
import { readCommandParams } from './commandParams.js';
import { OWN_SETTINGS, SETTINGS } from './settings/settingsTable.js';
import {
  isValueWord,
  readSettingWords,
  resolveOption,
  settingOptionNames,
  settingOptions,
  type GivenSettings,
} from './settings/settingWords.js';
import { UsageError } from './usagePattern.js';

/**
 * Exit codes for an invalid command line. `EXIT_NO_COMMAND` is argparse's code for an unknown command, `EXIT_USAGE` docopt's
 * code for invalid arguments.
 */
const EXIT_NO_COMMAND = 2;
const EXIT_USAGE = 1;

export interface StartCommand {
  readonly kind: 'start';
  readonly given: GivenSettings;
  readonly isQuiet: boolean;
  readonly hasNoLog: boolean;
  readonly isVerbose: boolean;
  readonly withNode: boolean;
  readonly isReflector: boolean;
  readonly initialHeaders: string | null;
  /** Warnings for the log about arguments and settings that are ignored. */
  readonly warnings: readonly string[];
}

export interface CallCommand {
  readonly kind: 'call';
  readonly given: GivenSettings;
  readonly method: string;
  readonly params: JsonObject;
  /** Text that the program prints before the result of the call; null for none. */
  readonly notice: string | null;
}

export type CliCommand =
  | StartCommand
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'version' }
  | { readonly kind: 'wrong'; readonly exitCode: number; readonly text: string }
  | CallCommand;

/** Settings that affect a call from the command line. These may precede the command. Source: `CLIConfig`. */
const CALL_SETTINGS: ReadonlySet<string> = new Set([
  'api',
  'config',
  'ffmpeg_path',
  'video_encoder',
  'video_bitrate_maximum',
  'video_scaler',
  'audio_encoder',
  'volume_filter',
  'volume_analysis_time',
]);
/** Rows of the settings that may precede a command. */
export const CALL_ROWS = SETTINGS.filter(({ name }) => CALL_SETTINGS.has(name));

/** Flags of `start` that are not settings, with their help texts. */
export const START_FLAGS: readonly (readonly [name: string, text: string])[] = [
  ['--with-node', 'also start a chain node with a hub, and stop it with the daemon'],
  ['--reflector', 'run a reflector, which accepts streams and serves their blobs'],
  ['--quiet', 'print nothing to the console'],
  ['--no-logging', 'write no log'],
  ['--verbose', 'write a more detailed log'],
  [
    '--initial-headers FILE',
    'import block headers from this file instead of downloading all headers from a hub',
  ],
];

const FLAG_NAMES = START_FLAGS.map(([name]) => name.split(' ')[0]!);
const START_OPTIONS: readonly string[] = ['--help', ...FLAG_NAMES, ...settingOptionNames(SETTINGS)];
const CALL_OPTIONS: readonly string[] = ['--help', '--version', ...settingOptionNames(CALL_ROWS)];
/** Options that only lbcnet has, not lbrynet. */
const OWN_OPTIONS: ReadonlySet<string> = new Set([
  '--with-node',
  '--reflector',
  ...settingOptionNames(SETTINGS.filter(({ name }) => OWN_SETTINGS.includes(name))),
]);

/** Declarations by the words of their command, joined by a space. */
const BY_WORDS: ReadonlyMap<string, MethodDeclaration> = new Map(
  DECLARATIONS.map((declaration) => [commandWords(declaration).join(' '), declaration]),
);

const isGroup = (word: string): word is Group => Object.hasOwn(GROUPS, word);
const text = (shown: string): CliCommand => ({ kind: 'text', text: shown });
/**
 * Result for an invalid command line: the problem, then the usage of the program or command, which is the first paragraph of
 * the help.
 */
const wrong = (problem: string, { called = '', help = rootHelp() } = {}): CliCommand => ({
  kind: 'wrong',
  exitCode: EXIT_NO_COMMAND,
  text: `${problem}\n\n${help.split('\n\n')[0]}\nRun 'lbcnet ${called}${called && ' '}--help' for more information.`,
});

const rootHelp = (): string =>
  programHelp(DECLARATIONS, [
    ['--help', 'show this help'],
    ['-v, --version', 'show the version'],
    ...settingOptions(CALL_ROWS),
  ]);

const ofStart = (): { called: string; help: string } => ({ called: 'start', help: startHelp() });

function startHelp(): string {
  const rows = [['--help', 'show this help'] as const, ...START_FLAGS, ...settingOptions(SETTINGS)];
  return [
    'Usage:  lbcnet start [--config FILE] [--data-dir DIR] [--wallet-dir DIR] [--download-dir DIR] ...',
    '',
    'Options:',
    ...rows.map(([name, about]) => `    ${name.padEnd(40)} ${about}`),
    '',
    'Each setting can also be given in the settings file, or in the environment as LBRY_<NAME>.',
  ].join('\n');
}

export function parseCommandLine(argv: readonly string[]): CliCommand {
  const given: [string, JsonValue][] = [];
  const words = [...argv];
  while (words[0]?.startsWith('-')) {
    const problem = expand(words, CALL_OPTIONS);
    if (problem !== null) return wrong(problem);
    if (words[0] === '--help') return text(rootHelp());
    if (words[0] === '--version' || words[0] === '-v') return { kind: 'version' };
    const setting = readSettingWords(CALL_ROWS, words);
    if ('problem' in setting) return wrong(setting.problem);
    given.push(setting.given);
  }
  const called = words.shift();
  const first = called === 'blobs' ? 'blob' : called;
  if (first === undefined) return text(rootHelp());
  if (first === 'start') return parseStart(words, given);
  if (!isGroup(first)) return parseCall([first], words, given);
  const second = words[0];
  if (second === undefined || second === '--help') return text(groupHelp(first, DECLARATIONS, ALIASES));
  return parseCall([first, second], words.slice(1), given);
}

/** Returns a sentence that suggests a similar command for an unknown command; empty if no command is similar. */
function meant(first: string, next: string | undefined): string {
  const quoted = (word: string): string => `'${word}'`;
  const commandsOf = (group: string): string[] =>
    [...BY_WORDS.keys()].filter((words) => words.startsWith(`${group} `));
  if (isGroup(first)) {
    const inGroup = suggestion(`${first} ${next}`, commandsOf(first), quoted);
    return inGroup || suggestion(`${first} ${next}`, BY_WORDS.keys(), quoted);
  }
  // The user may have typed the API name of a method, whose command has other words.
  const byName = DECLARATIONS.find(({ name }) => name === first);
  if (byName) return ` Did you mean ${quoted(commandWords(byName).join(' '))}?`;
  const firstWords = [
    ...Object.keys(GROUPS),
    'start',
    ...[...BY_WORDS.keys()].filter((words) => !words.includes(' ')),
  ];
  const near = nearestWord(first, firstWords);
  if (near !== null && next !== undefined && isGroup(near)) {
    const command = nearestWord(`${near} ${next}`, commandsOf(near));
    if (command !== null) return ` Did you mean ${quoted(command)}?`;
  }
  return near === null ? suggestion(first, BY_WORDS.keys(), quoted) : ` Did you mean ${quoted(near)}?`;
}

function parseCall(
  called: readonly string[],
  args: readonly string[],
  given: readonly [string, JsonValue][],
): CliCommand {
  const alias = ALIASES.find(({ name }) => name === called.join('_') && called.length > 1);
  const declaration = alias
    ? DECLARATIONS.find(({ name }) => name === alias.replacedBy)
    : BY_WORDS.get(called.join(' '));
  if (declaration === undefined) {
    const [first = '', second] = called;
    const problem = `The command '${called.join(' ')}' does not exist.${meant(first, second ?? args[0])}`;
    return isGroup(first)
      ? wrong(problem, { called: first, help: groupHelp(first, DECLARATIONS, ALIASES) })
      : wrong(problem);
  }
  if (args.includes('--help')) return text(methodHelp(declaration));
  try {
    const params = readCommandParams(declaration, args);
    const notice = alias ? `${alias.name} is deprecated, using ${alias.replacedBy}.` : null;
    return { kind: 'call', given: new Map(given), method: declaration.name, params, notice };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const [usage] = methodHelp(declaration).split('\n\nOptions:');
    return {
      kind: 'wrong',
      exitCode: EXIT_USAGE,
      text: `${error.message}\n\n${usage!.slice(usage!.indexOf('Usage:'))}`,
    };
  }
}

/** Expands an abbreviated option at the start of `words` in place. Returns the problem if the abbreviation is ambiguous. */
function expand(words: string[], known: readonly string[]): string | null {
  const [word = ''] = words;
  const equals = word.indexOf('=');
  const end = equals < 0 ? word.length : equals;
  const option = resolveOption(word.slice(0, end), known, OWN_OPTIONS);
  if (option === null) return null;
  if (typeof option !== 'string') return option.problem;
  words[0] = option + word.slice(end);
  return null;
}

const SWITCHES: ReadonlySet<string> = new Set(['--with-node', '--reflector', '--quiet', '--no-logging']);
const isOption = (word: string | undefined): boolean => word?.startsWith('-') === true;

/** Removes an unknown option and its values from `words`. Returns a warning for the log. */
function passOver(words: string[]): string {
  const word = words.shift()!;
  const values: string[] = [];
  while (words[0] !== undefined && !isOption(words[0])) values.push(words.shift()!);
  if (!isOption(word))
    return `Command line: '${[word, ...values].join(' ')}' belongs to no option and is ignored.`;
  const [option = ''] = word.split('=', 1);
  // The warning omits the values of the option, because they may be passwords.
  return `Command line: the option '${option}' does not exist and is ignored.${suggestion(option, START_OPTIONS)}`;
}

/**
 * Parses the words after `start`. As in lbrynet, unknown options are ignored with a warning and abbreviations are accepted,
 * because programs start the daemon with options of other versions. Source: `parse_known_args` in lbry-sdk
 * lbry/extras/cli.py `main`.
 */
function parseStart(words: string[], before: readonly [string, JsonValue][]): CliCommand {
  const given = new Map<string, JsonValue>(before);
  const flags = new Set<string>();
  const warnings: string[] = [];
  let initialHeaders: string | null = null;
  while (words.length > 0) {
    const problem = expand(words, START_OPTIONS);
    if (problem !== null) return wrong(problem, ofStart());
    // `--reflector` has no value; with a value it is lbrynet's abbreviation of `--reflector-servers`.
    words[0] = words[0]!.replace(/^--reflector=/, '--reflector-servers=');
    const word = words[0];
    const option = word.split('=', 1)[0]!;
    if (word === '--help') return text(startHelp());
    if (word === '--') {
      const rest = words.splice(0).slice(1);
      if (rest.length > 0)
        warnings.push(`Command line: the words after '--' are ignored: ${rest.join(' ')}.`);
    } else if (!START_OPTIONS.includes(option)) {
      warnings.push(passOver(words));
    } else if (SWITCHES.has(option)) {
      if (word !== option) return wrong(`${option} does not accept a value.`, ofStart());
      flags.add(words.shift()!);
    } else if (option === '--verbose') {
      flags.add(option);
      words.shift();
      // Skips the logger names after `--verbose`. lbrynet takes names of Python loggers there, which this daemon does not
      // have.
      while (words[0] !== undefined && !isOption(words[0])) words.shift();
    } else if (option === '--initial-headers') {
      words.shift();
      const next = word.includes('=') || !isValueWord(words[0]) ? undefined : words.shift();
      initialHeaders = word.includes('=') ? word.slice(word.indexOf('=') + 1) : (next ?? null);
      if (initialHeaders === null) return wrong('--initial-headers needs a FILE.', ofStart());
    } else {
      const setting = readSettingWords(SETTINGS, words, FLAG_NAMES);
      if ('problem' in setting) return wrong(setting.problem, ofStart());
      const [name, value] = setting.given;
      const earlier = given.get(name);
      // A list option may be repeated; each occurrence adds one item.
      given.set(
        name,
        setting.isItem && Array.isArray(earlier) ? [...earlier, ...(value as JsonValue[])] : value,
      );
    }
  }
  return {
    kind: 'start',
    given,
    isQuiet: flags.has('--quiet'),
    hasNoLog: flags.has('--no-logging'),
    isVerbose: flags.has('--verbose'),
    withNode: flags.has('--with-node'),
    isReflector: flags.has('--reflector'),
    initialHeaders,
    warnings,
  };
}
