/**
 * Loading the options: the command line, the configuration files, the network, the folders. Reads files, creates none.
 * Source: `AppInit`, `ReadConfigFiles`, `GetDataDir`. An option that cannot be used is an `OptionError`.
 */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { NetworkParams } from '../params/network.js';
import { networkParams } from '../params/networks.js';
import { LogCategorySet } from '../util/logging.js';
import { applyDebugOptions } from './logger.js';
import { OptionArgs, OptionError, type NetworkSection } from './optionArgs.js';
import { applyInteractions, checkOptions, paramsFor, type DerivedOptions } from './optionChecks.js';
import { isFolder, loadConfig } from './optionsConfig.js';
import { OPTION_ROWS, type OptionName, type Options } from './optionsTable.js';
import { readOptions } from './optionValues.js';

/** Where things lie, all absolute. */
export interface NodePaths {
  /** The folder given by `-datadir`. */
  readonly dataDir: string;
  /** The network's own folder below it. */
  readonly networkDir: string;
  readonly blocksDir: string;
  readonly configFile: string;
  readonly cookieFile: string;
  /** Null when no log file is wanted. */
  readonly logFile: string | null;
  readonly pidFile: string;
}

export interface LoadedOptions {
  readonly options: Options;
  readonly derived: DerivedOptions;
  readonly network: NetworkSection;
  readonly params: NetworkParams;
  readonly paths: NodePaths;
  /** Lines for the log: what options set others. */
  readonly notes: readonly string[];
  /** What the operator should mend. */
  readonly warnings: readonly string[];
  /** Whether an option was given at all, as opposed to standing at its default. */
  isSet(name: OptionName): boolean;
}

/** `help` and `version` are answered before anything is read. */
export type CommandLine =
  | { readonly action: 'run'; readonly args: OptionArgs }
  | { readonly action: 'help'; readonly debug: boolean }
  | { readonly action: 'version' };

/** Reads the words after the program's name. Throws `OptionError`. */
export function parseCommandLine(words: readonly string[]): CommandLine {
  const args = new OptionArgs(OPTION_ROWS);
  const rest = args.parseCommandLine(words);
  if (args.isSet('version')) return { action: 'version' };
  if (args.isSet('?') || args.isSet('h') || args.isSet('help')) {
    return { action: 'help', debug: readOptions(args)['help-debug'] };
  }
  const stray = rest.find((word) => !word.startsWith('-'));
  if (stray !== undefined) {
    throw new OptionError(
      `Command line contains unexpected token '${stray}', see lbcnode -h for a list of options.`,
    );
  }
  return { action: 'run', args };
}

/** Completes what the command line began. `home` is where the default data folder lies. */
export function loadOptions(args: OptionArgs, home = homedir()): LoadedOptions {
  const warnings: string[] = [];
  const { configFile, network, dataDir } = loadConfig(args, { ignoreUnknown: false }, home, warnings);
  const notes = applyInteractions(args);
  warnings.push(...args.sectionWarnings());
  const options = readOptions(args);
  warnings.push(...applyDebugOptions(new LogCategorySet(), options.debug, options.debugexclude));
  const params = paramsFor(network, args, options);
  const derived = checkOptions(args, options, params, warnings);
  return {
    options,
    derived,
    network,
    params,
    paths: nodePaths(args, options, dataDir, params.dataFolder, configFile),
    notes,
    warnings,
    isSet: (name) => args.isSet(name),
  };
}

function nodePaths(
  args: OptionArgs,
  options: Options,
  dataDir: string,
  dataFolder: string,
  configFile: string,
): NodePaths {
  const networkDir = join(dataDir, dataFolder);
  const blocksBase = options.blocksdir === undefined ? dataDir : resolve(options.blocksdir);
  if (options.blocksdir !== undefined && !isFolder(blocksBase)) {
    throw new OptionError(`Specified blocks directory "${options.blocksdir}" does not exist.`);
  }
  return {
    dataDir,
    networkDir,
    blocksDir: join(blocksBase, dataFolder, 'blocks'),
    configFile,
    cookieFile: resolve(networkDir, options.rpccookiefile),
    logFile: args.isNegated('debuglogfile') ? null : resolve(networkDir, options.debuglogfile),
    pidFile: resolve(networkDir, options.pid),
  };
}

/** The port of JSON-RPC on a network. */
export function defaultRpcPort(network: NetworkSection): number {
  return networkParams(network).rpcPort;
}
