/**
 * Computes sizes and weights of transactions and blocks without serializing them.
 * Source: Core consensus/validation.h `GetTransactionWeight`, `GetBlockWeight`; BIP141, BIP144.
 */
import type { Block } from '../primitives/block.js';
import { HEADER_SIZE_BYTES } from '../primitives/header.js';
import { hasWitness, type Transaction } from '../primitives/transaction.js';
import type { Bytes } from '../util/bytes.js';
import { WITNESS_SCALE_FACTOR } from './limits.js';

/** Number of bytes of outpoint and sequence. */
const INPUT_FIXED_SIZE = 36 + 4;
/** Size of the amount, in bytes. */
const OUTPUT_FIXED_SIZE = 8;
/** Size of version and lock time, in bytes. */
const TX_FIXED_SIZE = 4 + 4;
/** Size of BIP144's marker and flag, in bytes. */
const WITNESS_MARKER_SIZE = 2;

/** Returns the number of bytes of an encoded compact size. */
export function compactSizeLength(value: number): number {
  return value < 253 ? 1 : value <= 0xffff ? 3 : value <= 0xffffffff ? 5 : 9;
}

function varBytesLength(bytes: Bytes): number {
  return compactSizeLength(bytes.length) + bytes.length;
}

/** Size in bytes without witness data. */
export function strippedSize(tx: Transaction): number {
  let size = TX_FIXED_SIZE + compactSizeLength(tx.inputs.length) + compactSizeLength(tx.outputs.length);
  for (const input of tx.inputs) size += INPUT_FIXED_SIZE + varBytesLength(input.scriptSig);
  for (const output of tx.outputs) size += OUTPUT_FIXED_SIZE + varBytesLength(output.script);
  return size;
}

/** Bytes added by the witness; 0 if no input has one. */
export function witnessSize(tx: Transaction): number {
  if (!hasWitness(tx)) return 0;
  let size = WITNESS_MARKER_SIZE;
  for (const input of tx.inputs) {
    size += compactSizeLength(input.witness.length);
    for (const item of input.witness) size += varBytesLength(item);
  }
  return size;
}

/** Returns the weight of a transaction or block with these sizes. */
export function weightOf(strippedSizeBytes: number, totalSizeBytes: number): number {
  return strippedSizeBytes * (WITNESS_SCALE_FACTOR - 1) + totalSizeBytes;
}

export function transactionWeight(tx: Transaction): number {
  return strippedSize(tx) * WITNESS_SCALE_FACTOR + witnessSize(tx);
}

export interface BlockSizes {
  strippedSizeBytes: number;
  totalSizeBytes: number;
  weight: number;
}

export function blockSizes(block: Block): BlockSizes {
  let strippedSizeBytes = HEADER_SIZE_BYTES + compactSizeLength(block.transactions.length);
  let witnessSizeBytes = 0;
  for (const tx of block.transactions) {
    strippedSizeBytes += strippedSize(tx);
    witnessSizeBytes += witnessSize(tx);
  }
  const totalSizeBytes = strippedSizeBytes + witnessSizeBytes;
  return { strippedSizeBytes, totalSizeBytes, weight: weightOf(strippedSizeBytes, totalSizeBytes) };
}
