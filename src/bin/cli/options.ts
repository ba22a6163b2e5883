/** The client's own options, its help, and the call settings derived from them. Source: lbrycrd bitcoin-cli.cpp. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { COOKIE_NAME, LOCAL_NETWORKS, readCookie, type LocalNetwork } from '../../client/localNode.js';
import { inHome, loadConfig } from '../../node/options/optionsConfig.js';
import {
  interpretBool,
  isInteger,
  isSwitchValue,
  leadingInteger,
  OptionArgs,
  OptionError,
  placeText,
  type NetworkSection,
} from '../../node/options/optionArgs.js';
import { failureReason, systemErrorCode } from '../../util/text/environmentError.js';
import { CliError } from './convert.js';

export interface CliOption {
  readonly name: string;
  readonly valueName?: string;
  readonly help: string;
  readonly networkOnly?: boolean;
  readonly hidden?: boolean;
}

/** Options that choose a network. */
const NETWORK_OPTIONS: Readonly<Record<NetworkSection, string>> = {
  main: '',
  test: '-testnet',
  regtest: '-regtest',
};

/** The certificate that a node makes for `-tls`. */
const DEFAULT_CERT_NAME = 'rpc.cert';
/** Timeout of a call in seconds. Source: `DEFAULT_HTTP_CLIENT_TIMEOUT`. */
const DEFAULT_TIMEOUT_SEC = 900;

/* prettier-ignore */
export const CLI_OPTIONS: readonly CliOption[] = [
  { name: '?', help: 'Print this help and exit' },
  { name: 'conf', valueName: '<file>', help: 'The configuration file. A relative path is relative to the data folder (default: lbcnode.conf)' },
  { name: 'datadir', valueName: '<dir>', help: 'The data folder (default: ~/.lbcnode)' },
  { name: 'getinfo', help: 'Call several methods for an overview of the node. The results may be from slightly different times' },
  { name: 'makerpcauth', valueName: '<user>', help: "Generate a password for this user, and print it with the line rpcauth= for the node's configuration " + 'file; with -stdinrpcpass for your own password. Does not connect to a node' },
  { name: 'named', help: 'Take arguments as name=value instead of by position (default: 0)' },
  { name: 'regtest', help: 'Use the regression test chain' },
  { name: 'rpccert', valueName: '<file>', help: "With -tls: the certificate to trust, in PEM; use the node's certificate. A relative path is " + "relative to the network's data folder (default: rpc.cert, or the system's certificate authorities " + 'if that file does not exist)' },
  { name: 'rpcclienttimeout', valueName: '<n>', help: `Give up after this many seconds, 0 for never (default: ${DEFAULT_TIMEOUT_SEC})` },
  { name: 'rpcconnect', valueName: '<ip>', help: 'The host on which the node runs (default: 127.0.0.1)' },
  { name: 'rpccookiefile', valueName: '<loc>', help: "The cookie file for authentication. A relative path is relative to the network's data folder (default: .cookie)" },
  { name: 'rpcpassword', valueName: '<pw>', help: 'Password for JSON-RPC' },
  { name: 'rpcport', valueName: '<port>', help: 'The port of the node (default: 9245, testnet: 19245, regtest: 29245)', networkOnly: true },
  { name: 'rpcuser', valueName: '<user>', help: 'User name for JSON-RPC' },
  { name: 'rpcwait', help: 'Wait until the node answers' },
  { name: 'rpcwallet', valueName: '<walletname>', help: 'Call methods of this wallet, by the name with which the node loaded it' },
  { name: 'skipverify', help: 'With -tls: accept any certificate. An attacker on the network path can then read the password' },
  { name: 'stdin', help: 'Read further arguments from standard input, one a line' },
  { name: 'stdinrpcpass', help: 'Read the password from the first line of standard input' },
  { name: 'testnet', help: 'Use the test chain' },
  { name: 'tls', help: 'Call the node over TLS (-tls of the node)' },
  { name: 'version', help: 'Print the version and exit' },
  { name: 'h', help: '', hidden: true },
  { name: 'help', help: '', hidden: true },
  { name: 'rpcssl', help: '', hidden: true },
];

/** Options that `CallSettings.addressOptions` repeats if they are on the command line. */
const ADDRESS_OPTIONS = ['conf', 'rpcconnect', 'rpcport', 'rpccookiefile', 'tls', 'rpccert', 'skipverify'];

/** How the certificate of the node is verified. */
export interface TlsSettings {
  /** Trusted certificate in PEM format; null to trust the authorities of the system. */
  readonly certificate: string | null;
  readonly isVerified: boolean;
}

/** All settings of a call. */
export interface CallSettings {
  readonly host: string;
  readonly port: number;
  /** `user:password`; null when there is neither a password nor a readable cookie. */
  readonly credentials: string | null;
  /** TLS settings; null for plain HTTP. */
  readonly tls: TlsSettings | null;
  readonly path: string;
  /** Timeout in seconds; 0 for none. */
  readonly timeoutSec: number;
  readonly configFile: string;
  /** Path at which the cookie file of the selected network is expected. */
  readonly cookieFile: string;
  /** Error that occurred when an existing cookie was read. Null if the cookie was read, is missing or is not needed. */
  readonly cookieFailure: string | null;
  readonly network: NetworkSection;
  /**
   * The command-line options that select the network and the data folder, for messages. Empty for the default network and
   * the default folder.
   */
  readonly networkOption: string;
  readonly dataDirOption: string;
  /** Other command-line options with which the node is reached, for messages. Without passwords. */
  readonly addressOptions: readonly string[];
  /** Cookie files of running nodes of other networks, with the options that select these networks. */
  readonly otherCookies: readonly { network: NetworkSection; networkOption: string; file: string }[];
}

export class CliOptions {
  private readonly args = new OptionArgs(CLI_OPTIONS);
  private network: LocalNetwork = 'main';
  private dataDir = '';
  private configFile = '';
  private home: string | null = null;

  /** Reads the words after the program's name; returns the method and its arguments. Throws `OptionError`. */
  parse(words: readonly string[]): string[] {
    return this.args.parseCommandLine(words);
  }

  /** Reads the configuration file. Throws `OptionError`. */
  load(home: string | null): void {
    const outcome = loadConfig(this.args, { ignoreUnknown: true, needsDataDir: true }, home, []);
    for (const option of CLI_OPTIONS) this.check(option);
    this.network = outcome.network;
    this.dataDir = outcome.dataDir;
    this.configFile = outcome.configFile;
    this.home = home;
  }

  /** Checks the type of an option's value. Rejects a switch that is neither on nor off, and a number that is not a number. */
  private check({ name, valueName }: CliOption): void {
    const given = this.args.givenValue(name);
    if (given === undefined) return;
    const { text, place } = given;
    if (valueName === undefined && !isSwitchValue(text)) {
      throw new OptionError(
        `Invalid value -${name}=${text}, it must be 1 (on) or 0 (off)${placeText(place)}`,
      );
    }
    if (valueName === '<n>' && (!isInteger(text) || leadingInteger(text) < 0))
      throw new OptionError(`Invalid value -${name}=${text}, it must be a whole number${placeText(place)}`);
  }

  isOn(name: string): boolean {
    const value = this.args.value(name);
    return value !== undefined && interpretBool(value);
  }

  isSet(name: string): boolean {
    return this.args.isSet(name);
  }

  value(name: string): string | undefined {
    return this.args.value(name);
  }

  setPassword(password: string): void {
    this.args.set('rpcpassword', password, false);
  }

  settings(): CallSettings {
    const network = LOCAL_NETWORKS[this.network];
    const { host, port } = splitHost(this.args.value('rpcconnect') ?? '127.0.0.1', network.rpcPort);
    const chosenPort = this.args.value('rpcport');
    const timeout = this.args.value('rpcclienttimeout');
    const networkDir = resolve(this.dataDir, network.folder);
    const cookieFile = resolve(
      networkDir,
      inHome(this.args.value('rpccookiefile') ?? COOKIE_NAME, this.home),
    );
    const others = (Object.entries(LOCAL_NETWORKS) as [NetworkSection, typeof network][]).filter(
      ([name]) => name !== this.network,
    );
    const wallet = this.args.values('rpcwallet').length > 0 ? this.args.value('rpcwallet') : undefined;
    return {
      host,
      port:
        chosenPort === undefined
          ? port
          : checkPort('rpcport', chosenPort, isInteger(chosenPort) ? leadingInteger(chosenPort) : 0),
      ...this.credentials(cookieFile),
      tls: this.isOn('tls') ? this.tlsSettings(networkDir) : null,
      path: wallet === undefined ? '/' : `/wallet/${encodeURIComponent(wallet)}`,
      timeoutSec: timeout === undefined ? DEFAULT_TIMEOUT_SEC : leadingInteger(timeout),
      configFile: this.configFile,
      cookieFile,
      network: this.network,
      networkOption: NETWORK_OPTIONS[this.network],
      dataDirOption: this.args.isSet('datadir') ? `-datadir=${this.dataDir}` : '',
      addressOptions: ADDRESS_OPTIONS.flatMap((name) => {
        const given = this.args.givenValue(name);
        if (given === undefined || given.place !== null) return [];
        return [given.text === '' ? `-${name}` : `-${name}=${given.text}`];
      }),
      otherCookies: others.map(([name, { folder }]) => ({
        network: name,
        networkOption: NETWORK_OPTIONS[name],
        file: resolve(this.dataDir, folder, COOKIE_NAME),
      })),
    };
  }

  private tlsSettings(networkDir: string): TlsSettings {
    const isVerified = !this.isOn('skipverify');
    const given = this.args.value('rpccert');
    const file = resolve(networkDir, inHome(given ?? DEFAULT_CERT_NAME, this.home));
    try {
      return { certificate: readFileSync(file, 'utf8'), isVerified };
    } catch (error) {
      if (!isVerified || (given === undefined && systemErrorCode(error) === 'ENOENT'))
        return { certificate: null, isVerified };
      throw new CliError(`The certificate ${file} (-rpccert) cannot be read: ${failureReason(error)}`);
    }
  }

  private credentials(cookieFile: string): Pick<CallSettings, 'credentials' | 'cookieFailure'> {
    const password = this.args.value('rpcpassword') ?? '';
    if (password !== '')
      return { credentials: `${this.args.value('rpcuser') ?? ''}:${password}`, cookieFailure: null };
    try {
      return { credentials: readCookie(cookieFile), cookieFailure: null };
    } catch (error) {
      const isMissing = systemErrorCode(error) === 'ENOENT';
      return { credentials: null, cookieFailure: isMissing ? null : failureReason(error) };
    }
  }
}

/** `host`, `host:port` or `[v6]:port`. Source: `SplitHostPort`. */
function splitHost(text: string, defaultPort: number): { host: string; port: number } {
  const match = /^(?:\[(.*)\]|([^:]*))(?::([0-9]+))?$/.exec(text);
  if (match === null) return { host: text, port: defaultPort };
  const port = match[3] === undefined ? defaultPort : checkPort('rpcconnect', text, Number(match[3]));
  return { host: match[1] ?? match[2] ?? '', port };
}

function checkPort(option: string, given: string, port: number): number {
  if (port < 1 || port > 0xffff) throw new CliError(`Invalid port provided in -${option}: ${given}`);
  return port;
}
