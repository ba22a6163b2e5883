/**
 * Verifies the scripts of a block's inputs: the addon decides the ordinary ones in one batch on its own threads, the
 * interpreter everything else. Owns no rule. Source: Core `CheckInputs`, `CScriptCheck`.
 */
import { loadNative, type ParsedBlock, type ResolvedInputs } from '../native/binding.js';
import {
  TX_FIRST_INPUT,
  TX_FLAGS,
  TX_INPUT_COUNT,
  TX_IS_COINBASE,
  TX_STRIDE,
} from '../primitives/blockLayout.js';
import { inputScriptAt, witnessAt } from '../primitives/blockView.js';
import type { Transaction } from '../primitives/transaction.js';
import { TransactionChecker } from '../script/checker.js';
import { verifyScript } from '../script/interpreter.js';
import { SCRIPT_ERROR, scriptErrorMessage, type ScriptErrorCode } from '../script/scriptError.js';
import { PrecomputedSighash } from '../script/sighash.js';
import { breathe } from '../util/breathe.js';
import { transactionAt } from './checkBlockView.js';

export interface ScriptJob {
  raw: Buffer;
  parsed: ParsedBlock;
  resolved: ResolvedInputs;
  flags: number;
}

/** What made a script fail, for the log; the verdict on the block is the caller's. */
export interface ScriptFailure {
  input: number;
  code: ScriptErrorCode;
  message: string;
}

export interface ScriptVerdict {
  failure: ScriptFailure | null;
  /** Inputs that the addon left to the interpreter. */
  interpreted: number;
}

/** Verifies every input of the block but the coinbase's. Never blocks the event loop for long. */
export async function verifyScripts(job: ScriptJob): Promise<ScriptVerdict> {
  const native = loadNative();
  if (!native) return interpret(job, null);
  const { raw, parsed, resolved, flags } = job;
  const { undecided } = await native.verifyInputs({ block: raw, parsed, resolved, flags });
  return undecided.length === 0 ? { failure: null, interpreted: 0 } : interpret(job, undecided);
}

/** Runs the interpreter over the given inputs (ascending), or over all. */
async function interpret(job: ScriptJob, only: Uint32Array | null): Promise<ScriptVerdict> {
  const { raw, parsed, resolved, flags } = job;
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
      transaction ??= transactionAt(raw, parsed, tx);
      midstates ??= new PrecomputedSighash(transaction);
      const at = resolved.scriptOffsets[input]!;
      const spent = resolved.scripts.subarray(at, at + resolved.scriptLengths[input]!);
      const checker = new TransactionChecker(transaction, input - first, resolved.amounts[input]!, midstates);
      const witness = witnessAt(raw, parsed, input);
      const code = verifyScript(inputScriptAt(raw, parsed, input), spent, witness, flags, checker);
      interpreted++;
      if (code !== SCRIPT_ERROR.OK) {
        return { failure: { input, code, message: scriptErrorMessage(code) }, interpreted };
      }
      since = await breathe(since);
    }
    if (only && next === only.length) break;
  }
  return { failure: null, interpreted };
}
