/**
 * The context-free and contextual rules of a block, applied to its offset table: the same rules as
 * `consensus/checkBlock.ts`, without creating objects. Transactions that look unusual in any way are passed to
 * `checkTransaction` as objects, so this file contains no rules for such transactions. A differential test compares both
 * implementations. Source: lbrycrd validation.cpp `CheckBlock`, `ContextualCheckBlock`.
 */
import {
  checkTransaction,
  MAX_COINBASE_SCRIPT_SIZE,
  MIN_COINBASE_SCRIPT_SIZE,
} from '../../consensus/checkTransaction.js';
import {
  checkBlockLength,
  checkCoinbasePlace,
  checkLegacySigops,
  checkMerkleRoot,
  transactionFailed,
} from '../../consensus/checkBlock.js';
import { checkBlockWeight, checkCoinbaseHeight } from '../../consensus/contextualCheckBlock.js';
import { MAX_BLOCK_WEIGHT, MAX_CLAIM_NAME_SIZE, WITNESS_SCALE_FACTOR } from '../../consensus/limits.js';
import { reject, type ValidationError } from '../../consensus/reject.js';
import { checkWitnessCommitment } from '../../consensus/witnessCommitment.js';
import type { ParsedBlock } from '../../native/binding.js';
import {
  INPUT_PREVOUT,
  INPUT_SCRIPT_LENGTH,
  INPUT_SEQUENCE,
  INPUT_STRIDE,
  OUTPUT_CLAIM_KIND,
  OUTPUT_SCRIPT_LENGTH,
  OUTPUT_STRIDE,
  OUTPUT_VALUE,
  TX_FIRST_INPUT,
  TX_FIRST_OUTPUT,
  TX_FLAGS,
  TX_HAS_WITNESS,
  TX_INPUT_COUNT,
  TX_IS_COINBASE,
  TX_LEGACY_SIGOPS,
  TX_LOCK_TIME,
  TX_OUTPUT_COUNT,
  TX_STRIDE,
  TX_STRIPPED_SIZE,
} from '../../primitives/blockLayout.js';
import { txBytes, txidAt, witnessAt } from '../../primitives/blockView.js';
import { parseTransaction, SEQUENCE_FINAL, type Transaction } from '../../primitives/transaction.js';
import { LOCKTIME_THRESHOLD } from '../../script/script.js';
import { concatBytes } from '../../util/bytes.js';
import { Reader } from '../../util/reader.js';
import type { LoadedBlock } from '../blocks/loadedBlock.js';

/** Transaction `tx` as an object. Its scripts are views into the block. */
export function transactionAt(raw: Buffer, parsed: ParsedBlock, tx: number): Transaction {
  return parseTransaction(new Reader(txBytes(raw, parsed, tx)));
}

/** Number of bytes of BIP144's marker and flag, which follow the version. */
const WITNESS_MARKER_BYTES = 2;

/**
 * Transaction `tx` without its witness as an object; scripts are views. Neither the rules here nor signature hashes need the
 * witness, and a witness of millions of items would need an object for each item.
 */
export function bareTransactionAt(raw: Buffer, parsed: ParsedBlock, tx: number): Transaction {
  const row = tx * TX_STRIDE;
  const bytes = txBytes(raw, parsed, tx);
  if ((parsed.txs[row + TX_FLAGS]! & TX_HAS_WITNESS) === 0) return parseTransaction(new Reader(bytes), false);
  const listsEnd = WITNESS_MARKER_BYTES + parsed.txs[row + TX_STRIPPED_SIZE]! - 4;
  const stripped = concatBytes(
    bytes.subarray(0, 4),
    bytes.subarray(4 + WITNESS_MARKER_BYTES, listsEnd),
    bytes.subarray(-4),
  );
  return parseTransaction(new Reader(stripped), false);
}

/**
 * Upper half of an amount of 2^48 satoshis. If all outputs of a block have smaller amounts, their sum is exact and in the
 * money range.
 */
const QUICK_VALUE_HIGH = 1 << 16;
/** Maximum number of inputs for which duplicates are found by comparing all pairs. */
const QUICK_INPUTS = 16;

/** Whether size and outputs of a transaction are certainly well-formed. If false, the full check must decide. */
function outputsSurelyPass(raw: Buffer, { txs, outputs }: ParsedBlock, row: number): boolean {
  const outputCount = txs[row + TX_OUTPUT_COUNT]!;
  if (outputCount === 0 || outputCount > 4096) return false;
  if (txs[row + TX_STRIPPED_SIZE]! * WITNESS_SCALE_FACTOR > MAX_BLOCK_WEIGHT) return false;
  const firstOutput = txs[row + TX_FIRST_OUTPUT]!;
  for (
    let at = firstOutput * OUTPUT_STRIDE, end = at + outputCount * OUTPUT_STRIDE;
    at < end;
    at += OUTPUT_STRIDE
  ) {
    if (raw.readUInt32LE(outputs[at + OUTPUT_VALUE]! + 4) >= QUICK_VALUE_HIGH) return false;
    // A claim script that is not longer than the maximum length of a claim name is within all size limits.
    if (outputs[at + OUTPUT_CLAIM_KIND] !== 0 && outputs[at + OUTPUT_SCRIPT_LENGTH]! > MAX_CLAIM_NAME_SIZE)
      return false;
  }
  return true;
}

/** Like `surelyPasses`, for the first transaction of a block, which must be a coinbase. */
function coinbaseSurelyPasses(raw: Buffer, parsed: ParsedBlock): boolean {
  if ((parsed.txs[TX_FLAGS]! & TX_IS_COINBASE) === 0) return false;
  const length = parsed.inputs[INPUT_SCRIPT_LENGTH]!;
  if (length < MIN_COINBASE_SCRIPT_SIZE || length > MAX_COINBASE_SCRIPT_SIZE) return false;
  return outputsSurelyPass(raw, parsed, 0);
}

/** Whether a transaction that is not a coinbase is certainly well-formed. If false, the full check must decide. */
function surelyPasses(raw: Buffer, parsed: ParsedBlock, row: number): boolean {
  const { txs, inputs } = parsed;
  const inputCount = txs[row + TX_INPUT_COUNT]!;
  if (inputCount === 0 || inputCount > QUICK_INPUTS || !outputsSurelyPass(raw, parsed, row)) return false;
  const firstInput = txs[row + TX_FIRST_INPUT]! * INPUT_STRIDE;
  const lastInput = firstInput + inputCount * INPUT_STRIDE;
  for (let a = firstInput; a < lastInput; a += INPUT_STRIDE) {
    const prevout = inputs[a + INPUT_PREVOUT]!;
    if (raw.readUInt32LE(prevout) === 0 && raw.readUInt32LE(prevout + 28) === 0) return false;
    for (let b = a + INPUT_STRIDE; b < lastInput; b += INPUT_STRIDE) {
      const other = inputs[b + INPUT_PREVOUT]!;
      if (
        raw.readInt32LE(prevout) === raw.readInt32LE(other) &&
        raw.readInt32LE(prevout + 32) === raw.readInt32LE(other + 32)
      ) {
        return false;
      }
    }
  }
  return true;
}

/** All checks except the header's own proof of work, in the reference's order. */
export function checkBlockView(block: LoadedBlock): ValidationError | null {
  const { raw, parsed, header } = block;
  const { txs, txCount } = parsed;
  const early =
    checkMerkleRoot({ root: parsed.merkleRoot, mutated: parsed.mutated }, header.merkleRoot) ??
    checkBlockLength(txCount, parsed.strippedSizeBytes) ??
    checkCoinbasePlace(txCount, (tx) => (txs[tx * TX_STRIDE + TX_FLAGS]! & TX_IS_COINBASE) !== 0);
  if (early) return early;
  for (let tx = 0; tx < txCount; tx++) {
    if (tx === 0 ? coinbaseSurelyPasses(raw, parsed) : surelyPasses(raw, parsed, tx * TX_STRIDE)) continue;
    const error = checkTransaction(bareTransactionAt(raw, parsed, tx));
    if (error) return transactionFailed(error, txidAt(parsed, tx));
  }
  let sigops = 0;
  for (let row = 0; row < txCount * TX_STRIDE; row += TX_STRIDE) sigops += txs[row + TX_LEGACY_SIGOPS]!;
  return checkLegacySigops(sigops);
}

export interface ContextualRules {
  height: number;
  bip34Height: number;
  segwitActive: boolean;
  /**
   * Time in seconds with which lock times are compared: since BIP113 the median time past of the parent, before that the
   * block's own time.
   */
  lockTimeCutoffSec: number;
}

function isFinal(parsed: ParsedBlock, row: number, rules: ContextualRules): boolean {
  const lockTime = parsed.txs[row + TX_LOCK_TIME]!;
  if (lockTime === 0) return true;
  if (lockTime < (lockTime < LOCKTIME_THRESHOLD ? rules.height : rules.lockTimeCutoffSec)) return true;
  const first = parsed.txs[row + TX_FIRST_INPUT]! * INPUT_STRIDE;
  const end = first + parsed.txs[row + TX_INPUT_COUNT]! * INPUT_STRIDE;
  for (let at = first; at < end; at += INPUT_STRIDE) {
    if (parsed.inputs[at + INPUT_SEQUENCE] !== SEQUENCE_FINAL) return false;
  }
  return true;
}

function coinbaseOf({ raw, parsed }: LoadedBlock): Transaction {
  const coinbase = bareTransactionAt(raw, parsed, 0);
  // Reads at most two witness items. The first is the reserved value. Of the others only the presence matters.
  coinbase.inputs[0]!.witness = witnessAt(raw, parsed, 0, 2);
  return coinbase;
}

function checkWitness(
  { parsed }: LoadedBlock,
  coinbase: Transaction,
  segwitActive: boolean,
): ValidationError | null {
  const anyWitness = (): boolean => {
    for (let row = 0; row < parsed.txCount * TX_STRIDE; row += TX_STRIDE) {
      if ((parsed.txs[row + TX_FLAGS]! & TX_HAS_WITNESS) !== 0) return true;
    }
    return false;
  };
  return checkWitnessCommitment(coinbase, segwitActive, () => parsed.witnessMerkleRoot, anyWitness);
}

/**
 * Checks that transactions and witnesses match the header. Used for an accepted block that is read from disk.
 */
export function checkContents(block: LoadedBlock, segwitActive: boolean): ValidationError | null {
  const { parsed, header } = block;
  return (
    checkMerkleRoot({ root: parsed.merkleRoot, mutated: parsed.mutated }, header.merkleRoot) ??
    checkWitness(block, coinbaseOf(block), segwitActive)
  );
}

/** The rules that need the block's height and its parent, in the reference's order. */
export function contextualCheckBlockView(block: LoadedBlock, rules: ContextualRules): ValidationError | null {
  const { parsed } = block;
  for (let row = 0; row < parsed.txCount * TX_STRIDE; row += TX_STRIDE) {
    if (!isFinal(parsed, row, rules)) return reject('bad-txns-nonfinal', { debug: 'non-final transaction' });
  }
  const coinbase = coinbaseOf(block);
  return (
    checkCoinbaseHeight(coinbase.inputs[0]!.scriptSig, rules.height, rules) ??
    checkWitness(block, coinbase, rules.segwitActive) ??
    checkBlockWeight(parsed.weight)
  );
}
