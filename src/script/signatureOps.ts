/**
 * Executes OP_CHECKSIG, OP_CHECKMULTISIG and their VERIFY forms. Source: Core interpreter.cpp `EvalScript`, `FindAndDelete`.
 */
import { asBuffer, concatBytes, type Bytes } from '../util/bytes.js';
import { checkPublicKeyEncoding, checkSignatureEncoding } from './signatureEncoding.js';
import { FALSE_ELEMENT, TRUE_ELEMENT, type Evaluation } from './evaluation.js';
import { SCRIPT_VERIFY } from './flags.js';
import { OP } from './opcodes.js';
import { MAX_OPS_PER_SCRIPT, MAX_PUBKEYS_PER_MULTISIG, nextOp, pushData } from './script.js';
import { SCRIPT_ERROR, type ScriptErrorCode } from './scriptError.js';
import { decodeScriptNumber } from './scriptNumber.js';
import { SIG_VERSION } from './sighash.js';

/**
 * Removes all occurrences of `pattern` that begin at an operation. Returns the script itself if there are none. Bytes after
 * a push that exceeds the script are kept.
 */
export function findAndDelete(script: Bytes, pattern: Bytes): Bytes {
  if (pattern.length === 0 || pattern.length > script.length) return script;
  const buffer = asBuffer(script);
  const kept: Bytes[] = [];
  let keptFrom = 0;
  for (let at = 0; at >= 0 && at < script.length; at = nextOp(script, at)) {
    const found = at;
    while (
      at + pattern.length <= script.length &&
      buffer.compare(pattern, 0, pattern.length, at, at + pattern.length) === 0
    ) {
      at += pattern.length;
    }
    if (at > found) {
      kept.push(script.subarray(keptFrom, found));
      keptFrom = at;
    }
    if (at >= script.length) break;
  }
  if (keptFrom === 0) return script;
  kept.push(script.subarray(keptFrom));
  return concatBytes(...kept);
}

/**
 * Removes a signature from the script code that it signs. QUIRK: outside of witness scripts a signature cannot sign itself,
 * so the original client deleted it from the script code. The removal is therefore a consensus rule. Test:
 * test/unit/script/interpreter.test.ts.
 */
function withoutSignature(scriptCode: Bytes, signature: Bytes): Bytes {
  if (signature.length >= scriptCode.length || asBuffer(scriptCode).indexOf(signature) < 0) return scriptCode;
  return findAndDelete(scriptCode, pushData(signature));
}

function signedScript(evaluation: Evaluation): Bytes {
  const { script, codeStart } = evaluation;
  return codeStart === 0 ? script : script.subarray(codeStart);
}

/** Replaces the arguments on the stack by the result. A VERIFY form then removes the result, and fails if the result is false. */
function finish(
  evaluation: Evaluation,
  success: boolean,
  verify: boolean,
  failure: ScriptErrorCode,
): ScriptErrorCode {
  if (verify) {
    if (success) return SCRIPT_ERROR.OK;
    evaluation.stack.push(FALSE_ELEMENT);
    return failure;
  }
  evaluation.stack.push(success ? TRUE_ELEMENT : FALSE_ELEMENT);
  return SCRIPT_ERROR.OK;
}

/** Executes OP_CHECKSIG and OP_CHECKSIGVERIFY. Stack: ( signature key -- success ). */
export function checkSigOp(evaluation: Evaluation, opcode: number): ScriptErrorCode {
  const { stack, flags, version, checker } = evaluation;
  const depth = stack.length;
  if (depth < 2) return SCRIPT_ERROR.INVALID_STACK_OPERATION;
  const signature = stack[depth - 2]!;
  const publicKey = stack[depth - 1]!;
  let scriptCode = signedScript(evaluation);
  if (version === SIG_VERSION.BASE) {
    const stripped = withoutSignature(scriptCode, signature);
    if (stripped !== scriptCode && (flags & SCRIPT_VERIFY.CONST_SCRIPTCODE) !== 0) {
      return SCRIPT_ERROR.SIG_FINDANDDELETE;
    }
    scriptCode = stripped;
  }
  const encoding =
    checkSignatureEncoding(signature, flags) || checkPublicKeyEncoding(publicKey, flags, version);
  if (encoding !== SCRIPT_ERROR.OK) return encoding;
  const success = checker.checkSignature(signature, publicKey, scriptCode, version);
  if (!success && (flags & SCRIPT_VERIFY.NULLFAIL) !== 0 && signature.length > 0) {
    return SCRIPT_ERROR.SIG_NULLFAIL;
  }
  stack.length = depth - 2;
  return finish(evaluation, success, opcode === OP.OP_CHECKSIGVERIFY, SCRIPT_ERROR.CHECKSIGVERIFY);
}

/**
 * Matches signatures with keys in order, from the top of the stack downwards. Stops when more signatures than keys are left,
 * so the encodings of the remaining signatures are not checked. `firstKey` and `firstSignature` are indexes of the stack.
 */
function matchSignatures(
  evaluation: Evaluation,
  firstKey: number,
  keyCount: number,
  firstSignature: number,
  signatureCount: number,
  scriptCode: Bytes,
): { success: boolean; error: ScriptErrorCode } {
  const { stack, flags, version, checker } = evaluation;
  let key = firstKey;
  let keysLeft = keyCount;
  let signature = firstSignature;
  let signaturesLeft = signatureCount;
  while (signaturesLeft > 0) {
    if (signaturesLeft > keysLeft) return { success: false, error: SCRIPT_ERROR.OK };
    const error =
      checkSignatureEncoding(stack[signature]!, flags) || checkPublicKeyEncoding(stack[key]!, flags, version);
    if (error !== SCRIPT_ERROR.OK) return { success: false, error };
    if (checker.checkSignature(stack[signature]!, stack[key]!, scriptCode, version)) {
      signature -= 1;
      signaturesLeft -= 1;
    }
    key -= 1;
    keysLeft -= 1;
  }
  return { success: true, error: SCRIPT_ERROR.OK };
}

/**
 * Executes OP_CHECKMULTISIG and OP_CHECKMULTISIGVERIFY. Stack: ( dummy signature... count key... count -- success ). QUIRK:
 * one element more than the arguments is consumed, because of a bug in the original client; NULLDUMMY requires this element
 * to be empty. Test: test/unit/script/interpreter.test.ts.
 */
export function checkMultisigOp(evaluation: Evaluation, opcode: number): ScriptErrorCode {
  const { stack, flags, version, requireMinimal } = evaluation;
  const depth = stack.length;
  if (depth < 1) return SCRIPT_ERROR.INVALID_STACK_OPERATION;
  const keyCount = decodeScriptNumber(stack[depth - 1]!, requireMinimal);
  if (Number.isNaN(keyCount)) return SCRIPT_ERROR.UNKNOWN_ERROR;
  if (keyCount < 0 || keyCount > MAX_PUBKEYS_PER_MULTISIG) return SCRIPT_ERROR.PUBKEY_COUNT;
  evaluation.opCount += keyCount;
  if (evaluation.opCount > MAX_OPS_PER_SCRIPT) return SCRIPT_ERROR.OP_COUNT;
  const signatureCountAt = depth - 2 - keyCount;
  if (signatureCountAt < 0) return SCRIPT_ERROR.INVALID_STACK_OPERATION;
  const signatureCount = decodeScriptNumber(stack[signatureCountAt]!, requireMinimal);
  if (Number.isNaN(signatureCount)) return SCRIPT_ERROR.UNKNOWN_ERROR;
  if (signatureCount < 0 || signatureCount > keyCount) return SCRIPT_ERROR.SIG_COUNT;
  const firstSignature = signatureCountAt - 1;
  const dummyAt = firstSignature - signatureCount;
  if (dummyAt < 0) return SCRIPT_ERROR.INVALID_STACK_OPERATION;

  let scriptCode = signedScript(evaluation);
  if (version === SIG_VERSION.BASE) {
    for (let i = firstSignature; i > dummyAt; i--) {
      const stripped = withoutSignature(scriptCode, stack[i]!);
      if (stripped !== scriptCode && (flags & SCRIPT_VERIFY.CONST_SCRIPTCODE) !== 0) {
        return SCRIPT_ERROR.SIG_FINDANDDELETE;
      }
      scriptCode = stripped;
    }
  }

  const { success, error } = matchSignatures(
    evaluation,
    depth - 2,
    keyCount,
    firstSignature,
    signatureCount,
    scriptCode,
  );
  if (error !== SCRIPT_ERROR.OK) return error;

  if (!success && (flags & SCRIPT_VERIFY.NULLFAIL) !== 0) {
    for (let i = firstSignature; i > dummyAt; i--) {
      if (stack[i]!.length > 0) return SCRIPT_ERROR.SIG_NULLFAIL;
    }
  }
  if ((flags & SCRIPT_VERIFY.NULLDUMMY) !== 0 && stack[dummyAt]!.length > 0)
    return SCRIPT_ERROR.SIG_NULLDUMMY;
  stack.length = dummyAt;
  return finish(evaluation, success, opcode === OP.OP_CHECKMULTISIGVERIFY, SCRIPT_ERROR.CHECKMULTISIGVERIFY);
}
