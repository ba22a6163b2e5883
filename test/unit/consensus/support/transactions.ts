/** Small valid transactions, in which tests break one rule at a time. */
import {
  emptyInput,
  NULL_HASH,
  NULL_INDEX,
  type Transaction,
  type TxOutput,
} from '../../../../src/primitives/transaction.js';

export const TRUE_SCRIPT = Uint8Array.of(0x51);

export function outputOf(value: bigint, script: Uint8Array = TRUE_SCRIPT): TxOutput {
  return { value, script };
}

/**
 * A transaction with one input for each number, which spends output 0 of the transaction whose id consists of bytes with that
 * number.
 */
export function spending(...ids: number[]): Transaction {
  return {
    version: 1,
    inputs: ids.map((id) => emptyInput({ hash: new Uint8Array(32).fill(id), index: 0 })),
    outputs: [outputOf(1n)],
    lockTime: 0,
  };
}

export function coinbaseWith(scriptSig: Uint8Array, outputs: TxOutput[] = [outputOf(1n)]): Transaction {
  const input = { ...emptyInput({ hash: NULL_HASH, index: NULL_INDEX }), scriptSig };
  return { version: 1, inputs: [input], outputs, lockTime: 0 };
}
