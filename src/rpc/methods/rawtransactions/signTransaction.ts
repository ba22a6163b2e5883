/**
 * Signing of a raw transaction with a provider's keys, shared by the `signrawtransaction` methods: previous outputs given by
 * the caller, the hash type, and the result. Source: lbrycrd rpc/rawtransaction.cpp `SignTransaction`.
 */
import { MAX_MONEY } from '../../../consensus/limits.js';
import { type Transaction, type TxInput, type TxOutput } from '../../../primitives/transaction.js';
import { formatTransactionInSlices } from '../../../primitives/transactionSlices.js';
import { formatAsm } from '../../../script/asm.js';
import { stripClaimPrefix } from '../../../script/claimScript.js';
import { isPayToScriptHash, isUnspendable } from '../../../script/script.js';
import { SIGHASH } from '../../../script/sighash.js';
import { scriptForWitness, solveScript } from '../../../script/standard.js';
import { parseSighashType } from '../../../signing/sighashType.js';
import { inputProblem, signInput, signingTask, type SigningTask } from '../../../signing/signInput.js';
import type { MemoryKeyStore, SigningProvider } from '../../../signing/signingProvider.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { equalBytes, hashToHex, toHex, type Bytes } from '../../../util/bytes.js';
import {
  formatCoins,
  JsonObject,
  jsonTypeName,
  type JsonTypeName,
  type JsonValue,
} from '../../../util/json/json.js';
import { hexOf, jsonArray, type JsonOut } from '../../../util/json/jsonWrite.js';
import { inSlices } from '../../../scheduler/slices.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import type { ParamDecl } from '../../declare/method.js';
import { getInt, parseAmount, parseHashParam, parseHexParam } from '../../declare/paramTypes.js';
import { t } from '../../../schema/schema.js';
import type { RpcServices } from '../../../interfaces/services.js';
import { findSpentCoins, type SpentCoins } from './spentCoins.js';

export const PREVTXS_PARAM = {
  name: 'prevtxs',
  type: 'array',
  strict: 'nullable',
  description:
    'Previous outputs that this transaction depends on but may not yet be in the block chain: objects of "txid", "vout", ' +
    '"scriptPubKey" (hex), "redeemScript" (hex, required for P2SH or P2WSH) and "amount" (required for witness outputs)',
} as const satisfies ParamDecl;

export const SIGHASH_PARAM = {
  name: 'sighashtype',
  type: 'string',
  strict: 'nullable',
  defaultText: 'ALL',
  description:
    'The signature hash type: ALL, NONE, SINGLE, ALL|ANYONECANPAY, NONE|ANYONECANPAY or SINGLE|ANYONECANPAY',
} as const satisfies ParamDecl;

export const SIGNED_SCHEMA = t.named(
  'SignedTransaction',
  t.object({
    hex: t.hex('the raw transaction with its signatures'),
    complete: t.bool('whether the transaction has a complete set of signatures'),
    errors: t.optional(
      t.array(
        t.object({
          txid: t.hash('the transaction whose output is spent'),
          vout: t.int('the number of that output'),
          witness: t.array(t.hex('a witness item')),
          scriptSig: t.hex('the signature script'),
          sequence: t.int('the sequence number'),
          error: t.str('what is wrong with the input'),
        }),
      ),
      'if there are any',
    ),
  }),
);

/** A witness with more items is formatted while the response is sent. Arbitrary: no spendable input has as many. */
const MANY_ITEMS = 1000;

export interface SignRequest {
  readonly tx: Transaction;
  /** Previous outputs given by the caller, not parsed. */
  readonly prevTxs: readonly JsonValue[] | undefined;
  readonly sighashType: string | undefined;
  readonly provider: SigningProvider;
  /** Stores the redeem scripts in `prevTxs`; null when the keys are a wallet's. */
  readonly scripts: MemoryKeyStore | null;
}

/** Source: `RPCTypeCheckObj`. */
function requireMember(object: JsonObject, name: string, expected: JsonTypeName): JsonValue {
  const value = object.get(name) ?? null;
  if (value === null) throw rpcError(RPC_ERROR.TYPE_ERROR, `Missing ${name}`);
  const got = jsonTypeName(value);
  if (got === expected) return value;
  throw rpcError(RPC_ERROR.TYPE_ERROR, `Expected type ${expected} for ${name}, got ${got}`);
}

function isScriptHash(script: Bytes): boolean {
  return isPayToScriptHash(script) || solveScript(script).type === 'witness_v0_scripthash';
}

/**
 * Stores the redeem script of a given output. It is required for P2SH and P2WSH; behind a claim prefix, where the reference
 * would ignore it and could not sign, it is used if present.
 */
function learnRedeemScript(prevTx: JsonObject, scriptPubKey: Bytes, scripts: MemoryKeyStore): void {
  const isPlain = isScriptHash(scriptPubKey);
  if (!isPlain && !isScriptHash(stripClaimPrefix(scriptPubKey))) return;
  if (!isPlain && (prevTx.get('redeemScript') ?? null) === null) return;
  const script = parseHexParam(requireMember(prevTx, 'redeemScript', 'string'), 'redeemScript');
  scripts.addScript(script);
  scripts.addScript(scriptForWitness(script));
}

function addPrevTx(value: JsonValue, coins: SpentCoins, scripts: MemoryKeyStore | null): void {
  if (!(value instanceof JsonObject)) {
    throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, 'expected object with {"txid\'","vout","scriptPubKey"}');
  }
  // Checked in the order of their names, whatever order they are read in.
  requireMember(value, 'scriptPubKey', 'string');
  requireMember(value, 'txid', 'string');
  requireMember(value, 'vout', 'number');
  const hash = parseHashParam(value.get('txid')!, 'txid');
  const index = getInt(value.get('vout')!);
  if (index < 0) throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, 'vout must be positive');
  const script = parseHexParam(value.get('scriptPubKey')!, 'scriptPubKey');
  const outPoint = { hash, index };
  const known = coins.get(outPoint);
  if (known !== null && !equalBytes(known.script, script)) {
    const message = `Previous output scriptPubKey mismatch:\n${formatAsm(known.script)}\nvs:\n${formatAsm(script)}`;
    throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, message);
  }
  const amount = value.get('amount');
  const output = { value: amount === undefined ? MAX_MONEY : parseAmount(amount), script };
  // An unspendable output is never a coin.
  if (!isUnspendable(script)) coins.set(outPoint, output);
  if (scripts !== null) learnRedeemScript(value, script, scripts);
}

function readSighashType(name: string | undefined): number {
  if (name === undefined) return SIGHASH.ALL;
  const type = parseSighashType(name);
  if (type === null) throw rpcError(RPC_ERROR.MISC_ERROR, `${name} is not a valid sighash parameter.`);
  return type;
}

function* witnessItems(witness: readonly Bytes[]): Generator<string> {
  for (const item of witness) yield toHex(item);
}

/** Source: `TxInErrorToJSON`. No work is done per item of a witness, since there may be millions. */
function inputError({ prevout, witness, scriptSig, sequence }: TxInput, error: string): JsonOut {
  return {
    txid: hashToHex(prevout.hash),
    vout: prevout.index,
    witness: witness.length > MANY_ITEMS ? jsonArray(witnessItems(witness)) : witness.map(toHex),
    scriptSig: toHex(scriptSig),
    sequence,
    error,
  };
}

/** Source: `CTxOut::ToString`. */
function describeOutput({ value, script }: TxOutput): string {
  return `CTxOut(nValue=${formatCoins(value)}, scriptPubKey=${toHex(script).slice(0, 30)})`;
}

/** Signs one input; returns an error, or null. */
function signOne(task: SigningTask, index: number, spent: TxOutput): string | null {
  signInput(task, index, spent);
  if (spent.value === MAX_MONEY && task.tx.inputs[index]!.witness.length > 0) {
    throw rpcError(RPC_ERROR.TYPE_ERROR, `Missing amount for ${describeOutput(spent)}`);
  }
  return inputProblem(task, index, spent);
}

/** Signs the inputs for which keys are available, modifying the transaction, and returns the result. */
export async function signTransaction(
  services: Pick<RpcServices, 'mempool' | 'chain'>,
  { tx, prevTxs, sighashType, provider, scripts }: SignRequest,
): Promise<JsonOut> {
  const coins = await findSpentCoins(services, tx);
  let since = performance.now();
  for (const prevTx of prevTxs ?? []) {
    addPrevTx(prevTx, coins, scripts);
    since = await yieldIfDue(since);
  }
  const task = signingTask(tx, provider, readSighashType(sighashType));
  await inSlices(task.shared.prepareInSlices());
  since = performance.now();
  const errors: JsonOut[] = [];
  for (const [index, input] of tx.inputs.entries()) {
    const spent = coins.get(input.prevout);
    const error = spent === null ? 'Input not found or already spent' : signOne(task, index, spent);
    if (error !== null) errors.push(inputError(input, error));
    since = await yieldIfDue(since);
  }
  const complete = errors.length === 0;
  const hex = hexOf(await inSlices(formatTransactionInSlices(tx)));
  return { hex, complete, errors: complete ? undefined : errors };
}
