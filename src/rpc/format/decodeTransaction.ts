/** Decodes transactions in hex from callers. Source: lbrycrd core_read.cpp `DecodeHexTx`, `CheckTxScriptsSanity`. */
import { isCoinbase, type Transaction } from '../../primitives/transaction.js';
import { parseTransactionInSlices } from '../../primitives/transactionSlices.js';
import { hasValidOps, MAX_SCRIPT_SIZE } from '../../script/script.js';
import type { Bytes } from '../../util/bytes.js';
import { decodeHexInSlices } from '../../util/text/hexSlices.js';
import { Reader, ReadError } from '../../util/reader.js';
import { inSlices } from '../../scheduler/slices.js';
import { AT_ONCE_SIZE, atOnce, type Slices } from '../../util/slices.js';

function* parseWhole(bytes: Bytes, allowWitness: boolean): Slices<Transaction | null> {
  try {
    const reader = new Reader(bytes);
    const tx = yield* parseTransactionInSlices(reader, allowWitness);
    return reader.remaining === 0 ? tx : null;
  } catch (error) {
    if (error instanceof ReadError) return null;
    throw error;
  }
}

const isSane = (script: Bytes): boolean => script.length <= MAX_SCRIPT_SIZE && hasValidOps(script);

function* hasSaneScripts(tx: Transaction): Slices<boolean> {
  for (const { scriptSig } of isCoinbase(tx) ? [] : tx.inputs) {
    if (!isSane(scriptSig)) return false;
    yield;
  }
  for (const { script } of tx.outputs) {
    if (!isSane(script)) return false;
    yield;
  }
  return true;
}

function* decode(
  text: string,
  tryWithoutWitness: boolean,
  tryWithWitness: boolean,
): Slices<Transaction | null> {
  const bytes = text === '' ? null : yield* decodeHexInSlices(text);
  if (bytes === null) return null;
  if (tryWithoutWitness) {
    const tx = yield* parseWhole(bytes, false);
    if (tx !== null && (!tryWithWitness || (yield* hasSaneScripts(tx)))) return tx;
  }
  return tryWithWitness ? yield* parseWhole(bytes, true) : null;
}

/**
 * Decodes a transaction in hex with or without witness; null if it is invalid. If both forms are allowed and both parse, the
 * form without witness is chosen only if its scripts are plausible. A large transaction is parsed in slices.
 */
export async function decodeTransaction(
  text: string,
  tryWithoutWitness: boolean,
  tryWithWitness: boolean,
): Promise<Transaction | null> {
  const work = decode(text, tryWithoutWitness, tryWithWitness);
  return text.length > AT_ONCE_SIZE ? inSlices(work) : atOnce(work);
}
