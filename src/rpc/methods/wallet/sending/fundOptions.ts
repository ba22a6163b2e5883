/** Parses funding options of callers, and funds a transaction. Source: lbrycrd wallet/rpcwallet.cpp `FundTransaction`. */
import type { Transaction } from '../../../../primitives/transaction.js';
import { isOutputType } from '../../../../signing/outputType.js';
import { JsonObject, jsonTypeName, type JsonValue } from '../../../../util/json/json.js';
import { inSlices } from '../../../../scheduler/slices.js';
import type { Slices } from '../../../../util/slices.js';
import { coinControl, type CoinControl } from '../../../../wallet/spending/coinControl.js';
import {
  fundTransaction,
  type Funded,
  type FundRequest,
} from '../../../../wallet/spending/fundTransaction.js';
import { SpendError } from '../../../../wallet/spending/spendError.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, rpcError, type RpcError } from '../../../declare/errors.js';
import { getArray, getBool, getInt, getString, parseAmount } from '../../../declare/paramTypes.js';
import { checkOptions, confirmTargetOf, feeModeOf, scriptOfAddress } from './spendArguments.js';

export const FUND_OPTIONS_TEXT =
  '"changeAddress" (string, default pool address), "changePosition" (numeric, default random), "change_type" (string: ' +
  'legacy, p2sh-segwit or bech32, default -changetype; not with changeAddress), "includeWatching" (boolean, default false: ' +
  'also select inputs which are watch only), "lockUnspents" (boolean, default false), "feeRate" (coins per 1,000 virtual ' +
  'bytes), "subtractFeeFromOutputs" (numbers of outputs from which the fee is deducted in equal parts, before change is ' +
  'added), "replaceable" (boolean), "conf_target" (blocks), "estimate_mode" (UNSET, ECONOMICAL or CONSERVATIVE)';

const OPTION_TYPES = {
  changeAddress: 'string',
  changePosition: 'number',
  change_type: 'string',
  includeWatching: 'bool',
  lockUnspents: 'bool',
  feeRate: null,
  subtractFeeFromOutputs: 'array',
  replaceable: 'bool',
  conf_target: 'number',
  estimate_mode: 'string',
} as const;

const invalid = (message: string): RpcError => rpcError(RPC_ERROR.INVALID_PARAMETER, message);

interface FundOptions {
  readonly control: Partial<CoinControl>;
  readonly changePosition: number;
  readonly subtractsFrom: readonly JsonValue[];
  readonly locksCoins: boolean;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Parses the funding options. Older clients pass a boolean, which means `includeWatching`. */
function readOptions(wallet: Wallet, options: JsonValue | undefined): FundOptions {
  const control: Partial<Mutable<CoinControl>> = {};
  if (options === undefined || options === null || typeof options === 'boolean') {
    return {
      control: { allowsWatchOnly: options === true },
      changePosition: -1,
      subtractsFrom: [],
      locksCoins: false,
    };
  }
  if (!(options instanceof JsonObject))
    throw rpcError(RPC_ERROR.TYPE_ERROR, `Expected type object, got ${jsonTypeName(options)}`);
  const option = checkOptions(options, OPTION_TYPES);
  const given = <T>(name: string, read: (value: JsonValue) => T): T | undefined => {
    const value = option(name);
    return value === undefined ? undefined : read(value);
  };
  const changeAddress = given('changeAddress', getString);
  if (changeAddress !== undefined) {
    const message = 'changeAddress must be a valid bitcoin address';
    control.changeScript = scriptOfAddress(wallet, changeAddress, message);
  }
  const changePosition = given('changePosition', getInt) ?? -1;
  if (option('change_type') !== undefined) {
    if (changeAddress !== undefined)
      throw invalid('Cannot specify both changeAddress and address_type options');
    const type = getString(option('change_type')!);
    if (!isOutputType(type))
      throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, `Unknown change type '${type}'`);
    control.changeType = type;
  }
  control.allowsWatchOnly = given('includeWatching', getBool) ?? false;
  const locksCoins = given('lockUnspents', getBool) ?? false;
  const feeRate = given('feeRate', parseAmount);
  if (feeRate !== undefined) {
    control.feeRatePerKb = feeRate;
    control.overridesMinimum = true;
  }
  const subtractsFrom = given('subtractFeeFromOutputs', getArray) ?? [];
  control.signalsReplacement = given('replaceable', getBool) ?? null;
  if (option('conf_target') !== undefined) {
    if (feeRate !== undefined) throw invalid('Cannot specify both conf_target and feeRate');
    control.confirmTarget = confirmTargetOf(wallet, getInt(option('conf_target')!));
  }
  if (option('estimate_mode') !== undefined) {
    if (feeRate !== undefined) throw invalid('Cannot specify both estimate_mode and feeRate');
    control.feeMode = feeModeOf(getString(option('estimate_mode')!));
  }
  return { control, changePosition, subtractsFrom, locksCoins };
}

/** Parses indexes of outputs. Each must be less than `count`. */
function* readPositions(values: readonly JsonValue[], count: number): Slices<Set<number>> {
  const positions = new Set<number>();
  for (const value of values) {
    const position = getInt(value);
    if (positions.has(position)) throw invalid(`Invalid parameter, duplicated position: ${position}`);
    if (position < 0) throw invalid(`Invalid parameter, negative position: ${position}`);
    if (position >= count) throw invalid(`Invalid parameter, position too large: ${position}`);
    positions.add(position);
    yield;
  }
  return positions;
}

/** Adds inputs and change to a transaction according to the caller's options. */
export async function fundByOptions(
  wallet: Wallet,
  tx: Transaction,
  options: JsonValue | undefined,
): Promise<Funded> {
  const { control, changePosition, subtractsFrom, locksCoins } = readOptions(wallet, options);
  const count = tx.outputs.length;
  if (count === 0) throw invalid('TX must have at least one output');
  if (changePosition !== -1 && (changePosition < 0 || changePosition > count))
    throw invalid('changePosition out of bounds');
  const positions = await inSlices(readPositions(subtractsFrom, count));
  const request: FundRequest = {
    control: coinControl(wallet, control),
    changePosition,
    subtractsFrom: positions,
    locksCoins,
  };
  try {
    return await fundTransaction(wallet, tx, request);
  } catch (error) {
    if (error instanceof SpendError) throw rpcError(RPC_ERROR.WALLET_ERROR, error.message);
    throw error;
  }
}
