/**
 * Transactions in the making: paid for by coins, given change, signed. The same coins, outputs and bytes come of the same
 * surroundings as in lbry-sdk. Source: lbry-sdk lbry/wallet/transaction.py `Transaction.create`, `sign`.
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

/** An output that is spent. */
export interface SpentOutput {
  readonly outPoint: OutPoint;
  readonly amountDewies: bigint;
  readonly script: Bytes;
}

export interface DraftInput {
  readonly spent: SpentOutput;
  /** The redeem script of a time lock, where the output pays to its hash. */
  readonly redeemScript: Bytes | null;
}

export interface Draft {
  readonly inputs: readonly DraftInput[];
  readonly outputs: readonly NewOutput[];
  readonly lockTime: number;
}

/** What a draft takes from the wallet. */
export interface FundingPort {
  /** Coins that pay the deficit, reserved from then on; none where there are not enough. */
  choose(deficitDewies: bigint): Promise<readonly SpentOutput[]>;
  release(outputs: readonly SpentOutput[]): Promise<void>;
  /** Key hash of the next address for change. */
  changeKeyHash(): Promise<Bytes>;
  /** Whether change is paid to a witness program of the key hash (P2WPKH), not to P2PKH. */
  readonly changeIsWitness?: boolean;
  readonly feePerNameChar: bigint;
}

/** Change that is not more than this goes to the fee. */
const DUST_DEWIES = 1000n;
const MAX_ROUNDS = 5;
const SIGNATURE_SIZE = 72;
const PUBLIC_KEY_SIZE = 33;
/** Outpoint and sequence. */
const INPUT_FRAME_SIZE = 36 + 4;
const VERSION_SIZE = 4;
const LOCK_TIME_SIZE = 4;
/** Any hash: the change output is estimated with one of 32 bytes instead of 20, which makes its fee what it is. */
const ESTIMATED_CHANGE_HASH = Buffer.alloc(32);
const TRANSACTION_VERSION = 1;
/** Lets the lock time count. */
const SEQUENCE_LOCKED = SEQUENCE_FINAL - 1;

export const insufficientFunds = (): DaemonError =>
  new DaemonError('InsufficientFundsError', 'Not enough funds to cover this transaction.');

export const spend = (spent: SpentOutput): DraftInput => ({ spent, redeemScript: null });

/** The count of items, and the items with their lengths, in units of four bytes. */
const WITNESS_VIRTUAL_SIZE = Math.ceil((1 + 1 + SIGNATURE_SIZE + 1 + PUBLIC_KEY_SIZE) / 4);

const pushSize = (size: number): number => (size < 0x4c ? 1 : size <= 0xff ? 2 : 3) + size;

/** Bytes of an input before it is signed; what is in a witness counts as a quarter (BIP141). */
function inputSize({ redeemScript, spent }: DraftInput): number {
  if (witnessKeyHash(spent.script)) return INPUT_FRAME_SIZE + 1 + WITNESS_VIRTUAL_SIZE;
  const script =
    pushSize(SIGNATURE_SIZE) + pushSize(PUBLIC_KEY_SIZE) + (redeemScript ? pushSize(redeemScript.length) : 0);
  return INPUT_FRAME_SIZE + varIntSize(script) + script;
}

/** What spending an output of the wallet costs, dewies. */
export const SPENDING_FEE =
  BigInt(INPUT_FRAME_SIZE + 1 + pushSize(SIGNATURE_SIZE) + pushSize(PUBLIC_KEY_SIZE)) * FEE_PER_BYTE;

const inputFee = (input: DraftInput): bigint => BigInt(inputSize(input)) * FEE_PER_BYTE;

function baseFee(inputCount: number, outputCount: number): bigint {
  return (
    BigInt(VERSION_SIZE + varIntSize(inputCount) + varIntSize(outputCount) + LOCK_TIME_SIZE) * FEE_PER_BYTE
  );
}

const CHANGE_FEE = BigInt(outputSize(payKeyHash(0n, ESTIMATED_CHANGE_HASH).script)) * FEE_PER_BYTE;

/** The cost of change that a choice of coins counts with. */
export const COST_OF_CHANGE = CHANGE_FEE;

/**
 * Chooses coins until inputs pay outputs and fee, and gives back what is left. On failure chosen and given coins are
 * released. Throws `InsufficientFundsError`.
 */
export async function fundDraft(
  given: readonly DraftInput[],
  outputs: readonly NewOutput[],
  port: FundingPort,
): Promise<Draft> {
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
      // One input may be just enough for the fee but not for change: then there is nothing to pay to, and it takes another.
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

/** 36 bytes: what signatures of channels are over. */
export function firstOutPoint({ inputs }: Draft): Buffer {
  return formatOutPoint(inputs[0]!.spent.outPoint);
}

/** The draft with one of its outputs changed. */
export function replaceOutput(draft: Draft, at: number, change: (output: NewOutput) => NewOutput): Draft {
  return { ...draft, outputs: draft.outputs.map((output, n) => (n === at ? change(output) : output)) };
}

/** The most bytes that the signed transaction can have. */
export function draftSize({ inputs, outputs }: Draft): number {
  const frame = VERSION_SIZE + varIntSize(inputs.length) + varIntSize(outputs.length) + LOCK_TIME_SIZE;
  const paid = outputs.reduce((sum, { script }) => sum + outputSize(script), frame);
  return inputs.reduce((sum, input) => sum + inputSize(input), paid);
}

/** The fee that the draft pays, dewies. */
export function feeOf({ inputs, outputs }: Draft): bigint {
  const paid = inputs.reduce((sum, { spent }) => sum + spent.amountDewies, 0n);
  return outputs.reduce((rest, { amountDewies }) => rest - amountDewies, paid);
}

/** The hash of the key that must sign the input; undefined if a key alone does not do. */
export function signingHash({ spent, redeemScript }: DraftInput): Buffer | undefined {
  return redeemScript
    ? readTimeLock(redeemScript).pubkeyHash
    : (witnessKeyHash(spent.script) ?? readOutputScript(spent.script).values['pubkey_hash']);
}

/**
 * The transaction, signed. `keyOf` gives the private key to a key hash; of a time lock it is the hash within the redeem
 * script. Throws `AssertionError` where it gives none.
 */
export function* signDraft(draft: Draft, keyOf: (pubkeyHash: Bytes) => Bytes | null): Slices<Transaction> {
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
    // The script that a P2WPKH input is signed over is that of P2PKH. Source: BIP143.
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
