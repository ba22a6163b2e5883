/**
 * The transaction parameters of `createrawtransaction` and `createpsbt`, and the construction.
 * Source: lbrycrd rpc/rawtransaction.cpp `ConstructTransaction`.
 */
import {
  emptyInput,
  SEQUENCE_FINAL,
  type Transaction,
  type TxInput,
  type TxOutput,
} from '../../../primitives/transaction.js';
import { decodeDestination, type AddressPrefixes } from '../../../script/address.js';
import { OP } from '../../../script/opcodes.js';
import { buildScript } from '../../../script/script.js';
import { scriptForDestination } from '../../../script/standard.js';
import { toHex } from '../../../util/bytes.js';
import { isJsonNumber, JsonObject, numberText, type JsonValue } from '../../../util/json/json.js';
import type { Slices } from '../../../util/slices.js';
import { SpreadMap } from '../../../util/spreadMap.js';
import { RPC_ERROR, rpcError, type RpcError } from '../../declare/errors.js';
import {
  getArray,
  getInt,
  getInt64,
  getObject,
  parseAmount,
  parseHashParam,
  parseHexParam,
} from '../../declare/paramTypes.js';

/** Maximum sequence number of an input that signals replaceability (BIP125). */
export const MAX_REPLACEABLE_SEQUENCE = 0xfffffffd;
const MAX_UINT32 = 0xffffffffn;
const TRANSACTION_VERSION = 2;

export const CONSTRUCT_PARAMS = [
  {
    name: 'inputs',
    type: 'arrayOrNull',
    required: true,
    strict: 'nullable',
    description:
      'The outputs to spend: objects with the members "txid" (string), "vout" (numeric) and, optionally, ' +
      '"sequence" (numeric)',
  },
  {
    name: 'outputs',
    type: 'arrayOrObject',
    required: true,
    description:
      'The outputs to create: objects with one member each, either an address with its amount in coins ' +
      '(numeric or string), or "data" with hex. Each address and "data" may occur once. A single object ' +
      'with all members is also accepted',
  },
  {
    name: 'locktime',
    type: 'unreadInteger',
    strict: 'nullable',
    defaultText: '0',
    description: 'Raw locktime. A value other than 0 also locktime-activates inputs',
  },
  {
    name: 'replaceable',
    type: 'boolean',
    strict: 'nullable',
    defaultText: 'false',
    description:
      'Marks this transaction as BIP125 replaceable. It is an error if explicit sequence numbers contradict it',
  },
] as const;

export interface ConstructArgs {
  readonly inputs: JsonValue[] | null;
  readonly outputs: JsonValue;
  readonly locktime: JsonValue | undefined;
  readonly replaceable: boolean | undefined;
}

export function invalid(message: string): RpcError {
  return rpcError(RPC_ERROR.INVALID_PARAMETER, message);
}

function readLockTime(value: JsonValue | undefined): number {
  if (value === undefined) return 0;
  const lockTime = getInt64(value);
  if (lockTime < 0n || lockTime > MAX_UINT32) throw invalid('Invalid parameter, locktime out of range');
  return Number(lockTime);
}

function readSequence(value: JsonValue | undefined, byDefault: number): number {
  if (value === undefined || !isJsonNumber(value)) return byDefault;
  const sequence = getInt64(value);
  if (sequence < 0n || sequence > MAX_UINT32) {
    throw invalid('Invalid parameter, sequence number is out of range');
  }
  return Number(sequence);
}

function readInput(value: JsonValue, defaultSequence: number): TxInput {
  const object = getObject(value);
  const hash = parseHashParam(object.get('txid') ?? null, 'txid');
  const vout = object.get('vout') ?? null;
  if (!isJsonNumber(vout)) throw invalid('Invalid parameter, missing vout key');
  const index = getInt(vout);
  if (index < 0) throw invalid('Invalid parameter, vout must be positive');
  const input = emptyInput({ hash, index });
  return { ...input, sequence: readSequence(object.get('sequence'), defaultSequence) };
}

type Pair = readonly [name: string, value: JsonValue];

/** Yields the pairs of an object, or of a list of objects with one pair each. */
export function* readPairs(outputs: readonly JsonValue[] | JsonObject): Slices<readonly Pair[]> {
  if (outputs instanceof JsonObject) return outputs.entries;
  const pairs: Pair[] = [];
  for (const output of outputs) {
    if (!(output instanceof JsonObject)) {
      throw invalid('Invalid parameter, key-value pair not an object as expected');
    }
    const [pair] = output.entries;
    if (pair === undefined || output.size !== 1) {
      throw invalid('Invalid parameter, key-value pair must contain exactly one key');
    }
    pairs.push(pair);
    yield;
  }
  return pairs;
}

/** Returns the text of a JSON value of any type. Source: `UniValue::getValStr`. */
function valueText(value: JsonValue): string {
  if (typeof value === 'string') return value;
  if (isJsonNumber(value)) return numberText(value);
  return value === true ? '1' : '';
}

export function readAddress(address: string, prefixes: AddressPrefixes): Buffer {
  const destination = decodeDestination(address, prefixes);
  if (destination === null) {
    throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, `Invalid LBRY address: ${address}`);
  }
  return scriptForDestination(destination);
}

function* readOutputs(pairs: readonly Pair[], prefixes: AddressPrefixes): Slices<TxOutput[]> {
  const seen = new SpreadMap<true>();
  const outputs: TxOutput[] = [];
  for (const [name, value] of pairs) {
    yield;
    if (name === 'data') {
      if (seen.has(name)) throw invalid('Invalid parameter, duplicate key: data');
      seen.set(name, true);
      const data = parseHexParam(valueText(value), 'Data');
      outputs.push({ value: 0n, script: buildScript(OP.OP_RETURN, data) });
      continue;
    }
    const script = readAddress(name, prefixes);
    const key = toHex(script);
    if (seen.has(key)) throw invalid(`Invalid parameter, duplicated address: ${name}`);
    seen.set(key, true);
    outputs.push({ value: parseAmount(value), script });
  }
  return outputs;
}

function* readInputs(values: readonly JsonValue[], defaultSequence: number): Slices<TxInput[]> {
  const inputs: TxInput[] = [];
  for (const value of values) {
    inputs.push(readInput(value, defaultSequence));
    yield;
  }
  return inputs;
}

/** Creates the unsigned transaction. Throws the reference's errors. */
export function* constructTransaction(
  { inputs, outputs, locktime, replaceable }: ConstructArgs,
  prefixes: AddressPrefixes,
): Slices<Transaction> {
  if (inputs === null || outputs === null) {
    throw invalid('Invalid parameter, arguments 1 and 2 must be non-null');
  }
  const given = outputs instanceof JsonObject ? outputs : getArray(outputs);
  const lockTime = readLockTime(locktime);
  const defaultSequence =
    replaceable === true ? MAX_REPLACEABLE_SEQUENCE : lockTime === 0 ? SEQUENCE_FINAL : SEQUENCE_FINAL - 1;
  const tx: Transaction = {
    version: TRANSACTION_VERSION,
    inputs: yield* readInputs(inputs, defaultSequence),
    outputs: yield* readOutputs(yield* readPairs(given), prefixes),
    lockTime,
  };
  const signals = tx.inputs.some((input) => input.sequence <= MAX_REPLACEABLE_SEQUENCE);
  if (replaceable !== undefined && tx.inputs.length > 0 && replaceable !== signals) {
    throw invalid('Invalid parameter combination: Sequence number(s) contradict replaceable option');
  }
  return tx;
}
