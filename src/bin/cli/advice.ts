/** What to type next: lines of the client for calls that the node refused or that did not reach it. Owns no connection. */
import { existsSync } from 'node:fs';
import { isJsonNumber, JsonObject, numberText, type JsonValue } from '../../util/json.js';
import { suggestion } from '../../util/nearest.js';
import { CLI_OPTIONS, type CallSettings } from './options.js';

/** The codes of `src/rpc/errors.ts` that have advice. */
const MISC_ERROR = -1;
const INVALID_PARAMETER = -8;
const METHOD_NOT_FOUND = -32601;

export interface RefusedCall {
  readonly method: string;
  /** The words behind the method. */
  readonly args: readonly string[];
  readonly error: JsonValue;
  /** Asks the node what it says of a method, or for its list of methods; null when it does not tell. */
  help(method?: string): Promise<string | null>;
}

/** Further lines for an error that the node answered, each with its line break; empty where its message says it all. */
export async function adviceOnError({ method, args, error, help }: RefusedCall): Promise<string> {
  if (!(error instanceof JsonObject)) return '';
  const code = error.get('code') ?? null;
  const message = error.get('message');
  switch (isJsonNumber(code) ? Number(numberText(code)) : 0) {
    case METHOD_NOT_FOUND: {
      const list = await help();
      if (list === null) return '';
      const near = suggestion(method, methodNames(list)).trimStart();
      return `${[near, 'lbcnode-cli help lists all commands.'].filter(Boolean).join(' ')}\n`;
    }
    case MISC_ERROR:
      if (typeof message !== 'string' || !message.includes(`\nUsage: ${method}`)) return '';
      return `${misplacedOptions(args)}lbcnode-cli help ${method} tells more.\n`;
    case INVALID_PARAMETER: {
      const name = /^Unknown named parameter (.*)$/.exec(typeof message === 'string' ? message : '')?.[1];
      const text = name === undefined ? null : await help(method);
      if (name === undefined || text === null) return '';
      const near = suggestion(name, parameterNames(text), (known) => `${known}=`).trimStart();
      return `${[near, `lbcnode-cli help ${method} tells more.`].filter(Boolean).join(' ')}\n`;
    }
    default:
      return '';
  }
}

/** The names in the first line of what the node says of a method: `name "text" ( number )`. */
function parameterNames(help: string): string[] {
  return (help.split('\n', 1)[0]!.match(/\w+/g) ?? []).slice(1);
}

/** The names in the answer of `help`: the first word of each line that is no heading. */
function methodNames(list: string): string[] {
  const lines = list.split('\n').filter((line) => line !== '' && !line.startsWith('=='));
  return lines.map((line) => line.split(' ', 1)[0]!);
}

/** Options of the client are taken for arguments where they stand behind the method. */
function misplacedOptions(args: readonly string[]): string {
  const names = CLI_OPTIONS.map((option) => option.name);
  const found = args.filter((word) => {
    const name = /^--?([a-z]+)(=|$)/.exec(word)?.[1];
    return name !== undefined && names.includes(name);
  });
  return found.length === 0 ? '' : `Options stand before the command: ${found.join(' ')}\n`;
}

/** What to do where nothing listens; `args` are the words behind the method. */
export function adviceOnRefusal(
  { network, networkOption, dataDirOption, otherCookies }: CallSettings,
  args: readonly string[],
): string {
  const command = ['lbcnode', networkOption, dataDirOption].filter(Boolean).join(' ');
  const start = `Start a node of ${network} with: ${command}`;
  const elsewhere = 'Or say where it listens with -rpcport=<port>, -rpcconnect=<host>.';
  const running = otherCookies.filter(({ file }) => existsSync(file));
  const others = running.map(
    (other) =>
      `A node of ${other.network} seems to run: ${other.networkOption === '' ? `leave out ${networkOption}` : `add ${other.networkOption}`} to call it.`,
  );
  return misplacedOptions(args) + [...others, start, elsewhere].join('\n');
}
