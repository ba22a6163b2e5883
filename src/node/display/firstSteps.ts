/** Messages when the node is ready: the RPC address, and suggested commands. */
import { dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { LoadedOptions } from '../options/options.js';

/** Bind addresses that accept connections to 127.0.0.1, the default host of the command line client. */
const NEAR: ReadonlySet<string> = new Set(['127.0.0.1', '0.0.0.0', '::']);

/** Environment variable with the path of the bundle's launcher that started this process (launcher/posix.c). */
export const LAUNCHER = 'LBCNODE_PROGRAM';

/** Address at which an RPC server listens. */
export interface RpcPlace {
  readonly host: string;
  readonly port: number;
}

/**
 * Returns log lines with the RPC address and suggested commands. `program` is the path of the node's program, `folder` its
 * working directory, and `launcher` the path of the bundle's program that started it.
 */
export function firstSteps(
  loaded: LoadedOptions,
  places: readonly RpcPlace[],
  program: string,
  folder: string,
  launcher?: string,
): string[] {
  if (places.length === 0) return ['RPC is off (-server=0). Stop it: Ctrl-C or SIGTERM'];
  const call = clientCommand(loaded, places, program, folder, launcher);
  return [
    `RPC listens on ${places.map(shownPlace).join(' and ')}, ${credentials(loaded)}`,
    `Call a method: ${call} getblockchaininfo`,
    `Stop it: Ctrl-C, or type: ${call} stop`,
  ];
}

/** Returns the command that calls methods of this node, with its options. For the parameters see `firstSteps`. */
export function clientCommand(
  loaded: LoadedOptions,
  places: readonly RpcPlace[],
  program: string,
  folder: string,
  launcher?: string,
): string {
  const cli = programCommand('lbcnode-cli', program, folder, launcher);
  return [cli, ...(places.length === 0 ? [] : cliArguments(loaded, places))].join(' ');
}

function shownPlace({ host, port }: RpcPlace): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function credentials({ options, paths }: LoadedOptions): string {
  if (options.rpcpassword !== '') return 'with the user and password of -rpcuser and -rpcpassword';
  return `cookie in ${paths.cookieFile}`;
}

/**
 * Returns the command that starts the program `name` beside the running one: its name if it is installed, otherwise its path.
 * `program` is the path of the running program, and `launcher` the path of the bundle's program that started it.
 */
export function programCommand(
  name: 'lbcnode' | 'lbcnode-cli',
  program: string,
  folder: string,
  launcher?: string,
): string {
  if (launcher !== undefined) return commandInBundle(name, launcher, folder);
  if (!program.endsWith('.js')) return name;
  return `node ${quoted(relative(folder, join(dirname(program), `${name}.js`)))}`;
}

/** Returns the command of a program in a bundle, as a path that a shell can execute. */
function commandInBundle(name: string, launcher: string, folder: string): string {
  const path = join(dirname(resolve(folder, launcher)), `${name}${extname(launcher)}`);
  const near = relative(folder, path);
  return quoted(near.startsWith('..') || isAbsolute(near) ? path : `.${sep}${near}`);
}

/** Returns the options with which the client command finds this node. */
function cliArguments(
  { network, paths, options, isSet, params, placeOf }: LoadedOptions,
  places: readonly RpcPlace[],
): string[] {
  const port = options.rpcport ?? params.rpcPort;
  const near = places.find(({ host }) => NEAR.has(host));
  // A password from the command line is in no file that the client command reads. It must not be printed, so the suggested
  // command prompts for it.
  const asksPassword = options.rpcpassword !== '' && placeOf('rpcpassword') === '';
  return [
    ...(network === 'main' ? [] : [network === 'test' ? '-testnet' : '-regtest']),
    ...(isSet('datadir') ? [quoted(`-datadir=${paths.dataDir}`)] : []),
    ...(isSet('conf') ? [quoted(`-conf=${paths.configFile}`)] : []),
    ...(port === params.rpcPort ? [] : [`-rpcport=${port || places[0]!.port}`]),
    ...(near ? [] : [`-rpcconnect=${places[0]!.host}`]),
    ...(asksPassword ? [quoted(`-rpcuser=${options.rpcuser}`), '-stdinrpcpass'] : []),
    ...(isSet('rpccookiefile') ? [quoted(`-rpccookiefile=${paths.cookieFile}`)] : []),
  ];
}

/** Quotes text as one word for the shell of the operating system. */
function quoted(text: string): string {
  if (process.platform === 'win32') return /^[\w.\\/:@+=,-]+$/.test(text) ? text : `"${text}"`;
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
