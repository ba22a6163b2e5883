/**
 * Runs the command-line client: from the words of the command line to the exit status. The caller passes the streams.
 * Source: `CommandLineRPC`, `CallRPC`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonNumber, JsonObject, numberText, type JsonValue } from '../../util/json/json.js';
import { JsonParseError, parseJson } from '../../util/json/jsonParse.js';
import { stringifyJson } from '../../util/json/jsonStream.js';
import { adviceOnError, adviceOnRefusal } from './advice.js';
import { CliError, convertNamed, convertPositional } from './convert.js';
import { getInfoReply, getInfoRequest } from './getInfo.js';
import { ConnectionFailed, postRequest } from './httpCall.js';
import { InputLines } from './inputLines.js';
import { CLI_OPTIONS, CliOptions, type CallSettings } from './options.js';
import { newPassword, rpcAuthText } from './rpcAuth.js';

/** The codes of `src/rpc/declare/errors.ts` that the client acts on. */
const IN_WARMUP = -28;
const WALLET_NOT_SPECIFIED = -19;
/** Response of a Go server with TLS to a plain HTTP request. Source: Go's net/http server.go `serve`. */
const PLAIN_REFUSED = 'Client sent an HTTP request to an HTTPS server';
/** Delay in ms between two attempts of `-rpcwait`. */
const RETRY_MS = 1000;

export interface CliIo {
  out(text: string): void;
  err(text: string): void;
  /** Standard input; opened at most once, and only when it is read. */
  input(): AsyncIterable<string>;
  /** The user's home folder; null if there is none. */
  readonly home: string | null;
  readonly version: string;
  /** Returns the command that starts a program, as a shell can execute it. If absent, the programs are started by their names. */
  readonly commandOf?: (program: 'lbcnode' | 'lbcnode-cli') => string;
}

/** Runs one command; returns the exit status. */
export async function runCli(words: readonly string[], io: CliIo): Promise<number> {
  const options = new CliOptions();
  let rest: string[];
  try {
    rest = options.parse(words);
    const wantsHelp = ['?', 'h', 'help'].some((name) => options.isSet(name));
    if (words.length === 0 || wantsHelp || options.isSet('version')) {
      if (words.length > 0) {
        io.out(options.isSet('version') ? `lbcnode RPC client version v${io.version}\n` : usage(io.version));
        return 0;
      }
      io.err(`Error: too few parameters\n\n${usage(io.version)}`);
      return 1;
    }
    options.load(io.home);
    if (options.isSet('makerpcauth')) return await makeRpcAuth(options, io);
    if (options.isOn('rpcssl')) throw new CliError('SSL mode for RPC (-rpcssl) is no longer supported.');
  } catch (error) {
    const message = (error as Error).message;
    io.err(`${message.startsWith('Error') ? '' : 'Error: '}${message}\n`);
    return 1;
  }
  try {
    return await runCommand(options, rest, io);
  } catch (error) {
    io.err(`error: ${(error as Error).message}\n`);
    return 1;
  }
}

async function makeRpcAuth(options: CliOptions, io: CliIo): Promise<number> {
  await readInput(options, io);
  const password = options.isOn('stdinrpcpass') ? options.value('rpcpassword') : undefined;
  io.out(rpcAuthText(options.value('makerpcauth') ?? '', password ?? newPassword()));
  return 0;
}

async function runCommand(options: CliOptions, words: readonly string[], io: CliIo): Promise<number> {
  const all = [...words, ...(await readInput(options, io))];
  const request = buildRequest(options, all);
  for (;;) {
    const settings = options.settings();
    try {
      const reply = await call(settings, request, options);
      const status = show(reply, options.isOn('rpcwait'), io);
      if (status !== 0 && !options.isOn('getinfo'))
        io.err(await advice({ options, settings, io }, all, reply));
      return status;
    } catch (error) {
      if (!(error instanceof ConnectionFailed)) throw error;
      if (!options.isOn('rpcwait')) {
        throw error.isRefused
          ? new CliError(
              `${error.message}\n${adviceOnRefusal(settings, all.slice(1), commandOf(io, 'lbcnode'))}`,
            )
          : error;
      }
      await sleep(RETRY_MS);
    }
  }
}

const commandOf = (io: CliIo, program: 'lbcnode' | 'lbcnode-cli'): string =>
  io.commandOf?.(program) ?? program;

interface Caller {
  readonly options: CliOptions;
  readonly settings: CallSettings;
  readonly io: CliIo;
}

/** Returns additional output lines with advice about an error that the node returned. */
function advice(
  { options, settings, io }: Caller,
  [method = '', ...args]: string[],
  reply: JsonObject,
): Promise<string> {
  const ask = async (asked: string, ...params: string[]): Promise<JsonValue> => {
    const request = stringifyJson({ method: asked, params, id: 1 });
    try {
      const answer = parseReply((await postRequest(settings, `${request}\n`)).body);
      return answer instanceof JsonObject ? (answer.get('result') ?? null) : null;
    } catch {
      // Advice is optional. If a call for it fails, the error that the user must see was already printed.
      return null;
    }
  };
  return adviceOnError({
    method,
    args,
    error: reply.get('error') ?? null,
    wallet: options.isSet('rpcwallet') ? options.value('rpcwallet') : undefined,
    options: [settings.networkOption, settings.dataDirOption, ...settings.addressOptions]
      .filter(Boolean)
      .join(' '),
    client: commandOf(io, 'lbcnode-cli'),
    ask,
    async help(...params: string[]) {
      const list = await ask('help', ...params);
      return typeof list === 'string' ? list : null;
    },
  });
}

/** Reads the password from standard input, then the arguments, each only if the options request it. */
async function readInput(options: CliOptions, io: CliIo): Promise<string[]> {
  const takesPassword = options.isOn('stdinrpcpass');
  const takesArguments = options.isOn('stdin');
  if (!takesPassword && !takesArguments) return [];
  const lines = new InputLines(io.input());
  try {
    if (takesPassword) {
      const password = await lines.next();
      if (password === undefined) {
        throw new CliError('-stdinrpcpass specified but failed to read from standard input');
      }
      options.setPassword(password);
    }
    const words: string[] = [];
    if (!takesArguments) return words;
    for (let line = await lines.next(); line !== undefined; line = await lines.next()) words.push(line);
    return words;
  } finally {
    await lines.close();
  }
}

function buildRequest(options: CliOptions, words: string[]): string {
  if (options.isOn('getinfo')) {
    if (words.length > 0) throw new CliError('-getinfo takes no arguments');
    return stringifyJson(getInfoRequest());
  }
  const [method, ...args] = words;
  if (method === undefined) throw new CliError('too few parameters (need at least command)');
  const params = options.isOn('named') ? convertNamed(method, args) : convertPositional(method, args);
  return stringifyJson({ method, params, id: 1 });
}

async function call(settings: CallSettings, request: string, options: CliOptions): Promise<JsonObject> {
  const { status, body } = await postRequest(settings, `${request}\n`);
  if (status === 401 && settings.credentials === null) {
    // A node that has just started to listen may have written its cookie after the settings were read. So the settings are
    // read a second time.
    const again = options.settings();
    if (again.credentials !== null) return call(again, request, options);
  }
  if (status === 401) throw new CliError(authorizationProblem(settings));
  if (status === 400 && settings.tls === null && body.startsWith(PLAIN_REFUSED))
    throw new CliError('The server requires TLS. Call it with -tls');
  if (status >= 400 && ![400, 404, 500].includes(status)) {
    // The body of a status 403 contains the reason, which the user needs to correct the call.
    const why = status === 403 && body !== '' ? `: ${body.trim()}` : '';
    throw new CliError(`server returned HTTP error ${status}${why}`);
  }
  if (body === '') throw new CliError('no response from server');
  const parsed = parseReply(body);
  const reply = options.isOn('getinfo') ? getInfoReply(parsed) : parsed;
  if (!(reply instanceof JsonObject) || reply.size === 0) {
    throw new CliError('expected reply to have result, error and id properties');
  }
  return reply;
}

/** Returns the reason why the node refused the credentials. */
function authorizationProblem({ credentials, cookieFile, cookieFailure, configFile }: CallSettings): string {
  if (credentials !== null) return 'Authorization failed: Incorrect rpcuser or rpcpassword';
  if (cookieFailure !== null) {
    return (
      `Could not read the authentication cookie ${cookieFile}: ${cookieFailure}.\n` +
      'Run lbcnode-cli as the user that runs the node, or pass a password with -rpcuser and -stdinrpcpass ' +
      '(configured with -rpcauth on the node).'
    );
  }
  return (
    'Could not locate RPC credentials. No authentication cookie could be found, and RPC password is not set.  ' +
    `See -rpcpassword and -stdinrpcpass.  Configuration file: (${configFile}), cookie: (${cookieFile})\n` +
    'If the node has another data directory, name it with -datadir=<folder>.'
  );
}

function parseReply(body: string): JsonValue {
  try {
    return parseJson(body, Infinity);
  } catch (error) {
    if (error instanceof JsonParseError) throw new CliError("couldn't parse reply from server");
    throw error;
  }
}

/** Prints the reply of the node. Returns the exit status: 0 for a result, or the code of the error without its sign. */
function show(reply: JsonObject, wait: boolean, io: CliIo): number {
  const error = reply.get('error') ?? null;
  if (error === null) {
    const result = reply.get('result') ?? null;
    const text = typeof result === 'string' ? result : result === null ? '' : stringifyJson(result, 2);
    if (text !== '') io.out(`${text}\n`);
    return 0;
  }
  const code = error instanceof JsonObject ? (error.get('code') ?? null) : null;
  const status = isJsonNumber(code) ? Number(numberText(code)) : 1;
  if (wait && status === IN_WARMUP) throw new ConnectionFailed('server in warmup');
  io.err(`${errorText(error, code)}\n`);
  return Math.abs(status);
}

function errorText(error: JsonValue, code: JsonValue): string {
  if (!(error instanceof JsonObject)) return `error: ${stringifyJson(error)}`;
  const message = error.get('message');
  const shownCode = isJsonNumber(code) ? numberText(code) : typeof code === 'string' ? code : null;
  let text = shownCode === null ? '' : `error code: ${shownCode}\n`;
  if (typeof message === 'string') text += `error message:\n${message}`;
  if (code === WALLET_NOT_SPECIFIED) {
    text += '\nTry adding "-rpcwallet=<filename>" option to lbcnode-cli command line.';
  }
  return text;
}

function usage(version: string): string {
  const shown = CLI_OPTIONS.filter((option) => option.hidden !== true);
  const entries = shown.map(
    ({ name, valueName, help }) =>
      `  -${name}${valueName === undefined ? '' : `=${valueName}`}\n       ${help.replace(/(.{1,72})(?: |$)/g, '$1\n       ').trimEnd()}\n\n`,
  );
  return (
    `lbcnode RPC client version v${version}\n\n` +
    'Usage:  lbcnode-cli [options] <command> [params]  Send command to lbcnode\n' +
    'or:     lbcnode-cli [options] -named <command> [name=value]...  Send command to lbcnode (with named arguments)\n' +
    'or:     lbcnode-cli [options] help                List commands\n' +
    'or:     lbcnode-cli [options] help <command>      Get help for a command\n\n' +
    `Options:\n\n${entries.join('')}`
  );
}
