/**
 * Verifies that an input may spend an output: evaluates scriptSig, output script, redeem script and witness. A checker gives
 * access to the transaction. Source: Core interpreter.cpp `VerifyScript`, `VerifyWitnessProgram` (BIP16, BIP141, BIP143);
 * lbrycrd's handling of claim prefixes in these functions.
 */
import { sha256 } from '../crypto/hash.js';
import { assert } from '../util/assert.js';
import { equalBytes, type Bytes } from '../util/bytes.js';
import type { SignatureChecker } from './checker.js';
import { startsWithClaimOpcode, stripClaimPrefix } from './claimScript.js';
import { evalScript } from './evalScript.js';
import { castToBool } from './evaluation.js';
import { SCRIPT_VERIFY } from './flags.js';
import { OP } from './opcodes.js';
import {
  buildScript,
  isPayToScriptHash,
  isPushOnly,
  isWitnessProgram,
  MAX_SCRIPT_ELEMENT_SIZE,
  pushData,
  witnessVersion,
} from './script.js';
import { SCRIPT_ERROR, type ScriptErrorCode } from './scriptError.js';
import { SIG_VERSION } from './sighash.js';

const KEY_HASH_SIZE = 20;
const SCRIPT_HASH_SIZE = 32;

/** Whether the top stack element is true. False for an empty stack. */
function endsTrue(stack: readonly Bytes[]): boolean {
  const top = stack[stack.length - 1];
  return top !== undefined && castToBool(top);
}

/** Verifies the witness of a witness program, which is a script that `isWitnessProgram` accepts. */
function verifyWitnessProgram(
  witness: readonly Bytes[],
  programScript: Bytes,
  flags: number,
  checker: SignatureChecker,
): ScriptErrorCode {
  const program = programScript.subarray(2);
  if (witnessVersion(programScript) !== 0) {
    return (flags & SCRIPT_VERIFY.DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM) !== 0
      ? SCRIPT_ERROR.DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM
      : SCRIPT_ERROR.OK;
  }
  let stack: Bytes[];
  let script: Bytes;
  if (program.length === SCRIPT_HASH_SIZE) {
    if (witness.length === 0) return SCRIPT_ERROR.WITNESS_PROGRAM_WITNESS_EMPTY;
    script = witness[witness.length - 1]!;
    if (!equalBytes(sha256(script), program)) return SCRIPT_ERROR.WITNESS_PROGRAM_MISMATCH;
    stack = witness.slice(0, -1);
  } else if (program.length === KEY_HASH_SIZE) {
    if (witness.length !== 2) return SCRIPT_ERROR.WITNESS_PROGRAM_MISMATCH;
    script = buildScript(OP.OP_DUP, OP.OP_HASH160, program, OP.OP_EQUALVERIFY, OP.OP_CHECKSIG);
    stack = witness.slice();
  } else {
    return SCRIPT_ERROR.WITNESS_PROGRAM_WRONG_LENGTH;
  }
  for (const element of stack) {
    if (element.length > MAX_SCRIPT_ELEMENT_SIZE) return SCRIPT_ERROR.PUSH_SIZE;
  }
  const error = evalScript(stack, script, flags, checker, SIG_VERSION.WITNESS_V0);
  if (error !== SCRIPT_ERROR.OK) return error;
  // A witness script must leave exactly one element, even without the flag CLEANSTACK.
  if (stack.length !== 1) return SCRIPT_ERROR.CLEANSTACK;
  return endsTrue(stack) ? SCRIPT_ERROR.OK : SCRIPT_ERROR.EVAL_FALSE;
}

/**
 * Verifies a P2SH redeem script. The redeem script is the top element of `stack`, the stack after the scriptSig. `stack` is
 * modified.
 */
function verifyRedeemScript(
  stack: Bytes[],
  scriptSig: Bytes,
  witness: readonly Bytes[],
  flags: number,
  checker: SignatureChecker,
): { error: ScriptErrorCode; isWitness: boolean } {
  if (!isPushOnly(scriptSig)) return { error: SCRIPT_ERROR.SIG_PUSHONLY, isWitness: false };
  const redeemScript = stack.pop();
  assert(redeemScript !== undefined, 'P2SH succeeded on an empty stack');
  let error = evalScript(stack, redeemScript, flags, checker, SIG_VERSION.BASE);
  if (error === SCRIPT_ERROR.OK && !endsTrue(stack)) error = SCRIPT_ERROR.EVAL_FALSE;
  const isWitness = (flags & SCRIPT_VERIFY.WITNESS) !== 0 && isWitnessProgram(redeemScript);
  if (error !== SCRIPT_ERROR.OK || !isWitness) return { error, isWitness };
  if (!equalBytes(scriptSig, pushData(redeemScript))) {
    return { error: SCRIPT_ERROR.WITNESS_MALLEATED_P2SH, isWitness };
  }
  return { error: verifyWitnessProgram(witness, redeemScript, flags, checker), isWitness };
}

/**
 * Verifies one input and returns an error code; 0 means success. CLEANSTACK needs the flags P2SH and WITNESS; WITNESS needs
 * P2SH. The scripts and the witness must not change during the call.
 */
export function verifyScript(
  scriptSig: Bytes,
  scriptPubKey: Bytes,
  witness: readonly Bytes[],
  flags: number,
  checker: SignatureChecker,
): ScriptErrorCode {
  if ((flags & SCRIPT_VERIFY.SIGPUSHONLY) !== 0 && !isPushOnly(scriptSig)) return SCRIPT_ERROR.SIG_PUSHONLY;

  // QUIRK: an old wallet pushed names and values of 255 bytes in a longer form than necessary. MINIMALDATA is therefore
  // off for the whole input, scriptSig included, if the output script begins with a claim opcode, even if the prefix is
  // incomplete. P2SH and witness programs are detected only after a complete prefix. Test:
  // test/unit/script/interpreter.test.ts.
  const stripped = stripClaimPrefix(scriptPubKey);
  const rules = startsWithClaimOpcode(scriptPubKey) ? flags & ~SCRIPT_VERIFY.MINIMALDATA : flags;

  let stack: Bytes[] = [];
  let error = evalScript(stack, scriptSig, rules, checker, SIG_VERSION.BASE);
  if (error !== SCRIPT_ERROR.OK) return error;
  const isScriptHash = (rules & SCRIPT_VERIFY.P2SH) !== 0 && isPayToScriptHash(stripped);
  const scriptSigStack = isScriptHash ? stack.slice() : null;
  error = evalScript(stack, scriptPubKey, rules, checker, SIG_VERSION.BASE);
  if (error !== SCRIPT_ERROR.OK) return error;
  if (!endsTrue(stack)) return SCRIPT_ERROR.EVAL_FALSE;

  const checksWitness = (rules & SCRIPT_VERIFY.WITNESS) !== 0;
  let isWitness = false;
  if (checksWitness && isWitnessProgram(stripped)) {
    isWitness = true;
    if (scriptSig.length !== 0) return SCRIPT_ERROR.WITNESS_MALLEATED;
    error = verifyWitnessProgram(witness, stripped, rules, checker);
    if (error !== SCRIPT_ERROR.OK) return error;
  }

  if (scriptSigStack !== null) {
    stack = scriptSigStack;
    const redeemed = verifyRedeemScript(stack, scriptSig, witness, rules, checker);
    if (redeemed.error !== SCRIPT_ERROR.OK) return redeemed.error;
    isWitness ||= redeemed.isWitness;
  }

  if ((rules & SCRIPT_VERIFY.CLEANSTACK) !== 0) {
    assert((rules & SCRIPT_VERIFY.P2SH) !== 0 && checksWitness, 'CLEANSTACK without P2SH and WITNESS');
    // CLEANSTACK does not apply to the outer stack of a witness program, which contains the version and the hash.
    if (!isWitness && stack.length !== 1) return SCRIPT_ERROR.CLEANSTACK;
  }
  if (checksWitness) {
    assert((rules & SCRIPT_VERIFY.P2SH) !== 0, 'WITNESS without P2SH');
    if (!isWitness && witness.length > 0) return SCRIPT_ERROR.WITNESS_UNEXPECTED;
  }
  return SCRIPT_ERROR.OK;
}
