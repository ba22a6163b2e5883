/**
 * Verifies the scripts of a block's inputs: the addon verifies scripts of standard forms in one batch on its own threads,
 * the interpreter all others. Source: Core `CheckInputs`, `CScriptCheck`.
 */
import { uncachedVerifier } from '../../crypto/ecdsa.js';
import {
  loadNative,
  type ParsedBlock,
  type ResolvedInputs,
  type VerifyReport,
} from '../../native/binding.js';
import {
  INPUT_STRIDE,
  TX_FIRST_INPUT,
  TX_FLAGS,
  TX_INPUT_COUNT,
  TX_IS_COINBASE,
  TX_STRIDE,
} from '../../primitives/blockLayout.js';
import { inputScriptAt, witnessTopAt } from '../../primitives/blockView.js';
import type { Transaction } from '../../primitives/transaction.js';
import { TransactionChecker } from '../../script/checker.js';
import { verifyScript } from '../../script/interpreter.js';
import { MAX_STACK_SIZE } from '../../script/script.js';
import { SCRIPT_ERROR, scriptErrorMessage, type ScriptErrorCode } from '../../script/scriptError.js';
import { PrecomputedSighash } from '../../script/sighash.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { bareTransactionAt } from './checkBlockView.js';

export interface ScriptJob {
  raw: Buffer;
  parsed: ParsedBlock;
  resolved: ResolvedInputs;
  flags: number;
}

/** Reason why a script is invalid, for the log. The caller decides about the block. */
export interface ScriptFailure {
  input: number;
  code: ScriptErrorCode;
  message: string;
}

export interface ScriptVerdict {
  failure: ScriptFailure | null;
  /** Number of inputs that the addon did not decide, so that the interpreter verified them. */
  interpreted: number;
}

/** Verification of a block's scripts that is running. */
export interface ScriptRun {
  /**
   * Waits for the addon's threads, and verifies the inputs that the threads left undecided. May be called only if all coins
   * of the block exist.
   */
  finish(): Promise<ScriptVerdict>;
  /** Resolves when no thread works on the block any more, whatever the result. */
  join(): Promise<void>;
}

const NOTHING_LEFT = Promise.resolve<ScriptVerdict>({ failure: null, interpreted: 0 });
const NOTHING_TO_VERIFY: ScriptRun = {
  finish: () => NOTHING_LEFT,
  join: () => Promise.resolve(),
};

/**
 * Maximum number of inputs that are verified on the caller's thread, in about a millisecond. For so few inputs, waking the
 * addon's threads and waiting for them takes more processor time than parallel work saves. Measured: `docs/benchmarks.md`.
 */
const INPUTS_AT_ONCE = 32;
/**
 * Maximum size of a block whose inputs are verified on the caller's thread. A legacy signature hashes its whole transaction,
 * so few inputs of a large block can take long. Arbitrary.
 */
const BYTES_AT_ONCE = 64 << 10;

/**
 * Starts verifying every input of the block except the coinbase's. A block with few inputs is verified in `finish`. The
 * addon's threads may start before all coins are known to exist: they leave an input without a coin undecided.
 */
export function startScripts(job: ScriptJob): ScriptRun {
  const { raw, parsed, resolved, flags } = job;
  // A block with only a coinbase has no scripts to verify, so no thread is needed.
  if (parsed.txCount === 1) return NOTHING_TO_VERIFY;
  const native = loadNative();
  if (!native) return { finish: () => interpret(job, null), join: () => Promise.resolve() };
  const toVerify = { block: raw, parsed, resolved, flags };
  // The coinbase input is not verified, so it is subtracted.
  if (parsed.inputs.length / INPUT_STRIDE - 1 <= INPUTS_AT_ONCE && raw.length <= BYTES_AT_ONCE)
    return {
      finish: () => decideRest(job, native.verifyInputsHere(toVerify)),
      join: () => Promise.resolve(),
    };
  const report = native.verifyInputs(toVerify);
  const joined = report.then(
    () => undefined,
    () => undefined,
  );
  return {
    finish: async () => decideRest(job, await report),
    join: () => joined,
  };
}

/** Runs the interpreter over the inputs that the addon left undecided. */
function decideRest(job: ScriptJob, { undecided }: VerifyReport): Promise<ScriptVerdict> {
  return undecided.length === 0 ? NOTHING_LEFT : interpret(job, undecided);
}

/**
 * Maximum number of witness items passed to the interpreter. A stack with more items fails with any script: the stack's size
 * is checked after each operation, no operation removes more than CHECKMULTISIG (20 keys, 20 signatures, two counts, a
 * dummy), and without operations the stack is not clean. One of the items is the script.
 */
const WITNESS_ITEMS = MAX_STACK_SIZE + 64;

/** Runs the interpreter over the inputs in `only` (in ascending order); null means all inputs. */
async function interpret(job: ScriptJob, only: Uint32Array | null): Promise<ScriptVerdict> {
  const { raw, parsed, resolved, flags } = job;
  const verifier = uncachedVerifier();
  let interpreted = 0;
  let next = 0;
  let since = performance.now();
  for (let tx = 0; tx < parsed.txCount; tx++) {
    const row = tx * TX_STRIDE;
    if ((parsed.txs[row + TX_FLAGS]! & TX_IS_COINBASE) !== 0) continue;
    const first = parsed.txs[row + TX_FIRST_INPUT]!;
    const end = first + parsed.txs[row + TX_INPUT_COUNT]!;
    let transaction: Transaction | null = null;
    let midstates: PrecomputedSighash | null = null;
    for (let input = first; input < end; input++) {
      if (only) {
        if (only[next] !== input) continue;
        next++;
      }
      transaction ??= bareTransactionAt(raw, parsed, tx);
      midstates ??= new PrecomputedSighash(transaction);
      const at = resolved.scriptOffsets[input]!;
      const spent = resolved.scripts.subarray(at, at + resolved.scriptLengths[input]!);
      const amount = resolved.amounts[input]!;
      const checker = new TransactionChecker(transaction, input - first, amount, midstates, verifier);
      const witness = witnessTopAt(raw, parsed, input, WITNESS_ITEMS);
      const code = verifyScript(inputScriptAt(raw, parsed, input), spent, witness, flags, checker);
      interpreted++;
      if (code !== SCRIPT_ERROR.OK) {
        return { failure: { input, code, message: scriptErrorMessage(code) }, interpreted };
      }
      since = await yieldIfDue(since);
    }
    if (only && next === only.length) break;
  }
  return { failure: null, interpreted };
}
