/**
 * Finding and reading the configuration files, and with them the network and the data folder. Shared by the node and
 * the command-line client, so it imports neither the options table nor the networks. Source: `ReadConfigFiles`,
 * `GetDataDir`. Reads files, creates none.
 */
import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseConfigText } from './configFile.js';
import { OptionError, type NetworkSection, type OptionArgs } from './optionArgs.js';

export interface ConfigRules {
  /** The client passes over options of the node. */
  readonly ignoreUnknown: boolean;
}

export interface ConfigOutcome {
  readonly configFile: string;
  readonly network: NetworkSection;
  readonly dataDir: string;
}

/** Reads the configuration file and what it includes, then settles the network. Shared with the command-line client. */
export function loadConfig(
  args: OptionArgs,
  rules: ConfigRules,
  home: string,
  warnings: string[],
): ConfigOutcome {
  const firstDir = dataDirOf(args, home);
  if (args.isSet('datadir') && !isFolder(firstDir)) {
    throw new OptionError(`Specified data directory "${args.value('datadir')}" does not exist.`);
  }
  const configFile = resolve(firstDir, args.value('conf') ?? 'lbcnode.conf');
  const read = (path: string): boolean => addConfigFile(args, path, rules);
  if (read(configFile)) {
    const network = args.network();
    for (const file of args.takeIncludes(network)) {
      if (!read(resolve(firstDir, file))) {
        throw new OptionError(
          `Error reading configuration file: Failed to include configuration file ${file}`,
        );
      }
    }
    for (const file of new Set([...args.takeIncludes(network), ...args.takeIncludes(args.network())])) {
      warnings.push(`-includeconf cannot be used from included files; ignoring -includeconf=${file}`);
    }
  }
  const dataDir = dataDirOf(args, home);
  if (args.isSet('datadir') && !isFolder(dataDir)) {
    throw new OptionError(
      `Error reading configuration file: specified data directory "${args.value('datadir')}" does not exist.`,
    );
  }
  const network = args.network();
  args.selectSection(network);
  return { configFile, network, dataDir };
}

function dataDirOf(args: OptionArgs, home: string): string {
  const given = args.value('datadir');
  return given === undefined ? join(home, '.lbcnode') : resolve(given);
}

/** Takes the settings of one file; false when there is no such file. */
function addConfigFile(args: OptionArgs, path: string, rules: ConfigRules): boolean {
  try {
    args.addConfig(parseConfigText(readFileSync(path, 'utf8')), rules.ignoreUnknown);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw new OptionError(`Error reading configuration file: ${(error as Error).message}`);
  }
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
