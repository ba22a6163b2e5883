/**
 * Loads the options: reads the command line and the configuration files, and determines the network and the folders. Reads
 * files but creates none. Source: `AppInit`, `ReadConfigFiles`, `GetDataDir`. An invalid option throws `OptionError`.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { NetworkParams } from '../../params/network.js';
import { LogCategorySet } from '../../util/logging.js';
import { applyDebugOptions } from './debugOptions.js';
import { OptionArgs, OptionError, type NetworkSection } from './optionArgs.js';
import { applyInteractions, checkOptions, paramsFor, type DerivedOptions } from './optionChecks.js';
import { applyWalletInteractions, checkWalletOptions } from './walletChecks.js';
import { translateForeign } from './foreignCommandLine.js';
import { foreignHints } from './foreignFiles.js';
import { homeFolder, isFolder, loadConfig } from './optionsConfig.js';
import { OPTION_ROWS, type OptionName, type Options } from './optionsTable.js';
import { readOptions } from './optionValues.js';

/** Absolute paths of the node's files. */
export interface NodePaths {
  /** Data folder (`-datadir`), which contains the folders of all networks. */
  readonly dataDir: string;
  /** Folder of the selected network in the data folder. */
  readonly networkDir: string;
  readonly blocksDir: string;
  readonly configFile: string;
  readonly cookieFile: string;
  /** Certificate and key files of the JSON-RPC port and of the wallet port. */
  readonly rpcCert: string;
  readonly rpcKey: string;
  readonly walletRpcCert: string;
  readonly walletRpcKey: string;
  /** Path of the log file; null to write no log file. */
  readonly logFile: string | null;
  readonly pidFile: string;
}

export interface LoadedOptions {
  readonly options: Options;
  readonly derived: DerivedOptions;
  readonly network: NetworkSection;
  readonly params: NetworkParams;
  readonly paths: NodePaths;
  /** Log lines about options that were set because other options imply them. */
  readonly notes: readonly string[];
  /** Warnings about settings that the operator should correct. */
  readonly warnings: readonly string[];
  /** Log lines that the data folder is new, and that unused files of other programs were found. */
  readonly hints: readonly string[];
  /**
   * Returns ` (<file>, line <n>)` for an option of a configuration file, or for the given value of a repeatable option.
   * Empty for other options.
   */
  readonly placeOf: (name: OptionName, value?: string) => string;
  /** Whether the operator or another option set the option, so that it does not have its default. */
  isSet(name: OptionName): boolean;
}

/** Result of parsing the command line. The actions `help` and `version` are executed before any file is read. */
export type CommandLine =
  | { readonly action: 'run'; readonly args: OptionArgs; readonly warnings: readonly string[] }
  | { readonly action: 'help'; readonly debug: boolean }
  | { readonly action: 'version' };

/** Parses the words after the program name. Throws `OptionError`. */
export function parseCommandLine(words: readonly string[]): CommandLine {
  const args = new OptionArgs(OPTION_ROWS);
  const { words: ours, warnings } = translateForeign(words, (name) => args.knows(name));
  const rest = args.parseCommandLine(ours);
  if (args.isSet('version')) return { action: 'version' };
  if (args.isSet('?') || args.isSet('h') || args.isSet('help')) {
    return { action: 'help', debug: readOptions(args)['help-debug'] };
  }
  const stray = rest.find((word) => !word.startsWith('-'));
  if (stray !== undefined) {
    throw new OptionError(
      `Command line contains unexpected token '${stray}', see lbcnode -h for a list of options.${methodHint(stray)}`,
    );
  }
  return { action: 'run', args, warnings };
}

/** Returns a sentence that suggests what the user meant by an unexpected word. */
function methodHint(word: string): string {
  if (/^(true|false|yes|no|on|off)$/.test(word)) return ' A switch must be 1 or 0.';
  const name = word.split('=', 1)[0]!;
  if (OPTION_ROWS.some((row) => row.name === name)) return ` An option begins with a dash: -${word}`;
  return /^[a-z]+$/.test(word) ? ` Methods are called with lbcnode-cli ${word}.` : '';
}

/**
 * Loads all options after the command line was parsed. `given` are warnings about the command line. `home` is the folder
 * that contains the default data folder; null if unknown.
 */
export function loadOptions(
  args: OptionArgs,
  home = homeFolder(),
  given: readonly string[] = [],
): LoadedOptions {
  const warnings = [...given];
  const rules = { ignoreUnknown: false, needsDataDir: false };
  const { configFile, configFound, network, dataDir } = loadConfig(args, rules, home, warnings);
  const notes = [...applyInteractions(args, warnings), ...applyWalletInteractions(args)];
  warnings.push(...args.sectionWarnings());
  const options = readOptions(args, warnings, home);
  warnings.push(...applyDebugOptions(new LogCategorySet(), options.debug, options.debugexclude));
  const { params, derived } = atPlaceGiven(args, () => {
    const own = paramsFor(network, args, options);
    checkWalletOptions(args, options, warnings);
    return { params: own, derived: checkOptions(args, options, own, warnings) };
  });
  return {
    options,
    derived,
    network,
    params,
    paths: nodePaths(args, options, dataDir, params.dataFolder, configFile),
    notes,
    warnings,
    hints: [
      ...(existsSync(dataDir) ? [] : [`Created a new data folder at ${dataDir}`]),
      ...foreignHints({ dataDir, home, configFile, configFound }),
    ],
    placeOf: (name, value) => args.placeOf(name, value),
    isSet: (name) => args.isSet(name),
  };
}

/** Runs `task`. If it throws an error about an option, adds the position in the configuration file to the text. */
function atPlaceGiven<T>(args: OptionArgs, task: () => T): T {
  try {
    return task();
  } catch (error) {
    if (!(error instanceof OptionError) || error.option === undefined) throw error;
    throw new OptionError(error.message + args.placeOf(error.option, error.value));
  }
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
    throw new OptionError(
      `Specified blocks directory "${options.blocksdir}" does not exist.${args.placeOf('blocksdir')}`,
    );
  }
  return {
    dataDir,
    networkDir,
    blocksDir: join(blocksBase, dataFolder, 'blocks'),
    configFile,
    cookieFile: resolve(networkDir, options.rpccookiefile),
    rpcCert: resolve(networkDir, options.rpccert),
    rpcKey: resolve(networkDir, options.rpckey),
    walletRpcCert: resolve(networkDir, options.walletrpccert ?? options.rpccert),
    walletRpcKey: resolve(networkDir, options.walletrpckey ?? options.rpckey),
    logFile: args.isNegated('debuglogfile') ? null : resolve(networkDir, options.debuglogfile),
    pidFile: resolve(networkDir, options.pid),
  };
}
