/**
 * Signs one input of a raw transaction, using the input's existing signatures, and verifies the result. Source: lbrycrd
 * rpc/rawtransaction.cpp `SignTransaction`, the loop over the inputs.
 */
import type { Transaction, TxOutput } from '../primitives/transaction.js';
import { TransactionChecker } from '../script/checker.js';
import { STANDARD_SCRIPT_VERIFY_FLAGS } from '../script/flags.js';
import { verifyScript } from '../script/interpreter.js';
import { SCRIPT_ERROR, scriptErrorMessage } from '../script/scriptError.js';
import { PrecomputedSighash, SIGHASH } from '../script/sighash.js';
import { ecdsaBackend } from '../crypto/ecdsa.js';
import { dataFromInput } from './extractSignatures.js';
import { produceSignature } from './produceSignature.js';
import { InputSigner } from './signatureCreator.js';
import type { SigningProvider } from './signingProvider.js';

/** Data for signing the inputs of a transaction. */
export interface SigningTask {
  readonly tx: Transaction;
  readonly provider: SigningProvider;
  readonly hashType: number;
  readonly shared: PrecomputedSighash;
}

export function signingTask(
  tx: Transaction,
  provider: SigningProvider,
  hashType: number = SIGHASH.ALL,
): SigningTask {
  return { tx, provider, hashType, shared: new PrecomputedSighash(tx) };
}

/** Sets the scriptSig and witness of an input. Signatures that the input contains already are used, too. */
export function signInput(task: SigningTask, index: number, spent: TxOutput): void {
  const { tx, provider, hashType, shared } = task;
  const input = tx.inputs[index]!;
  const data = dataFromInput(tx, index, spent, shared);
  // Hash type SINGLE signs the output with the number of the input. Without such an output no output would be signed, so
  // no signature is created.
  const isSingle = (hashType & ~SIGHASH.ANYONECANPAY) === SIGHASH.SINGLE;
  if (!isSingle || index < tx.outputs.length) {
    const signer = new InputSigner(tx, index, spent.value, hashType, shared);
    produceSignature(provider, signer, spent.script, data);
  }
  input.scriptSig = data.scriptSig;
  input.witness = data.scriptWitness;
}

/** Verifies an input. Returns null if the input satisfies the output that it spends, else an error message. */
export function inputProblem({ tx, shared }: SigningTask, index: number, spent: TxOutput): string | null {
  const { scriptSig, witness } = tx.inputs[index]!;
  const checker = new TransactionChecker(tx, index, spent.value, shared, ecdsaBackend());
  const error = verifyScript(scriptSig, spent.script, witness, STANDARD_SCRIPT_VERIFY_FLAGS, checker);
  if (error === SCRIPT_ERROR.OK) return null;
  return error === SCRIPT_ERROR.INVALID_STACK_OPERATION
    ? 'Unable to sign input, invalid stack size (possibly missing key)'
    : scriptErrorMessage(error);
}
