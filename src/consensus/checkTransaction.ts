/**
 * The rules of a transaction that need only the transaction.
 * They include the size limits of claims, at every height. Source: lbrycrd consensus/tx_verify.cpp `CheckTransaction`.
 */
import { isCoinbase, isNullOutPoint, type OutPoint, type Transaction } from '../primitives/transaction.js';
import { claimNameLength, claimPrefixLength, startsWithClaimOpcode } from '../script/claimScript.js';
import { equalBytes, toLatin1, type Bytes } from '../util/bytes.js';
import {
  isMoneyRange,
  MAX_BLOCK_WEIGHT,
  MAX_CLAIM_NAME_SIZE,
  MAX_CLAIM_SCRIPT_SIZE,
  MAX_MONEY,
  WITNESS_SCALE_FACTOR,
} from './limits.js';
import { reject, type ValidationError } from './reject.js';
import { strippedSize } from './txSize.js';

export const MIN_COINBASE_SCRIPT_SIZE = 2;
export const MAX_COINBASE_SCRIPT_SIZE = 100;
/** Number of inputs up to which pairwise comparison is faster than a set. Arbitrary. */
const PAIRWISE_INPUTS = 8;

/** Checks the size limits of a claim script. The metadata of a support counts as part of the script at every height. */
export function checkClaimScriptSizes(script: Bytes): ValidationError | null {
  if (!startsWithClaimOpcode(script)) return null;
  if (claimPrefixLength(script) > MAX_CLAIM_SCRIPT_SIZE) return reject('bad-txns-claimscriptsize-toolarge');
  if (claimNameLength(script) > MAX_CLAIM_NAME_SIZE) return reject('bad-txns-claimscriptname-toolarge');
  return null;
}

function sameOutPoint(a: OutPoint, b: OutPoint): boolean {
  return a.index === b.index && equalBytes(a.hash, b.hash);
}

function hasDuplicateInputs(inputs: Transaction['inputs']): boolean {
  if (inputs.length <= PAIRWISE_INPUTS) {
    for (let i = 1; i < inputs.length; i++) {
      for (let j = 0; j < i; j++) if (sameOutPoint(inputs[i]!.prevout, inputs[j]!.prevout)) return true;
    }
    return false;
  }
  const seen = new Set<string>();
  for (const { prevout } of inputs) seen.add(`${toLatin1(prevout.hash)}${prevout.index}`);
  return seen.size !== inputs.length;
}

/** Checks amounts and claim scripts, output by output, in the reference's order. */
function checkOutputs(outputs: Transaction['outputs']): ValidationError | null {
  let total = 0n;
  for (const { value, script } of outputs) {
    if (value < 0n) return reject('bad-txns-vout-negative');
    if (value > MAX_MONEY) return reject('bad-txns-vout-toolarge');
    total += value;
    if (!isMoneyRange(total)) return reject('bad-txns-txouttotal-toolarge');
    const oversized = checkClaimScriptSizes(script);
    if (oversized) return oversized;
  }
  return null;
}

/** Checks all context-free rules for transactions, in the reference's order. The first violation is the verdict. */
export function checkTransaction(tx: Transaction): ValidationError | null {
  if (tx.inputs.length === 0) return reject('bad-txns-vin-empty');
  if (tx.outputs.length === 0) return reject('bad-txns-vout-empty');
  if (strippedSize(tx) * WITNESS_SCALE_FACTOR > MAX_BLOCK_WEIGHT) return reject('bad-txns-oversize');
  const badOutput = checkOutputs(tx.outputs);
  if (badOutput) return badOutput;
  if (hasDuplicateInputs(tx.inputs)) return reject('bad-txns-inputs-duplicate');
  if (isCoinbase(tx)) {
    const size = tx.inputs[0]!.scriptSig.length;
    if (size < MIN_COINBASE_SCRIPT_SIZE || size > MAX_COINBASE_SCRIPT_SIZE) return reject('bad-cb-length');
  } else if (tx.inputs.some((input) => isNullOutPoint(input.prevout))) {
    return reject('bad-txns-prevout-null');
  }
  return null;
}
