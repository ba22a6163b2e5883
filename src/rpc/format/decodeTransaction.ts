/** Reading the transactions that callers send. Source: lbrycrd core_read.cpp `DecodeHexTx`, `CheckTxScriptsSanity`. */
import { isCoinbase, parseTransaction, type Transaction } from '../../primitives/transaction.js';
import { hasValidOps, MAX_SCRIPT_SIZE } from '../../script/script.js';
import { fromHex, isHex, type Bytes } from '../../util/bytes.js';
import { Reader, ReadError } from '../../util/reader.js';

function parseWhole(bytes: Bytes, allowWitness: boolean): Transaction | null {
  try {
    const reader = new Reader(bytes);
    const tx = parseTransaction(reader, allowWitness);
    return reader.remaining === 0 ? tx : null;
  } catch (error) {
    if (error instanceof ReadError) return null;
    throw error;
  }
}

const isSane = (script: Bytes): boolean => hasValidOps(script) && script.length <= MAX_SCRIPT_SIZE;

function hasSaneScripts(tx: Transaction): boolean {
  if (!isCoinbase(tx) && !tx.inputs.every((input) => isSane(input.scriptSig))) return false;
  return tx.outputs.every((output) => isSane(output.script));
}

/**
 * The transaction that the hex holds, in the form without witness or the one with, or null. Where both are allowed and
 * the bytes fit both, the form without wins only when its scripts make sense.
 */
export function decodeTransaction(
  text: string,
  tryWithoutWitness: boolean,
  tryWithWitness: boolean,
): Transaction | null {
  if (text === '' || !isHex(text)) return null;
  const bytes = fromHex(text);
  if (tryWithoutWitness) {
    const tx = parseWhole(bytes, false);
    if (tx !== null && (!tryWithWitness || hasSaneScripts(tx))) return tx;
  }
  return tryWithWitness ? parseWhole(bytes, true) : null;
}
