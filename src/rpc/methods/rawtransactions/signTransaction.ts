/**
 * Signs a raw transaction with keys from a key store. Shared by the `signrawtransaction` methods: previous outputs from the
 * caller, the hash type, and the result. Source: lbrycrd rpc/rawtransaction.cpp `SignTransaction`.
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
          txid: t.hash('the id of the transaction whose output is spent'),
          vout: t.int('the index of that output'),
          witness: t.array(t.hex('a witness item')),
          scriptSig: t.hex('the signature script'),
          sequence: t.int('the sequence number'),
          error: t.str('the error of the input'),
        }),
      ),
      'if there are any',
    ),
  }),
);

/**
 * Number of witness items above which a witness is formatted while the response is sent. Arbitrary: no spendable input has
 * as many.
 */
const MANY_ITEMS = 1000;

export interface SignRequest {
  readonly tx: Transaction;
  /** Previous outputs from the caller, unparsed. */
  readonly prevTxs: readonly JsonValue[] | undefined;
  readonly sighashType: string | undefined;
  readonly provider: SigningProvider;
  /** Key store that receives the redeem scripts in `prevTxs`. Null if the keys are those of a wallet. */
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
 * Stores the redeem script of a previous output from the caller. It is required for P2SH and P2WSH. It is also used after a
 * claim prefix; the reference would ignore it there and could not sign.
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
  // The members are checked in the alphabetical order of their names, as in the reference.
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
  // An unspendable output is not a coin, so it is not stored.
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

/**
 * Formats the error of one input. The witness is formatted while the response is written, because it may have millions of
 * items. Source: `TxInErrorToJSON`.
 */
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

/** Signs one input. Returns an error text, or null on success. */
function signOne(task: SigningTask, index: number, spent: TxOutput): string | null {
  signInput(task, index, spent);
  if (spent.value === MAX_MONEY && task.tx.inputs[index]!.witness.length > 0) {
    throw rpcError(RPC_ERROR.TYPE_ERROR, `Missing amount for ${describeOutput(spent)}`);
  }
  return inputProblem(task, index, spent);
}

/** Signs the inputs for which keys are available. Modifies the transaction and returns the result of the call. */
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
