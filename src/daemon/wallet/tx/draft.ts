/**
 * Transaction drafts: selects coins for given outputs, adds change, and signs. For the same state, the selected coins, the
 * outputs and the bytes are those of lbry-sdk. Source: lbry-sdk lbry/wallet/transaction.py `Transaction.create`, `sign`.
 */

import { ecdsaBackend, signHash } from '../../../crypto/ecdsa.js';
import {
  formatOutPoint,
  SEQUENCE_FINAL,
  type OutPoint,
  type Transaction,
} from '../../../primitives/transaction.js';
import { buildScript } from '../../../script/script.js';
import { SIG_VERSION, SIGHASH, signatureHash } from '../../../script/sighash.js';
import type { Bytes } from '../../../util/bytes.js';
import type { Slices } from '../../../util/slices.js';
import { DaemonError } from '../../base/daemonError.js';
import {
  FEE_PER_BYTE,
  outputFee,
  outputSize,
  payKeyHash,
  payWitnessKeyHash,
  varIntSize,
  type NewOutput,
} from './newOutputs.js';
import { readOutputScript, readTimeLock, witnessKeyHash } from '../../txo/scriptTemplates.js';

/** An output that an input of the draft spends. */
export interface DraftSpentOutput {
  readonly outPoint: OutPoint;
  readonly amountDewies: bigint;
  readonly script: Bytes;
}

export interface DraftInput {
  readonly spent: DraftSpentOutput;
  /** Redeem script of a time lock, if the spent output pays to the hash of that script; otherwise null. */
  readonly redeemScript: Bytes | null;
}

export interface TxDraft {
  readonly inputs: readonly DraftInput[];
  readonly outputs: readonly NewOutput[];
  readonly lockTime: number;
}

/** Functions of the wallet that drafts use. */
export interface FundingPort {
  /** Selects and reserves coins that pay `deficitDewies` and the fee for spending them. Empty if there are not enough coins. */
  choose(deficitDewies: bigint): Promise<readonly DraftSpentOutput[]>;
  release(outputs: readonly DraftSpentOutput[]): Promise<void>;
  /** Returns the key hash of the next change address. */
  changeKeyHash(): Promise<Bytes>;
  /** Whether change is paid to P2WPKH instead of P2PKH. */
  readonly changeIsWitness?: boolean;
  readonly feePerNameChar: bigint;
}

/** `DUST_DEWIES`: maximum change in dewies that is added to the fee instead of creating an output. */
const DUST_DEWIES = 1000n;
const MAX_ROUNDS = 5;
const SIGNATURE_SIZE = 72;
const PUBLIC_KEY_SIZE = 33;
/** Size in bytes of an input without its script: outpoint and sequence number. */
const INPUT_FRAME_SIZE = 36 + 4;
const VERSION_SIZE = 4;
const LOCK_TIME_SIZE = 4;
/**
 * Hash in the change output by which the fee of change is estimated. It has 32 bytes instead of 20, because the reference
 * computes the fee with that size.
 */
const ESTIMATED_CHANGE_HASH = Buffer.alloc(32);
const TRANSACTION_VERSION = 1;
/** Sequence number of an input for which the lock time of the transaction is enforced. */
const SEQUENCE_LOCKED = SEQUENCE_FINAL - 1;

export const insufficientFunds = (): DaemonError =>
  new DaemonError('InsufficientFundsError', 'Not enough funds to cover this transaction.');

export const spend = (spent: DraftSpentOutput): DraftInput => ({ spent, redeemScript: null });

/** Size of the witness in virtual bytes: the item count and the items with their lengths, divided by four. */
const WITNESS_VIRTUAL_SIZE = Math.ceil((1 + 1 + SIGNATURE_SIZE + 1 + PUBLIC_KEY_SIZE) / 4);

const pushSize = (size: number): number => (size < 0x4c ? 1 : size <= 0xff ? 2 : 3) + size;

/** Size of an input in virtual bytes, estimated before the signature exists. Witness bytes count as a quarter (BIP141). */
function inputSize({ redeemScript, spent }: DraftInput): number {
  if (witnessKeyHash(spent.script)) return INPUT_FRAME_SIZE + 1 + WITNESS_VIRTUAL_SIZE;
  const script =
    pushSize(SIGNATURE_SIZE) + pushSize(PUBLIC_KEY_SIZE) + (redeemScript ? pushSize(redeemScript.length) : 0);
  return INPUT_FRAME_SIZE + varIntSize(script) + script;
}

/** Fee for spending an output of the wallet, in dewies. */
export const SPENDING_FEE =
  BigInt(INPUT_FRAME_SIZE + 1 + pushSize(SIGNATURE_SIZE) + pushSize(PUBLIC_KEY_SIZE)) * FEE_PER_BYTE;

const inputFee = (input: DraftInput): bigint => BigInt(inputSize(input)) * FEE_PER_BYTE;

function baseFee(inputCount: number, outputCount: number): bigint {
  return (
    BigInt(VERSION_SIZE + varIntSize(inputCount) + varIntSize(outputCount) + LOCK_TIME_SIZE) * FEE_PER_BYTE
  );
}

const CHANGE_FEE = BigInt(outputSize(payKeyHash(0n, ESTIMATED_CHANGE_HASH).script)) * FEE_PER_BYTE;

/** Cost of a change output in coin selection, in dewies. */
export const COST_OF_CHANGE = CHANGE_FEE;

/**
 * Adds coins as inputs until the inputs pay the outputs and the fee, and adds change. After an error, all reserved inputs
 * are released. Throws `InsufficientFundsError`.
 */
export async function fundDraft(
  given: readonly DraftInput[],
  outputs: readonly NewOutput[],
  port: FundingPort,
): Promise<TxDraft> {
  const inputs = [...given];
  const all = [...outputs];
  let cost = outputs.reduce(
    (sum, { amountDewies, script }) => sum + amountDewies + outputFee(script, port.feePerNameChar),
    baseFee(inputs.length, all.length),
  );
  let payment = inputs.reduce((sum, input) => sum + input.spent.amountDewies - inputFee(input), 0n);
  try {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      if (payment < cost) {
        const chosen = (await port.choose(cost - payment)).map(spend);
        if (chosen.length === 0) throw insufficientFunds();
        inputs.push(...chosen);
        for (const input of chosen) payment += input.spent.amountDewies - inputFee(input);
      }
      const costOfChange = baseFee(inputs.length, all.length) + CHANGE_FEE;
      const change = payment - cost - costOfChange;
      if (change > DUST_DEWIES) {
        const pay = port.changeIsWitness ? payWitnessKeyHash : payKeyHash;
        all.push(pay(change, await port.changeKeyHash()));
      }
      if (all.length > 0) break;
      // The inputs may pay only the fee, without change and without another output. A transaction needs an output, so the
      // cost is raised and a further coin is selected.
      cost += costOfChange + 1n;
    }
  } catch (error) {
    await port.release(inputs.map(({ spent }) => spent));
    throw error;
  }
  return { inputs, outputs: all, lockTime: lockTimeOf(inputs) };
}

function lockTimeOf(inputs: readonly DraftInput[]): number {
  return Math.max(
    0,
    ...inputs.map(({ redeemScript }) => (redeemScript ? readTimeLock(redeemScript).height : 0)),
  );
}

/** Outpoint of the first input (36 bytes), which channel signatures cover. */
export function firstOutPoint({ inputs }: TxDraft): Buffer {
  return formatOutPoint(inputs[0]!.spent.outPoint);
}

/** Returns the draft with the output at index `at` changed. */
export function replaceOutput(draft: TxDraft, at: number, change: (output: NewOutput) => NewOutput): TxDraft {
  return { ...draft, outputs: draft.outputs.map((output, n) => (n === at ? change(output) : output)) };
}

/** Returns the maximum size of the signed transaction in virtual bytes. */
export function draftSize({ inputs, outputs }: TxDraft): number {
  const frame = VERSION_SIZE + varIntSize(inputs.length) + varIntSize(outputs.length) + LOCK_TIME_SIZE;
  const paid = outputs.reduce((sum, { script }) => sum + outputSize(script), frame);
  return inputs.reduce((sum, input) => sum + inputSize(input), paid);
}

/** Returns the fee of the draft in dewies. */
export function feeOf({ inputs, outputs }: TxDraft): bigint {
  const paid = inputs.reduce((sum, { spent }) => sum + spent.amountDewies, 0n);
  return outputs.reduce((rest, { amountDewies }) => rest - amountDewies, paid);
}

/** Hash of the key that must sign the input; undefined if no single key can spend it. */
export function signingHash({ spent, redeemScript }: DraftInput): Buffer | undefined {
  return redeemScript
    ? readTimeLock(redeemScript).pubkeyHash
    : (witnessKeyHash(spent.script) ?? readOutputScript(spent.script).values['pubkey_hash']);
}

/**
 * Signs the transaction. `keyOf` returns the private key for a key hash. For a time lock the key hash comes from the redeem
 * script. Throws `AssertionError` if `keyOf` returns null.
 */
export function* signDraft(draft: TxDraft, keyOf: (pubkeyHash: Bytes) => Bytes | null): Slices<Transaction> {
  const tx: Transaction = {
    version: TRANSACTION_VERSION,
    inputs: draft.inputs.map(({ spent, redeemScript }) => ({
      prevout: spent.outPoint,
      scriptSig: Buffer.alloc(0),
      sequence: redeemScript ? SEQUENCE_LOCKED : SEQUENCE_FINAL,
      witness: [],
    })),
    outputs: draft.outputs.map(({ amountDewies, script }) => ({ value: amountDewies, script })),
    lockTime: draft.lockTime,
  };
  for (const [n, { spent, redeemScript }] of draft.inputs.entries()) {
    yield;
    const hash = signingHash({ spent, redeemScript });
    const privateKey = hash ? keyOf(hash) : null;
    if (privateKey === null)
      throw new DaemonError('AssertionError', 'Cannot find private key for signing output.');
    const isWitness = redeemScript === null && witnessKeyHash(spent.script) !== undefined;
    // A P2WPKH input is signed with the script code of P2PKH. Source: BIP143.
    const code = isWitness ? payKeyHash(0n, hash!).script : (redeemScript ?? spent.script);
    const version = isWitness ? SIG_VERSION.WITNESS_V0 : SIG_VERSION.BASE;
    const digest = signatureHash(code, tx, n, SIGHASH.ALL, spent.amountDewies, version);
    const signature = Buffer.concat([
      signHash(digest, privateKey, false, ecdsaBackend()),
      Buffer.of(SIGHASH.ALL),
    ]);
    const parts: Bytes[] = [signature, ecdsaBackend().publicKeyOf(privateKey, true)];
    if (redeemScript) parts.push(redeemScript);
    if (isWitness) tx.inputs[n]!.witness = parts;
    else tx.inputs[n]!.scriptSig = buildScript(...parts);
  }
  return tx;
}
