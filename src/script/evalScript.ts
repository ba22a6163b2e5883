/**
 * Loop of the script interpreter: reads operations in order, enforces the limits, executes flow control, lock time and hash
 * operations, and calls functions of other files for the remaining operations. `interpreter.ts` combines the scripts of an
 * input into a verdict. Source: Core interpreter.cpp `EvalScript`; lbrycrd's claim opcodes.
 */
import { hash160, ripemd160, sha1, sha256, sha256d } from '../crypto/hash.js';
import type { Bytes } from '../util/bytes.js';
import { isSequenceCheckDisabled, type SignatureChecker } from './checker.js';
import { castToBool, Evaluation, FALSE_ELEMENT } from './evaluation.js';
import { SCRIPT_VERIFY } from './flags.js';
import { binaryOp, unaryOp, withinOp } from './numberOps.js';
import { OP } from './opcodes.js';
import {
  MAX_OPS_PER_SCRIPT,
  MAX_SCRIPT_ELEMENT_SIZE,
  MAX_SCRIPT_SIZE,
  MAX_STACK_SIZE,
  nextOp,
  opDataStart,
} from './script.js';
import { SCRIPT_ERROR, type ScriptErrorCode } from './scriptError.js';
import { decodeScriptNumber, encodeScriptNumber, MAX_LOCKTIME_NUMBER_SIZE } from './scriptNumber.js';
import { SIG_VERSION, type SigVersion } from './sighash.js';
import { checkMultisigOp, checkSigOp } from './signatureOps.js';
import { stackOp } from './stackOps.js';

/** Opcodes that make a script fail even in a branch that is not executed. */
const DISABLED = new Uint8Array(256);
for (const opcode of [
  OP.OP_CAT,
  OP.OP_SUBSTR,
  OP.OP_LEFT,
  OP.OP_RIGHT,
  OP.OP_INVERT,
  OP.OP_AND,
  OP.OP_OR,
  OP.OP_XOR,
  OP.OP_2MUL,
  OP.OP_2DIV,
  OP.OP_MUL,
  OP.OP_DIV,
  OP.OP_MOD,
  OP.OP_LSHIFT,
  OP.OP_RSHIFT,
]) {
  DISABLED[opcode] = 1;
}

/** Whether the push uses the shortest encoding for its data (BIP62 rule 3). */
function isMinimalPush(data: Bytes, opcode: number): boolean {
  const size = data.length;
  if (size === 0) return opcode === OP.OP_0;
  if (size === 1 && ((data[0]! >= 1 && data[0]! <= 16) || data[0] === 0x81)) return false;
  if (size < OP.OP_PUSHDATA1) return opcode === size;
  if (size <= 0xff) return opcode === OP.OP_PUSHDATA1;
  return size > 0xffff || opcode === OP.OP_PUSHDATA2;
}

function ifOp(evaluation: Evaluation, opcode: number): ScriptErrorCode {
  const { stack, branches } = evaluation;
  let taken = false;
  if (evaluation.skipping === 0) {
    if (stack.length < 1) return SCRIPT_ERROR.UNBALANCED_CONDITIONAL;
    const condition = stack[stack.length - 1]!;
    if (evaluation.version === SIG_VERSION.WITNESS_V0 && (evaluation.flags & SCRIPT_VERIFY.MINIMALIF) !== 0) {
      if (condition.length > 1 || (condition.length === 1 && condition[0] !== 1))
        return SCRIPT_ERROR.MINIMALIF;
    }
    taken = castToBool(condition) !== (opcode === OP.OP_NOTIF);
    stack.pop();
  }
  branches.push(taken);
  if (!taken) evaluation.skipping += 1;
  return SCRIPT_ERROR.OK;
}

function elseOp(evaluation: Evaluation): ScriptErrorCode {
  const { branches } = evaluation;
  const last = branches.length - 1;
  if (last < 0) return SCRIPT_ERROR.UNBALANCED_CONDITIONAL;
  evaluation.skipping += branches[last] ? 1 : -1;
  branches[last] = !branches[last];
  return SCRIPT_ERROR.OK;
}

function endIfOp(evaluation: Evaluation): ScriptErrorCode {
  const taken = evaluation.branches.pop();
  if (taken === undefined) return SCRIPT_ERROR.UNBALANCED_CONDITIONAL;
  if (!taken) evaluation.skipping -= 1;
  return SCRIPT_ERROR.OK;
}

function verifyOp(evaluation: Evaluation): ScriptErrorCode {
  const { stack } = evaluation;
  if (stack.length < 1) return SCRIPT_ERROR.INVALID_STACK_OPERATION;
  if (!castToBool(stack[stack.length - 1]!)) return SCRIPT_ERROR.VERIFY;
  stack.pop();
  return SCRIPT_ERROR.OK;
}

/**
 * Executes OP_CHECKLOCKTIMEVERIFY (BIP65) or OP_CHECKSEQUENCEVERIFY (BIP112). As these were no-ops originally, the operand
 * stays on the stack.
 */
function lockTimeOp(evaluation: Evaluation, opcode: number): ScriptErrorCode {
  const { stack, flags, checker } = evaluation;
  const relative = opcode === OP.OP_CHECKSEQUENCEVERIFY;
  const flag = relative ? SCRIPT_VERIFY.CHECKSEQUENCEVERIFY : SCRIPT_VERIFY.CHECKLOCKTIMEVERIFY;
  if ((flags & flag) === 0) return SCRIPT_ERROR.OK;
  if (stack.length < 1) return SCRIPT_ERROR.INVALID_STACK_OPERATION;
  const top = stack[stack.length - 1]!;
  const operand = decodeScriptNumber(top, evaluation.requireMinimal, MAX_LOCKTIME_NUMBER_SIZE);
  if (Number.isNaN(operand)) return SCRIPT_ERROR.UNKNOWN_ERROR;
  if (operand < 0) return SCRIPT_ERROR.NEGATIVE_LOCKTIME;
  if (relative && isSequenceCheckDisabled(operand)) return SCRIPT_ERROR.OK;
  const satisfied = relative ? checker.checkSequence(operand) : checker.checkLockTime(operand);
  return satisfied ? SCRIPT_ERROR.OK : SCRIPT_ERROR.UNSATISFIED_LOCKTIME;
}

/** Replaces the top stack element by its hash. */
function hashOp(evaluation: Evaluation, hash: (data: Bytes) => Bytes): ScriptErrorCode {
  const { stack } = evaluation;
  const depth = stack.length;
  if (depth < 1) return SCRIPT_ERROR.INVALID_STACK_OPERATION;
  stack[depth - 1] = hash(stack[depth - 1]!);
  return SCRIPT_ERROR.OK;
}

/** Executes one operation above OP_PUSHDATA4. `next` is the offset after the operation. */
function execute(evaluation: Evaluation, opcode: number, next: number): ScriptErrorCode {
  switch (opcode) {
    case OP.OP_NOP:
      return SCRIPT_ERROR.OK;
    case OP.OP_IF:
    case OP.OP_NOTIF:
      return ifOp(evaluation, opcode);
    case OP.OP_ELSE:
      return elseOp(evaluation);
    case OP.OP_ENDIF:
      return endIfOp(evaluation);
    case OP.OP_VERIFY:
      return verifyOp(evaluation);
    case OP.OP_RETURN:
      return SCRIPT_ERROR.OP_RETURN;

    case OP.OP_RIPEMD160:
      return hashOp(evaluation, ripemd160);
    case OP.OP_SHA1:
      return hashOp(evaluation, sha1);
    case OP.OP_SHA256:
      return hashOp(evaluation, sha256);
    case OP.OP_HASH160:
      return hashOp(evaluation, hash160);
    case OP.OP_HASH256:
      return hashOp(evaluation, sha256d);
    case OP.OP_CODESEPARATOR:
      evaluation.codeStart = next;
      return SCRIPT_ERROR.OK;
    case OP.OP_CHECKSIG:
    case OP.OP_CHECKSIGVERIFY:
      return checkSigOp(evaluation, opcode);
    case OP.OP_CHECKMULTISIG:
    case OP.OP_CHECKMULTISIGVERIFY:
      return checkMultisigOp(evaluation, opcode);

    case OP.OP_CHECKLOCKTIMEVERIFY:
    case OP.OP_CHECKSEQUENCEVERIFY:
      return lockTimeOp(evaluation, opcode);
    case OP.OP_CLAIM_NAME:
    case OP.OP_SUPPORT_CLAIM:
    case OP.OP_UPDATE_CLAIM:
      // QUIRK: claim opcodes push an empty element, so that the drops of the claim prefix restore the stack. The flag for
      // discouraged no-ops does not apply to them. Test: test/unit/script/interpreter.test.ts.
      evaluation.stack.push(FALSE_ELEMENT);
      return SCRIPT_ERROR.OK;
    case OP.OP_NOP1:
    case OP.OP_NOP4:
    case OP.OP_NOP5:
    case OP.OP_NOP9:
    case OP.OP_NOP10:
      return (evaluation.flags & SCRIPT_VERIFY.DISCOURAGE_UPGRADABLE_NOPS) !== 0
        ? SCRIPT_ERROR.DISCOURAGE_UPGRADABLE_NOPS
        : SCRIPT_ERROR.OK;

    case OP.OP_1ADD:
    case OP.OP_1SUB:
    case OP.OP_NEGATE:
    case OP.OP_ABS:
    case OP.OP_NOT:
    case OP.OP_0NOTEQUAL:
      return unaryOp(evaluation, opcode);
    case OP.OP_WITHIN:
      return withinOp(evaluation);
    case OP.OP_SIZE:
    case OP.OP_EQUAL:
    case OP.OP_EQUALVERIFY:
      return stackOp(evaluation, opcode);
  }
  if (opcode >= OP.OP_TOALTSTACK && opcode <= OP.OP_TUCK) return stackOp(evaluation, opcode);
  if (opcode >= OP.OP_ADD && opcode <= OP.OP_MAX) return binaryOp(evaluation, opcode);
  if (opcode === OP.OP_1NEGATE || (opcode >= OP.OP_1 && opcode <= OP.OP_16)) {
    evaluation.stack.push(encodeScriptNumber(opcode - (OP.OP_1 - 1)));
    return SCRIPT_ERROR.OK;
  }
  return SCRIPT_ERROR.BAD_OPCODE;
}

/** Reads, checks and executes the operation at offset `at`, whose data ends at `next`. */
function step(evaluation: Evaluation, at: number, next: number): ScriptErrorCode {
  const { script, flags } = evaluation;
  const opcode = script[at]!;
  if (opcode <= OP.OP_PUSHDATA4) {
    const dataStart = opDataStart(opcode, at);
    if (next - dataStart > MAX_SCRIPT_ELEMENT_SIZE) return SCRIPT_ERROR.PUSH_SIZE;
    if (evaluation.skipping > 0) return SCRIPT_ERROR.OK;
    const data = script.subarray(dataStart, next);
    if (evaluation.requireMinimal && !isMinimalPush(data, opcode)) return SCRIPT_ERROR.MINIMALDATA;
    evaluation.stack.push(data);
    return SCRIPT_ERROR.OK;
  }
  if (opcode > OP.OP_16 && ++evaluation.opCount > MAX_OPS_PER_SCRIPT) return SCRIPT_ERROR.OP_COUNT;
  if (DISABLED[opcode]) return SCRIPT_ERROR.DISABLED_OPCODE;
  if (
    opcode === OP.OP_CODESEPARATOR &&
    evaluation.version === SIG_VERSION.BASE &&
    (flags & SCRIPT_VERIFY.CONST_SCRIPTCODE) !== 0
  ) {
    return SCRIPT_ERROR.OP_CODESEPARATOR;
  }
  // Flow control operations are executed in skipped branches too. OP_VERIF and OP_VERNOTIF are in this range, so they fail
  // even in skipped branches.
  if (evaluation.skipping > 0 && (opcode < OP.OP_IF || opcode > OP.OP_ENDIF)) return SCRIPT_ERROR.OK;
  return execute(evaluation, opcode, next);
}

/**
 * Runs a script on `stack`, which is modified in place even if the script fails. Pushed elements are views of the script, so
 * neither the script nor the elements may be modified after the call.
 */
export function evalScript(
  stack: Bytes[],
  script: Bytes,
  flags: number,
  checker: SignatureChecker,
  version: SigVersion,
): ScriptErrorCode {
  if (script.length > MAX_SCRIPT_SIZE) return SCRIPT_ERROR.SCRIPT_SIZE;
  const evaluation = new Evaluation(stack, script, flags, checker, version);
  for (let at = 0; at < script.length;) {
    const next = nextOp(script, at);
    if (next < 0) return SCRIPT_ERROR.BAD_OPCODE;
    const error = step(evaluation, at, next);
    if (error !== SCRIPT_ERROR.OK) return error;
    if (stack.length + evaluation.altStack.length > MAX_STACK_SIZE) return SCRIPT_ERROR.STACK_SIZE;
    at = next;
  }
  return evaluation.branches.length > 0 ? SCRIPT_ERROR.UNBALANCED_CONDITIONAL : SCRIPT_ERROR.OK;
}
