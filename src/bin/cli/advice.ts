/**
 * Suggestions for the user: additional output lines for calls that the node rejected or that did not reach the node. Opens
 * no connection itself.
 */
import { existsSync } from 'node:fs';
import { isJsonNumber, JsonObject, numberText, type JsonValue } from '../../util/json/json.js';
import { suggestion } from '../../util/nearest.js';
import { CLI_OPTIONS, type CallSettings } from './options.js';

/** The error codes of `src/rpc/declare/errors.ts` for which there is advice. */
const MISC_ERROR = -1;
const INVALID_PARAMETER = -8;
const WALLET_ERROR = -4;
const WALLET_NOT_FOUND = -18;
const METHOD_NOT_FOUND = -32601;

export interface RefusedCall {
  readonly method: string;
  /** The command-line words after the name of the method. */
  readonly args: readonly string[];
  readonly error: JsonValue;
  /** The wallet of `-rpcwallet`; undefined if not given. */
  readonly wallet: string | undefined;
  /** The command-line options with which the same node can be reached, for a suggested command. */
  readonly options: string;
  /** The command that starts this client, as a shell can execute it. */
  readonly client: string;
  /** Requests the node's help text for a method, or the list of its methods. Resolves to null if the node does not return it. */
  help(method?: string): Promise<string | null>;
  /** Calls another method of the node without arguments. Resolves to its result, or to null if the call fails. */
  ask(method: string): Promise<JsonValue>;
}

/** Further lines for an error that the node returned, each with its line break; empty if the message is sufficient. */
export async function adviceOnError(refused: RefusedCall): Promise<string> {
  const { method, args, error, client, help } = refused;
  if (!(error instanceof JsonObject)) return '';
  const code = error.get('code') ?? null;
  const message = error.get('message');
  switch (isJsonNumber(code) ? Number(numberText(code)) : 0) {
    case METHOD_NOT_FOUND: {
      const list = await help();
      if (list === null) return '';
      const near = suggestion(method, methodNames(list)).trimStart();
      return `${[near, `${client} help lists all commands.`].filter(Boolean).join(' ')}\n`;
    }
    case MISC_ERROR:
      if (typeof message !== 'string' || !message.includes(`\nUsage: ${method}`)) return '';
      return `${misplacedOptions(args)}For details: ${client} help ${method}\n`;
    case INVALID_PARAMETER: {
      const name = /^Unknown named parameter (.*)$/.exec(typeof message === 'string' ? message : '')?.[1];
      const text = name === undefined ? null : await help(method);
      if (name === undefined || text === null) return '';
      const near = suggestion(name, parameterNames(text), (known) => `${known}=`).trimStart();
      return `${[near, `For details: ${client} help ${method}`].filter(Boolean).join(' ')}\n`;
    }
    case WALLET_NOT_FOUND:
      return refused.wallet === undefined ? '' : adviceOnWallet(refused, refused.wallet);
    case WALLET_ERROR:
      return method === 'createwallet' && typeof message === 'string' && message.endsWith(' already exists.')
        ? adviceOnWallet(refused, args[0] ?? '')
        : '';
    default:
      return '';
  }
}

/** Advice for a wallet that is missing, exists already, is loaded or is not loaded. */
async function adviceOnWallet({ client, options, ask }: RefusedCall, name: string): Promise<string> {
  const loaded = await ask('listwallets');
  if (Array.isArray(loaded) && loaded.includes(name)) return '';
  const folder = await ask('listwalletdir');
  const listed = folder instanceof JsonObject ? folder.get('wallets') : undefined;
  if (!Array.isArray(listed)) return '';
  const isThere = listed.some((wallet) => wallet instanceof JsonObject && wallet.get('name') === name);
  const command = (does: string): string => [client, options, does, name].filter(Boolean).join(' ');
  return isThere
    ? `The wallet ${name} exists but is not loaded. Load it with: ${command('loadwallet')}\n`
    : `The wallet ${name} does not exist. Create it with: ${command('createwallet')}\n`;
}

/** The parameter names in the first line of a method's help: `name "text" ( number )`. */
function parameterNames(help: string): string[] {
  return (help.split('\n', 1)[0]!.match(/\w+/g) ?? []).slice(1);
}

/** The method names in the output of `help`: the first word of each line that is not a heading. */
function methodNames(list: string): string[] {
  const lines = list.split('\n').filter((line) => line !== '' && !line.startsWith('=='));
  return lines.map((line) => line.split(' ', 1)[0]!);
}

/** Advice on client options after the method, where they are read as arguments. */
function misplacedOptions(args: readonly string[]): string {
  const names = CLI_OPTIONS.map((option) => option.name);
  const found = args.filter((word) => {
    const name = /^--?([a-z]+)(=|$)/.exec(word)?.[1];
    return name !== undefined && names.includes(name);
  });
  return found.length === 0 ? '' : `Options must precede the command: ${found.join(' ')}\n`;
}

/** Advice if no server listens. `args` are the words after the method, and `node` is the command that starts the node program. */
export function adviceOnRefusal(
  { network, networkOption, dataDirOption, otherCookies }: CallSettings,
  args: readonly string[],
  node: string,
): string {
  const command = [node, networkOption, dataDirOption].filter(Boolean).join(' ');
  const start = `Start a node of ${network} with: ${command}`;
  const elsewhere = "Or give the node's address with -rpcport=<port>, -rpcconnect=<host>.";
  const running = otherCookies.filter(({ file }) => existsSync(file));
  const others = running.map(
    (other) =>
      `A node of ${other.network} seems to be running. To call it, ` +
      `${other.networkOption === '' ? `omit ${networkOption}` : `add ${other.networkOption}`}.`,
  );
  return misplacedOptions(args) + [...others, start, elsewhere].join('\n');
}
