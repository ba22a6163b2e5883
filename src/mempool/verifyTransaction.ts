/**
 * Verifies the scripts of a new transaction. The addon verifies standard forms, and caches their signatures for the block.
 * With many inputs or signatures it uses its threads; with few inputs it runs synchronously, since switching threads would
 * cost more. Inputs that the addon does not find valid are verified by the interpreter. Source: lbrycrd validation.cpp
 * `CheckInputs` as `AcceptToMemoryPoolWorker` calls it.
 *
 * Unlike the reference, the scripts are not run again under the flags of the tip. The reference fills its cache of
 * executed scripts with that run. This node does not have such a cache. The flags of the tip are a subset of the standard flags, and flags only add restrictions, so the
 * second run could not fail.
 */
import { reject, type ValidationError } from '../consensus/reject.js';
import { ecdsaBackend } from '../crypto/ecdsa.js';
import { loadNative, type CoinValue, type NativeAddon, type VerifyJob } from '../native/binding.js';
import { parseTxView } from '../primitives/blockView.js';
import { hasWitness, type Transaction } from '../primitives/transaction.js';
import { TransactionChecker } from '../script/checker.js';
import {
  SCRIPT_VERIFY,
  STANDARD_NOT_MANDATORY_VERIFY_FLAGS,
  STANDARD_SCRIPT_VERIFY_FLAGS,
} from '../script/flags.js';
import { verifyScript } from '../script/interpreter.js';
import { SCRIPT_ERROR, scriptErrorMessage, type ScriptErrorCode } from '../script/scriptError.js';
import { PrecomputedSighash } from '../script/sighash.js';
import { nextSlice, yieldIfDue } from '../scheduler/yield.js';
import { concatBytes } from '../util/bytes.js';

const EMPTY = new Uint32Array(0);
/** Minimum number of inputs of a transaction that is verified on other threads. */
const THREADED_INPUTS = 5;
/**
 * Minimum signature operation cost of a transaction that is verified on other threads. Each operation may take a tenth of a
 * millisecond.
 */
const THREADED_SIGOPS_COST = 80;

/** Data of an output that an input of the transaction spends. */
export type VerifiedOutput = Pick<CoinValue, 'amount' | 'script'>;

export interface ScriptedTransaction {
  readonly tx: Transaction;
  /** The transaction, serialized with witness. */
  readonly bytes: Buffer;
}

/**
 * Verifies the inputs under the standard flags. Resolves to null if each input may spend the output at the same position of
 * `spent`. `sigopsCost` is the signature operation cost by the consensus rules.
 */
export async function verifyTransaction(
  transaction: ScriptedTransaction,
  spent: readonly VerifiedOutput[],
  sigopsCost: number,
): Promise<ValidationError | null> {
  const native = loadNative();
  const undecided = native
    ? await undecidedInputs(native, transaction, spent, sigopsCost)
    : spent.map((_, input) => input);
  if (undecided.length === 0) return null;
  const check = inputChecker(transaction.tx, spent);
  let since = performance.now();
  for (const input of undecided) {
    const code = check(input, STANDARD_SCRIPT_VERIFY_FLAGS);
    if (code !== SCRIPT_ERROR.OK) return failure(transaction.tx, input, code, check);
    since = await yieldIfDue(since);
  }
  return null;
}

async function undecidedInputs(
  native: NativeAddon,
  { bytes }: ScriptedTransaction,
  spent: readonly VerifiedOutput[],
  sigopsCost: number,
): Promise<Iterable<number> & { length: number }> {
  const count = spent.length;
  const scriptOffsets = new Uint32Array(count);
  const scriptLengths = new Uint32Array(count);
  const amounts = new BigInt64Array(count);
  let offset = 0;
  spent.forEach(({ amount, script }, i) => {
    amounts[i] = amount;
    scriptOffsets[i] = offset;
    scriptLengths[i] = script.length;
    offset += script.length;
  });
  const job: VerifyJob = {
    block: bytes,
    parsed: parseTxView(bytes),
    resolved: {
      amounts,
      scriptOffsets,
      scriptLengths,
      scripts: concatBytes(...spent.map(({ script }) => script)),
      status: new Uint8Array(count),
      heightCodes: EMPTY,
      claimKinds: new Uint8Array(0),
      duplicates: EMPTY,
    },
    flags: STANDARD_SCRIPT_VERIFY_FLAGS,
    cacheResults: true,
  };
  const isExpensive = count >= THREADED_INPUTS || sigopsCost >= THREADED_SIGOPS_COST;
  const report = isExpensive ? await native.verifyInputs(job) : native.verifyInputsHere(job);
  return report.undecided;
}

type InputChecker = (input: number, flags: number) => ScriptErrorCode;

function inputChecker(tx: Transaction, spent: readonly VerifiedOutput[]): InputChecker {
  const shared = new PrecomputedSighash(tx);
  const ecdsa = ecdsaBackend();
  return (input, flags) => {
    const { amount, script } = spent[input]!;
    const { scriptSig, witness } = tx.inputs[input]!;
    const checker = new TransactionChecker(tx, input, amount, shared, ecdsa);
    return verifyScript(scriptSig, script, witness, flags, checker);
  };
}

async function failure(
  tx: Transaction,
  input: number,
  code: ScriptErrorCode,
  check: InputChecker,
): Promise<ValidationError> {
  await nextSlice();
  const mandatory = STANDARD_SCRIPT_VERIFY_FLAGS & ~STANDARD_NOT_MANDATORY_VERIFY_FLAGS;
  const isPolicy = check(input, mandatory) === SCRIPT_ERROR.OK;
  return reject(isPolicy ? 'non-mandatory-script-verify-flag' : 'mandatory-script-verify-flag-failed', {
    suffix: ` (${scriptErrorMessage(code)})`,
    corruption: await lacksOnlyWitness(tx, check),
  });
}

/**
 * Whether the failure may be caused only by a missing witness, which a relaying peer may have removed. A valid transaction
 * with the same txid may exist then.
 */
async function lacksOnlyWitness(tx: Transaction, check: InputChecker): Promise<boolean> {
  if (hasWitness(tx)) return false;
  const withoutCleanStack = STANDARD_SCRIPT_VERIFY_FLAGS & ~SCRIPT_VERIFY.CLEANSTACK;
  const passes = async (flags: number): Promise<boolean> => {
    let since = performance.now();
    for (let input = 0; input < tx.inputs.length; input++) {
      since = await yieldIfDue(since);
      if (check(input, flags) !== SCRIPT_ERROR.OK) return false;
    }
    return true;
  };
  return (await passes(withoutCleanStack & ~SCRIPT_VERIFY.WITNESS)) && !(await passes(withoutCleanStack));
}
