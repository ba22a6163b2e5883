/** Code shared by methods that spend: fee options, other options, and errors. Source: lbrycrd wallet/rpcwallet.cpp. */
import { decodeDestination } from '../../../../script/address.js';
import { scriptForDestination } from '../../../../script/standard.js';
import type { JsonObject } from '../../../../util/json/json.js';
import { jsonTypeName, type JsonTypeName, type JsonValue } from '../../../../util/json/json.js';
import { FEE_MODES, type FeeMode } from '../../../../wallet/spending/coinControl.js';
import { SPEND_ERROR, SpendError } from '../../../../wallet/spending/spendError.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';

/** Parameters with notes that the wallet stores with a payment. */
export const COMMENT_PARAMS = [
  {
    name: 'comment',
    type: 'string',
    default: '',
    description: 'A comment on the purpose of the transaction; stored in the wallet only',
  },
  {
    name: 'comment_to',
    type: 'string',
    default: '',
    description: 'A comment on the recipient; stored in the wallet only',
  },
] as const;

export const FEE_PARAMS = [
  {
    name: 'replaceable',
    type: 'boolean',
    description: 'Allow this transaction to be replaced by a transaction with higher fees (BIP125)',
  },
  { name: 'conf_target', type: 'integer', description: 'Confirmation target in blocks' },
  {
    name: 'estimate_mode',
    type: 'string',
    defaultText: 'UNSET',
    description: 'The fee estimate mode: UNSET, ECONOMICAL or CONSERVATIVE',
  },
] as const;

export interface FeeArgs {
  readonly replaceable: boolean | undefined;
  readonly conf_target: number | undefined;
  readonly estimate_mode: string | undefined;
}

/** Source: `ParseConfirmTarget`. */
export function confirmTargetOf(wallet: Wallet, target: number): number {
  const highest = wallet.node.fees.highestTarget;
  if (target >= 1 && target <= highest) return target;
  throw rpcError(RPC_ERROR.INVALID_PARAMETER, `Invalid conf_target, must be between 1 - ${highest}`);
}

/** Source: `FeeModeFromString`. */
export function feeModeOf(name: string): FeeMode {
  const mode = FEE_MODES.find((one) => one === name);
  if (mode === undefined) throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Invalid estimate_mode parameter');
  return mode;
}

/** Converts the arguments of `FEE_PARAMS` to coin control options. */
export function feeControl(wallet: Wallet, { replaceable, conf_target, estimate_mode }: FeeArgs) {
  return {
    signalsReplacement: replaceable ?? null,
    confirmTarget: conf_target === undefined ? null : confirmTargetOf(wallet, conf_target),
    feeMode: estimate_mode === undefined ? 'UNSET' : feeModeOf(estimate_mode),
  } as const;
}

/** Returns the script that pays to an address. Throws error −5 with the text `message` if the address is invalid. */
export function scriptOfAddress({ prefixes }: Wallet, address: string, message: string): Buffer {
  const destination = decodeDestination(address, prefixes);
  if (destination === null) throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, message);
  return scriptForDestination(destination);
}

/**
 * Checks the members of an options object. Throws error −3 for a wrong type or an unknown name. A type of null allows any
 * type; a member whose value is null counts as absent. Source: `RPCTypeCheckObj`.
 */
export function checkOptions(
  object: JsonObject,
  types: Readonly<Record<string, JsonTypeName | null>>,
): (name: string) => JsonValue | undefined {
  for (const name of Object.keys(types).sort()) {
    const got = jsonTypeName(object.get(name) ?? null);
    const expected = types[name];
    if (got === 'null' || got === expected || expected === null) continue;
    throw rpcError(RPC_ERROR.TYPE_ERROR, `Expected type ${expected} for ${name}, got ${got}`);
  }
  for (const [name] of object.entries)
    if (!Object.hasOwn(types, name)) throw rpcError(RPC_ERROR.TYPE_ERROR, `Unexpected key ${name}`);
  return (name) => object.get(name);
}

/** Checks that an object has all members in `types`, with the right types. Other members are ignored. */
export function requireMembers(value: JsonObject, types: Readonly<Record<string, JsonTypeName>>): void {
  for (const name of Object.keys(types).sort()) {
    const got = jsonTypeName(value.get(name) ?? null);
    if (got === 'null') throw rpcError(RPC_ERROR.TYPE_ERROR, `Missing ${name}`);
    if (got !== types[name])
      throw rpcError(RPC_ERROR.TYPE_ERROR, `Expected type ${types[name]} for ${name}, got ${got}`);
  }
}

/** Runs a spending task and converts its errors to RPC errors. */
export async function spending<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (!(error instanceof SpendError)) throw error;
    switch (error.code) {
      case SPEND_ERROR.misc:
        throw rpcError(RPC_ERROR.MISC_ERROR, error.message);
      case SPEND_ERROR.keypoolRanOut:
        throw rpcError(RPC_ERROR.WALLET_KEYPOOL_RAN_OUT, error.message);
      case SPEND_ERROR.insufficientFunds:
        throw rpcError(RPC_ERROR.WALLET_INSUFFICIENT_FUNDS, error.message);
      case SPEND_ERROR.invalidParameter:
        throw rpcError(RPC_ERROR.INVALID_PARAMETER, error.message);
      case SPEND_ERROR.invalidAddressOrKey:
        throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, error.message);
      default:
        throw rpcError(RPC_ERROR.WALLET_ERROR, error.message);
    }
  }
}
