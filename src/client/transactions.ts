/**
 * Transactions offline, for programs: built from outputs of `claimOutputs.ts` or others, and signed with the given keys.
 * Part of `lbcnode/client`; a node is needed only to send the result (`sendrawtransaction`).
 *
 *   const unsigned = buildTransaction({ inputs: [{ txid, vout: 0 }], outputs: [claim, change] });
 *   const { hex, complete } = signTransaction({ hex: unsigned, network: 'main', spent, privateKeys: [key] });
 *   const claimId = claimIdOf(transactionId(hex), 0);
 *
 * The fee is the sum of the inputs minus the sum of the outputs; no change output is added.
 */
import {
  emptyInput,
  formatTransaction,
  parseTransaction,
  SEQUENCE_FINAL,
  transactionWeight,
  txid as txidBytes,
  type Transaction,
  type TxOutput,
} from '../primitives/transaction.js';
import { scriptForWitness } from '../script/standard.js';
import { decodeSecret } from '../script/wif.js';
import { parseSighashType } from '../signing/sighashType.js';
import { inputProblem, signInput, signingTask } from '../signing/signInput.js';
import { MemoryKeyStore, signingKeyOf } from '../signing/signingProvider.js';
import { fromHex, hashToHex, isHex, toHex } from '../util/bytes.js';
import { Reader, ReadError } from '../util/reader.js';
import {
  hashBytes,
  networkPrefixes,
  paymentOutput,
  type NetworkName,
  type OutputDraft,
} from './claimOutputs.js';

/** Identifies an output by its transaction and number. */
export interface OutputRef {
  readonly txid: string;
  readonly vout: number;
}

export interface InputDraft extends OutputRef {
  /** Sequence number of the input. Default: a value that enables the lock time and, if requested, replacement. */
  readonly sequence?: number;
}

export interface TransactionRequest {
  readonly inputs: readonly InputDraft[];
  readonly outputs: readonly OutputDraft[];
  /** Lowest height, or lowest time in seconds since 1970, of the block that may contain the transaction. */
  readonly lockTime?: number;
  /** Whether a transaction with a higher fee may replace the transaction (BIP125). */
  readonly replaceable?: boolean;
}

/** A spent output, with the data needed for signing. */
export interface SpentOutput extends OutputRef {
  readonly amountSat: bigint;
  readonly script: Uint8Array;
  /** Redeem script of a P2SH or P2WSH output (with or without a claim prefix). The output contains the hash of this script. */
  readonly redeemScript?: Uint8Array;
}

export interface SignRequest {
  readonly network: NetworkName;
  /** The transaction in hex. It may already contain signatures, which are not removed. */
  readonly hex: string;
  /** Outputs that the inputs of the transaction spend. */
  readonly spent: readonly SpentOutput[];
  /** Private keys in wallet import format, as a node exports them. */
  readonly privateKeys: readonly string[];
  /** Signature hash type, with the names that `signrawtransactionwithkey` uses. Default: ALL. */
  readonly sighashType?: string;
}

export interface SignAnswer {
  readonly hex: string;
  /** Whether every input is completely signed. */
  readonly complete: boolean;
  /** Problems of the inputs that are not completely signed; empty if there are none. */
  readonly problems: readonly { readonly input: number; readonly problem: string }[];
}

const TRANSACTION_VERSION = 2;
const REPLACEABLE_SEQUENCE = 0xfffffffd;
const WITNESS_SCALE = 4;

function uint32(value: number, what: string): number {
  if (!Number.isInteger(value) || value < 0 || value > 0xffffffff) {
    throw new RangeError(`${what} is not an unsigned 32-bit number: ${value}`);
  }
  return value;
}

/** Builds an unsigned transaction and returns it as hex. */
export function buildTransaction(request: TransactionRequest): string {
  const { inputs, outputs, lockTime = 0, replaceable = false } = request;
  const usual = replaceable ? REPLACEABLE_SEQUENCE : lockTime === 0 ? SEQUENCE_FINAL : SEQUENCE_FINAL - 1;
  const tx: Transaction = {
    version: TRANSACTION_VERSION,
    inputs: inputs.map(({ txid, vout, sequence = usual }) => ({
      ...emptyInput({ hash: hashBytes(txid, 32, 'txid'), index: uint32(vout, 'vout') }),
      sequence: uint32(sequence, 'sequence'),
    })),
    outputs: outputs.map(({ value, script }) => ({ value, script })),
    lockTime: uint32(lockTime, 'lockTime'),
  };
  return toHex(formatTransaction(tx));
}

export interface AbandonRequest {
  readonly network: NetworkName;
  /** Output that contains the claim or support, and its amount. */
  readonly output: OutputRef & { readonly amountSat: bigint };
  /** Receiving address. */
  readonly address: string;
  readonly feeSat: bigint;
}

/** Builds an unsigned transaction that abandons a claim or a support: it spends the output and pays to an address. */
export function abandonTransaction({ network, output, address, feeSat }: AbandonRequest): string {
  const left = output.amountSat - feeSat;
  if (feeSat < 0n || left <= 0n) {
    throw new RangeError(`a fee of ${feeSat} satoshis leaves nothing of the output's ${output.amountSat}`);
  }
  return buildTransaction({
    inputs: [output],
    outputs: [paymentOutput({ network, address, amountSat: left })],
  });
}

function parseHex(hex: string): Transaction {
  if (!isHex(hex)) throw new RangeError('the transaction is not hex');
  try {
    const reader = new Reader(fromHex(hex));
    const tx = parseTransaction(reader);
    if (reader.remaining === 0) return tx;
  } catch (error) {
    if (!(error instanceof ReadError)) throw error;
  }
  throw new RangeError('the bytes are not a valid transaction');
}

/** Returns the id of a transaction. Signing changes the id unless all inputs are witness inputs. */
export function transactionId(hex: string): string {
  return hashToHex(txidBytes(parseHex(hex)));
}

/** Virtual size (BIP141) of a signed transaction, on which fee rates are based. */
export function virtualSizeOf(hex: string): number {
  return Math.ceil(transactionWeight(parseHex(hex)) / WITNESS_SCALE);
}

function keyStore({ network, privateKeys, spent }: SignRequest): MemoryKeyStore {
  const store = new MemoryKeyStore();
  for (const text of privateKeys) {
    const secret = decodeSecret(text, networkPrefixes(network));
    if (secret === null)
      throw new RangeError(`a private key is invalid or belongs to another network than ${network}`);
    store.addKey(signingKeyOf(secret.privateKey, secret.compressed));
  }
  for (const { redeemScript } of spent) {
    if (redeemScript === undefined) continue;
    store.addScript(redeemScript);
    store.addScript(scriptForWitness(redeemScript));
  }
  return store;
}

const refKey = ({ txid, vout }: OutputRef): string => `${txid.toLowerCase()}:${vout}`;

/**
 * Signs the inputs for which the caller gives keys, including inputs that spend claims. Reports the problems of the other
 * inputs.
 */
export function signTransaction(request: SignRequest): SignAnswer {
  const { sighashType = 'ALL' } = request;
  const hashType = parseSighashType(sighashType);
  if (hashType === null) throw new RangeError(`unknown signature hash type: ${sighashType}`);
  const tx = parseHex(request.hex);
  const task = signingTask(tx, keyStore(request), hashType);
  const known = new Map(
    request.spent.map((output): [string, TxOutput] => [
      refKey(output),
      { value: output.amountSat, script: output.script },
    ]),
  );
  const problems: { input: number; problem: string }[] = [];
  for (const [input, { prevout }] of tx.inputs.entries()) {
    const spent = known.get(refKey({ txid: hashToHex(prevout.hash), vout: prevout.index }));
    if (spent !== undefined) signInput(task, input, spent);
    const problem =
      spent === undefined ? 'the spent output is missing in the arguments' : inputProblem(task, input, spent);
    if (problem !== null) problems.push({ input, problem });
  }
  return { hex: toHex(formatTransaction(tx)), complete: problems.length === 0, problems };
}
