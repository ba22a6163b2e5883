/**
 * Constructs the transaction of `createrawtransaction` as lbcd does. Source: lbcd rpcserver.go `handleCreateRawTransaction`,
 * lbcutil amount.go `NewAmount`.
 */
import { COIN, MAX_MONEY } from '../../../consensus/limits.js';
import {
  emptyInput,
  SEQUENCE_FINAL,
  type Transaction,
  type TxInput,
  type TxOutput,
} from '../../../primitives/transaction.js';
import type { AddressPrefixes } from '../../../script/address.js';
import { isJsonNumber, JsonObject, numberText, type JsonValue } from '../../../util/json/json.js';
import type { Slices } from '../../../util/slices.js';
import { SpreadMap } from '../../../util/spreadMap.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { getArray, notLbcdHex, parseLbcdHash } from '../../declare/paramTypes.js';
import {
  invalid,
  MAX_REPLACEABLE_SEQUENCE,
  readAddress,
  readPairs,
  type ConstructArgs,
} from './constructTransaction.js';

/** Version of the transactions that lbcd creates. Source: lbcd wire `TxVersion`. */
const LBCD_VERSION = 1;
const MAX_UINT32 = 0xffffffffn;

/** An input whose types are checked, but not its values. lbcd checks the types of all parameters before their values. */
interface TypedInput {
  readonly txid: string;
  readonly vout: number;
}

const badType = (what: string): Error => rpcError(RPC_ERROR.INVALID_PARAMS, `the parameter must be ${what}`);

/** Reads a JSON number without fraction and exponent, between `least` and `most`. */
function integerIn(value: JsonValue, least: bigint, most: bigint, what: string): bigint {
  const text = isJsonNumber(value) ? numberText(value) : '';
  if (!/^-?\d+$/.test(text)) throw badType(what);
  const number = BigInt(text);
  if (number < least || number > most) throw badType(what);
  return number;
}

function* typedInputs(values: readonly JsonValue[]): Slices<TypedInput[]> {
  const found: TypedInput[] = [];
  for (const value of values) {
    if (!(value instanceof JsonObject)) throw badType('a list of objects');
    // A missing or null member has the zero value of its type.
    const txid = value.get('txid') ?? '';
    if (typeof txid !== 'string') throw badType('an object whose "txid" is a string');
    const vout = value.get('vout') ?? null;
    const what = 'an object whose "vout" is an integer of 32 bits';
    found.push({ txid, vout: vout === null ? 0 : Number(integerIn(vout, 0n, MAX_UINT32, what)) });
    yield;
  }
  return found;
}

/** Converts an amount in coins to satoshis. Further decimals are rounded. Throws lbcd's error unless 0 < amount ≤ `MAX_MONEY`. */
function satoshisOf(coins: number): bigint {
  const satoshis = coins * Number(COIN);
  if (!(coins > 0) || satoshis > Number(MAX_MONEY)) throw rpcError(RPC_ERROR.TYPE_ERROR, 'invalid amount');
  return BigInt(Math.floor(satoshis + 0.5));
}

/** Reads one output. The value of the key `data` is the whole output script. */
function readOutput(name: string, value: JsonValue, prefixes: AddressPrefixes): TxOutput {
  if (isJsonNumber(value)) {
    const satoshis = satoshisOf(Number(numberText(value)));
    return { value: satoshis, script: readAddress(name, prefixes) };
  }
  if (typeof value !== 'string')
    throw rpcError(RPC_ERROR.TYPE_ERROR, 'output value must be a string or float');
  if (name !== 'data') throw invalid('output key must be an address or "data"');
  if (!/^([0-9a-fA-F]{2})*$/.test(value)) throw notLbcdHex(value);
  return { value: 0n, script: Buffer.from(value, 'hex') };
}

/** Creates the unsigned transaction. Null counts as absent. Throws lbcd's errors. */
export function* constructLbcdTransaction(
  { inputs, outputs, locktime, replaceable }: ConstructArgs,
  prefixes: AddressPrefixes,
): Slices<Transaction> {
  const typed = yield* typedInputs(inputs ?? []);
  const pairs = yield* readPairs(outputs instanceof JsonObject ? outputs : getArray(outputs ?? []));
  const isSet = locktime !== undefined && locktime !== null;
  const lockTime = isSet ? integerIn(locktime, -(2n ** 63n), 2n ** 63n - 1n, 'an integer') : 0n;
  if (lockTime < 0n || lockTime > MAX_UINT32) throw invalid('Locktime out of range');
  const sequence =
    replaceable === true ? MAX_REPLACEABLE_SEQUENCE : lockTime === 0n ? SEQUENCE_FINAL : SEQUENCE_FINAL - 1;
  const txInputs: TxInput[] = [];
  for (const { txid, vout } of typed) {
    txInputs.push({ ...emptyInput({ hash: parseLbcdHash(txid), index: vout }), sequence });
    yield;
  }
  const seen = new SpreadMap<true>();
  const txOutputs: TxOutput[] = [];
  for (const [name, value] of pairs) {
    if (seen.has(name)) throw invalid(`Invalid parameter, duplicated key: ${name}`);
    seen.set(name, true);
    txOutputs.push(readOutput(name, value, prefixes));
    yield;
  }
  return { version: LBCD_VERSION, inputs: txInputs, outputs: txOutputs, lockTime: Number(lockTime) };
}
