/**
 * Commands that lbcd has only for WebSockets: their parameters, help texts and effects. Source: lbcd rpcwebsocket.go
 * `wsHandlers`, btcjson/chainsvrwscmds.go.
 */
import { RPC_ERROR, rpcError } from '../../rpc/declare/errors.js';
import type { RpcServices } from '../../interfaces/services.js';
import type { AddressPrefixes } from '../../script/address.js';
import type { JsonValue } from '../../util/json/json.js';
import { rawJson, type JsonOut } from '../../util/json/jsonWrite.js';
import {
  outPointKeys,
  readCommandParams,
  type CommandArg,
  type CommandParam,
  type OutPointText,
} from './parameters.js';
import { rescan, rescanBlocks, type RescanClient } from './rescan.js';
import { tellSpenders } from './spenders.js';
import { addressKey } from './watchKeys.js';
import { WatchLimitError } from './watches.js';

/** The client that sent a command. */
export interface CommandClient extends RescanClient {
  readonly sessionId: string;
  wantsBlocks: boolean;
  /** Subscription of the client to new mempool transactions. */
  wantsTransactions: 'no' | 'brief' | 'verbose';
}

export interface CommandDeps {
  readonly services: RpcServices;
  readonly prefixes: AddressPrefixes;
}

interface Command {
  readonly params: readonly CommandParam[];
  readonly summary: string;
  run(client: CommandClient, args: readonly CommandArg[], deps: CommandDeps): JsonOut | Promise<JsonOut>;
}

const ADDRESSES: CommandParam = { name: 'addresses', kind: 'strings' };
const OUT_POINTS: CommandParam = { name: 'outpoints', kind: 'outpoints' };

/**
 * Returns the watch keys of addresses (the keys by which clients watch scripts). Throws for an invalid address. Source:
 * `checkAddressValidity`.
 */
function checkedKeys(addresses: CommandArg, prefixes: AddressPrefixes): string[] {
  return (addresses as readonly string[]).map((address) => {
    const key = addressKey(address, prefixes);
    if (key !== null) return key;
    throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, `Invalid address or key: ${address}`);
  });
}

/** Returns the watch keys of the valid addresses. Invalid addresses are left out. */
function knownKeys(addresses: CommandArg, prefixes: AddressPrefixes): string[] {
  return (addresses as readonly string[])
    .map((address) => addressKey(address, prefixes))
    .filter((key) => key !== null);
}

export const COMMANDS: Readonly<Record<string, Command>> = {
  loadtxfilter: {
    params: [{ name: 'reload', kind: 'bool' }, ADDRESSES, OUT_POINTS],
    summary: 'Sets or extends the filter for mempool transactions, new blocks and rescanblocks.',
    run(client, [reload, addresses, outPoints], { prefixes }) {
      const keys = outPointKeys(outPoints as readonly OutPointText[], (_text, problem) =>
        rpcError(RPC_ERROR.INVALID_PARAMETER, problem),
      );
      client.watches.loadFilter(reload as boolean, knownKeys(addresses, prefixes), keys);
      return null;
    },
  },
  notifyblocks: {
    params: [],
    summary: 'Subscribes to connected and disconnected blocks.',
    run(client) {
      client.wantsBlocks = true;
      return null;
    },
  },
  notifynewtransactions: {
    params: [{ name: 'verbose', kind: 'bool', isOptional: true }],
    summary:
      'Sends a txaccepted or, with verbose, a txacceptedverbose notification of each new transaction of the mempool.',
    run(client, [verbose]) {
      client.wantsTransactions = verbose === true ? 'verbose' : 'brief';
      return null;
    },
  },
  notifyreceived: {
    params: [ADDRESSES],
    summary: 'Sends a recvtx notification of each transaction that pays to one of the addresses.',
    run(client, [addresses], { prefixes }) {
      client.watches.addAddresses(checkedKeys(addresses, prefixes));
      return null;
    },
  },
  notifyspent: {
    params: [OUT_POINTS],
    summary: 'Sends a redeemingtx notification of each transaction that spends one of the outputs.',
    run(client, [outPoints], { services }) {
      const keys = outPointKeys(outPoints as readonly OutPointText[]);
      client.watches.addOutputs(keys);
      tellSpenders(client, keys, services);
      return null;
    },
  },
  rescan: {
    params: [
      { name: 'beginblock', kind: 'string' },
      ADDRESSES,
      OUT_POINTS,
      { name: 'endblock', kind: 'string', isOptional: true },
    ],
    summary:
      'Scans the chain from a block on for transactions that pay to the addresses or spend the outputs. Sends recvtx, ' +
      'redeemingtx, rescanprogress and rescanfinished notifications.',
    async run(client, [begin, addresses, outPoints, end], { services, prefixes }) {
      const unspent = new Set(outPointKeys(outPoints as readonly OutPointText[]));
      const request = {
        begin: begin as string,
        end: end as string | undefined,
        addresses: new Set(knownKeys(addresses, prefixes)),
        unspent,
      };
      await rescan(services, client, request);
      return null;
    },
  },
  rescanblocks: {
    params: [{ name: 'blockhashes', kind: 'strings' }],
    summary: 'Scans consecutive blocks for transactions that match the loaded filter.',
    run: (client, [hashes], { services }) => rescanBlocks(services, client, hashes as readonly string[]),
  },
  session: {
    params: [],
    summary: 'Returns the number of this connection.',
    run: ({ sessionId }) => ({ sessionid: rawJson(sessionId) }),
  },
  stopnotifyblocks: {
    params: [],
    summary: 'Ends the notifications of blocks.',
    run(client) {
      client.wantsBlocks = false;
      return null;
    },
  },
  stopnotifynewtransactions: {
    params: [],
    summary: 'Ends the notifications of new transactions.',
    run(client) {
      client.wantsTransactions = 'no';
      return null;
    },
  },
  stopnotifyreceived: {
    params: [ADDRESSES],
    summary: 'Ends recvtx notifications for the addresses.',
    run(client, [addresses], { prefixes }) {
      client.watches.removeAddresses(checkedKeys(addresses, prefixes));
      return null;
    },
  },
  stopnotifyspent: {
    params: [OUT_POINTS],
    summary: 'Ends redeemingtx notifications for the outputs.',
    run(client, [outPoints]) {
      client.watches.removeOutputs(outPointKeys(outPoints as readonly OutPointText[]));
      return null;
    },
  },
};

/** Commands that are available before the chain is open. */
const BEFORE_WARMUP: ReadonlySet<string> = new Set(['session', 'notifyblocks', 'stopnotifyblocks']);

/** Runs a WebSocket command. Throws `RpcError`. */
export async function runCommand(
  name: string,
  client: CommandClient,
  values: readonly JsonValue[],
  deps: CommandDeps,
  warmup: string | null,
): Promise<JsonOut> {
  const command = COMMANDS[name]!;
  const args = readCommandParams(command.params, values);
  if (warmup !== null && !BEFORE_WARMUP.has(name)) throw rpcError(RPC_ERROR.IN_WARMUP, warmup);
  try {
    return await command.run(client, args, deps);
  } catch (error) {
    if (error instanceof WatchLimitError) throw rpcError(RPC_ERROR.MISC_ERROR, error.message);
    throw error;
  }
}

export const isCommand = (name: string): boolean => Object.hasOwn(COMMANDS, name);

/** One usage line for each command, as `help` lists the methods. */
export function commandUsages(): string[] {
  return Object.keys(COMMANDS).map(usageOf);
}

function usageOf(name: string): string {
  const words = COMMANDS[name]!.params.map(({ name: param, isOptional }) =>
    isOptional === true ? `(${param})` : `"${param}"`,
  );
  return [name, ...words].join(' ');
}

/** Returns the `help` text of one command. */
export function commandHelp(name: string): string {
  return `${usageOf(name)}\n\n${COMMANDS[name]!.summary}\n`;
}
