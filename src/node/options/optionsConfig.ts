/**
 * Finds and reads the configuration files, and determines the network and the data folder. Shared by the node and the
 * command-line client, so it must not import the options table or the network parameters. Source: `ReadConfigFiles`,
 * `GetDataDir`. Creates no files.
 */
import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { systemErrorCode, systemErrorText } from '../../util/text/environmentError.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';
import { parseConfigText, type ConfigEntry } from './configFile.js';
import { foreignOption, refusedNetwork } from './foreignConfig.js';
import { isLbcdConfig, readLbcdConfig } from './lbcdConfig.js';
import { noPath, OptionError, placeText, type NetworkSection, type OptionArgs } from './optionArgs.js';

export interface ConfigRules {
  /** Whether unknown options are ignored. The client sets it, because the file contains options of the node. */
  readonly ignoreUnknown: boolean;
  /** Whether the folder of `-datadir` must already exist. The client sets it, because it never creates a data folder. */
  readonly needsDataDir: boolean;
}

export interface ConfigOutcome {
  readonly configFile: string;
  /** Whether the configuration file exists and was read. */
  readonly configFound: boolean;
  readonly network: NetworkSection;
  readonly dataDir: string;
}

const READING = 'Error reading configuration file: ';
/** Matches the byte order mark that editors on Windows write. */
const BYTE_ORDER_MARK = /^\ufeff/;

/** Returns the home folder of the user; null if neither HOME nor the password file names one. */
export function homeFolder(): string | null {
  try {
    return homedir() || null;
  } catch {
    return null;
  }
}

/** Reads the configuration file and its includes, then determines the network. Shared with the command-line client. */
export function loadConfig(
  args: OptionArgs,
  rules: ConfigRules,
  home: string | null,
  warnings: string[],
): ConfigOutcome {
  const firstDir = dataDirOf(args, home);
  refuseLostLink(firstDir);
  if (rules.needsDataDir && args.isSet('datadir') && !isFolder(firstDir)) {
    throw new OptionError(`Specified data directory "${args.value('datadir')}" does not exist.`);
  }
  const configFile = resolve(firstDir, inHome(args.value('conf') ?? 'lbcnode.conf', home));
  const read = (path: string): boolean => addConfigFile(args, path, rules, warnings);
  const configFound = !args.isNegated('conf') && read(configFile);
  if (configFound) {
    const network = args.network();
    for (const { text: file, place } of args.takeIncludes(network)) {
      const path = resolve(firstDir, inHome(file, home));
      if (read(path)) continue;
      throw new OptionError(
        `${READING}Failed to include configuration file ${file}${placeText(place)}. There is no file ${path}`,
      );
    }
    const deeper = [...args.takeIncludes(network), ...args.takeIncludes(args.network())];
    for (const file of new Set(deeper.map(({ text }) => text))) {
      // Text and case are those of the reference, because programs print the warning unchanged.
      warnings.push(
        `warning: -includeconf cannot be used from included files; ignoring -includeconf=${file}`,
      );
    }
  } else if (args.isSet('conf') && !args.isNegated('conf')) {
    throw new OptionError(
      `${READING}there is no file ${configFile} (-conf=${args.value('conf')}; a relative path starts at the data folder)`,
    );
  }
  const dataDir = dataDirOf(args, home);
  refuseLostLink(dataDir);
  if (rules.needsDataDir && args.isSet('datadir') && !isFolder(dataDir)) {
    throw new OptionError(`${READING}specified data directory "${args.value('datadir')}" does not exist.`);
  }
  const network = args.network();
  args.selectSection(network);
  return { configFile, configFound, network, dataDir };
}

function dataDirOf(args: OptionArgs, home: string | null): string {
  const given = args.givenValue('datadir');
  if (given === undefined) {
    if (home !== null) return join(home, '.lbcnode');
    throw new OptionError(
      'The home folder is unknown: HOME is not set, and the user has no entry in the password file. ' +
        'Specify the data folder with -datadir=<dir>.',
    );
  }
  if (args.isNegated('datadir')) throw noPath('datadir', placeText(given.place));
  if (given.text === '' || given.text.includes('\0'))
    throw new OptionError(`Invalid value -datadir=${given.text}, it must be a path${placeText(given.place)}`);
  const path = resolve(inHome(given.text, home));
  if (statOf(path)?.isDirectory() === false) {
    throw new OptionError(
      `Specified data directory "${given.text}" is not a folder${placeText(given.place)}.`,
    );
  }
  return path;
}

/** Replaces a leading `~` by the home folder, as lbcd does: a compose file or a unit has no shell that does so. */
export function inHome(path: string, home: string | null): string {
  return home !== null && /^~(\/|$)/.test(path) ? join(home, path.slice(1)) : path;
}

/**
 * Throws if the data folder is a broken link. The target may be on a disk that is not mounted, in which case no new folder
 * must be created.
 */
function refuseLostLink(dataDir: string): void {
  if (statOf(dataDir) !== undefined) return;
  let target: string;
  try {
    target = readlinkSync(dataDir);
  } catch {
    return;
  }
  throw new OptionError(
    `The data directory "${dataDir}" is a symbolic link to ${target}, which does not exist. Mount its ` +
      'disk, or create the folder.',
  );
}

/** Adds the settings of one file. Returns false if the file does not exist. */
function addConfigFile(args: OptionArgs, path: string, rules: ConfigRules, warnings: string[]): boolean {
  let text: string;
  try {
    refuseSpecialFile(path);
    text = readFileSync(path, 'utf8').replace(BYTE_ORDER_MARK, '');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    const code = systemErrorCode(error);
    // The general remedy, to move the folder away, would be wrong for a data folder.
    if (code === 'EISDIR') throw new OptionError(`${READING}${path} is a folder.`);
    const reason = code === null ? `${path}: ${(error as Error).message}` : systemErrorText(code, path);
    throw new OptionError(READING + reason);
  }
  try {
    const entries = isLbcdConfig(path, text)
      ? takeOver(text, args, path, rules, warnings)
      : own(parseConfigText(text), args, path, rules, warnings);
    args.addConfig(entries, rules.ignoreUnknown, path);
    return true;
  } catch (error) {
    const { message, name } = error as Error;
    // The message of an `OptionError` already contains file and line.
    throw new OptionError(READING + message + (name === 'ConfigFileError' ? ` (${path})` : ''));
  }
}

/** Converts the settings of a configuration file in lbcd's format. Only the node adds warnings about ignored settings. */
function takeOver(
  text: string,
  args: OptionArgs,
  path: string,
  rules: ConfigRules,
  warnings: string[],
): readonly ConfigEntry[] {
  const { entries, passedOver, refused } = readLbcdConfig(text, args, args.network());
  for (const { text: why, line } of refused)
    throw new OptionError(`${why}${placeText({ file: path, line })}.`);
  if (!rules.ignoreUnknown) {
    for (const { text: why, line } of passedOver) warnings.push(`${why}${placeText({ file: path, line })}.`);
  }
  return entries;
}

/**
 * Filters the settings of a file in the format of this node. Options of other programs that have no equivalent are removed
 * with a warning. For options that this node has under another name an error is thrown.
 */
function own(
  entries: readonly ConfigEntry[],
  args: OptionArgs,
  file: string,
  rules: ConfigRules,
  warnings: string[],
): readonly ConfigEntry[] {
  if (rules.ignoreUnknown) return entries;
  return entries.filter(({ name, value, line }) => {
    if (name === 'conf') {
      warnings.push(
        'conf is ignored: the configuration file is given on the command line; use includeconf for a further ' +
          `file${placeText({ file, line })}.`,
      );
      return false;
    }
    const foreign = args.knows(name) ? null : foreignOption(name);
    if (foreign === null) return true;
    const place = placeText({ file, line });
    const network = refusedNetwork(name, value);
    if (network !== null) throw new OptionError(`${network}${place}.`);
    if (foreign.kind === 'renamed')
      throw new OptionError(
        `Invalid configuration value ${name}${place}. The option ${name} of lbcd is ${foreign.name} here`,
      );
    warnings.push(`${name} is ignored: ${foreign.why}${place}.`);
    return false;
  });
}

export function isFolder(path: string): boolean {
  return statOf(path)?.isDirectory() === true;
}

function statOf(path: string): ReturnType<typeof statSync> | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // Access errors are ignored here; they are reported when the folder is created.
    return undefined;
  }
}
