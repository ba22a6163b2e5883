/**
 * The signature operation cost of a transaction. The counting itself is in `script/sigops.ts`. Source: lbrycrd
 * consensus/tx_verify.cpp `GetTransactionSigOpCost`, BIP141.
 */
import { isCoinbase, type Transaction } from '../primitives/transaction.js';
import { SCRIPT_VERIFY } from '../script/flags.js';
import { countLegacySigops, countP2shSigops, countWitnessSigops } from '../script/sigops.js';
import type { Bytes } from '../util/bytes.js';
import { WITNESS_SCALE_FACTOR } from './limits.js';

/** Signature operations in the scripts of the transaction itself, unweighted; claim prefixes are not stripped. */
export function legacySigopCount(tx: Transaction): number {
  let count = 0;
  for (const input of tx.inputs) count += countLegacySigops(input.scriptSig, false);
  for (const output of tx.outputs) count += countLegacySigops(output.script, false);
  return count;
}

/**
 * Sum of the transaction's signature operations, weighted as in BIP141. `prevScriptOf(i)` is the output script that input i
 * spends (not called for a coinbase).
 */
export function transactionSigopCost(
  tx: Transaction,
  prevScriptOf: (inputIndex: number) => Bytes,
  flags: number,
): number {
  let cost = legacySigopCount(tx) * WITNESS_SCALE_FACTOR;
  if (isCoinbase(tx)) return cost;
  for (let i = 0; i < tx.inputs.length; i++) {
    const { scriptSig, witness } = tx.inputs[i]!;
    const prevScript = prevScriptOf(i);
    if ((flags & SCRIPT_VERIFY.P2SH) !== 0)
      cost += countP2shSigops(scriptSig, prevScript) * WITNESS_SCALE_FACTOR;
    cost += countWitnessSigops(scriptSig, prevScript, witness, flags);
  }
  return cost;
}
