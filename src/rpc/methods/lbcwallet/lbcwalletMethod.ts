/**
 * Code shared by the methods of lbcwallet: their profile, their errors, and accounts and addresses as arguments. The methods
 * are served on the port of `-walletrpcport`. Source: lbcwallet rpc/legacyrpc/methods.go, rpc/legacyrpc/errors.go, lbcd
 * btcjson/walletsvrcmds.go.
 */
import { decodeDestination } from '../../../script/address.js';
import type { Destination } from '../../../script/standard.js';
import type { OutputType } from '../../../signing/outputType.js';
import { AccountError, DEFAULT_ACCOUNT_NAME } from '../../../wallet/lbcd/accounts.js';
import type { Wallet } from '../../../wallet/wallet.js';
import { hashFromHex } from '../../../util/bytes.js';
import type { JsonValue } from '../../../util/json/json.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { callMethod } from '../../call/callMethod.js';
import {
  defineMethod,
  type MethodDecl,
  type ParamDecl,
  type Profile,
  type RpcContext,
  type RpcMethod,
} from '../../declare/method.js';

const LBCD: readonly Profile[] = ['lbcd'];

/** Declares a method of the port on which lbcwallet's methods are served. Account errors are returned as wallet errors. */
export function lbcwalletMethod<const Params extends readonly ParamDecl[]>(
  decl: Omit<MethodDecl<Params>, 'category' | 'profiles' | 'needsWallet' | 'refusesBriefly'>,
): RpcMethod {
  const run = decl.run as RpcMethod['run'];
  return defineMethod({
    ...decl,
    category: 'wallet',
    profiles: LBCD,
    needsWallet: 'any',
    refusesBriefly: true,
    async run(ctx, args, positional) {
      try {
        return await run(ctx, args, positional);
      } catch (error) {
        if (error instanceof AccountError) throw rpcError(RPC_ERROR.WALLET_ERROR, error.message);
        throw error;
      }
    },
  });
}

/** Calls the node's method with the same name, with the lbrycrd profile. */
export async function callNode(
  ctx: RpcContext,
  name: string,
  params: readonly JsonValue[],
): Promise<JsonOut> {
  const method = ctx.table.find(name, 'lbrycrd');
  if (method === undefined) throw rpcError(RPC_ERROR.METHOD_NOT_FOUND, 'Method not found');
  const lbrycrd: RpcContext = Object.create(ctx, { profile: { value: 'lbrycrd' } });
  return callMethod(method, lbrycrd, params);
}

export const ACCOUNT_PARAM = {
  name: 'account',
  type: 'string',
  default: DEFAULT_ACCOUNT_NAME,
  description: 'The account',
} as const;

export const MINCONF_PARAM = {
  name: 'minconf',
  type: 'integer',
  default: 1,
  description: 'Minimum number of confirmations',
} as const;

export const ADDRESS_TYPE_PARAM = {
  name: 'addresstype',
  type: 'string',
  default: '*',
  description: 'Type of the address: legacy, p2sh-segwit, bech32, or * for any',
} as const;

/** Parses an address type; null means any type. Source: `lookupKeyScope`. */
export function addressKind(name: string): OutputType | null {
  const kind = name.toLowerCase();
  if (kind === '*') return null;
  if (kind === 'legacy' || kind === 'p2sh-segwit' || kind === 'bech32') return kind;
  throw rpcError(
    RPC_ERROR.WALLET_ERROR,
    `unrecognized address type: ${name}. Must be legacy, p2sh-segwit, or bech32`,
  );
}

/** Returns the address type of a destination. */
export function kindOf({ type }: Destination): OutputType {
  if (type === 'pubkeyhash') return 'legacy';
  return type === 'scripthash' ? 'p2sh-segwit' : 'bech32';
}

export function destinationOf(wallet: Wallet, address: string): Destination {
  const destination = decodeDestination(address, wallet.prefixes);
  if (destination !== null) return destination;
  throw rpcError(
    RPC_ERROR.INVALID_ADDRESS_OR_KEY,
    `Invalid address "${address}": decode failed with \`decoded address is of unknown format\``,
  );
}

/**
 * Parses a block hash or txid like lbcd: a text that is too short is padded with zeros. The error has the text of Go's
 * packages. Source: lbcd chaincfg/chainhash `Decode`.
 */
export function idOf(text: string, whatFailed = ''): Buffer {
  const bad = /[^0-9a-fA-F]/u.exec(text)?.[0];
  let problem: string | null = null;
  if (text.length > 64) problem = 'max hash string length is 64 bytes';
  else if (bad !== undefined) {
    const byte = Buffer.from(bad)[0]!;
    const point = byte.toString(16).toUpperCase().padStart(4, '0');
    problem = `encoding/hex: invalid byte: U+${point} '${String.fromCharCode(byte)}'`;
  }
  if (problem !== null) throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, `${whatFailed}${problem}`);
  return hashFromHex(text.padStart(64, '0'));
}

export function unlockNeeded(): Error {
  return rpcError(RPC_ERROR.WALLET_UNLOCK_NEEDED, 'Enter the wallet passphrase with walletpassphrase first');
}

/** Converts an amount in coins to satoshis as lbcd does, from a floating-point number. Source: lbcutil amount.go `NewAmount`. */
export function satoshisOf(coins: number): bigint {
  return BigInt(Math.round(coins * 1e8));
}
