/**
 * Executes operations that move, copy, drop and compare stack elements. In comments, ( before -- after ) shows the stack
 * with its top on the right. Source: Core interpreter.cpp `EvalScript`.
 */
import { equalBytes } from '../util/bytes.js';
import { castToBool, FALSE_ELEMENT, TRUE_ELEMENT, type Evaluation } from './evaluation.js';
import { OP } from './opcodes.js';
import { SCRIPT_ERROR, type ScriptErrorCode } from './scriptError.js';
import { decodeScriptNumber, encodeScriptNumber } from './scriptNumber.js';

/**
 * Number of stack elements that each operation needs, by opcode from OP_TOALTSTACK on. The number for OP_FROMALTSTACK refers
 * to the alt stack.
 */
const NEEDED: number[] = [];
NEEDED[OP.OP_TOALTSTACK] = 1;
NEEDED[OP.OP_FROMALTSTACK] = 0;
NEEDED[OP.OP_2DROP] = 2;
NEEDED[OP.OP_2DUP] = 2;
NEEDED[OP.OP_3DUP] = 3;
NEEDED[OP.OP_2OVER] = 4;
NEEDED[OP.OP_2ROT] = 6;
NEEDED[OP.OP_2SWAP] = 4;
NEEDED[OP.OP_IFDUP] = 1;
NEEDED[OP.OP_DEPTH] = 0;
NEEDED[OP.OP_DROP] = 1;
NEEDED[OP.OP_DUP] = 1;
NEEDED[OP.OP_NIP] = 2;
NEEDED[OP.OP_OVER] = 2;
NEEDED[OP.OP_PICK] = 2;
NEEDED[OP.OP_ROLL] = 2;
NEEDED[OP.OP_ROT] = 3;
NEEDED[OP.OP_SWAP] = 2;
NEEDED[OP.OP_TUCK] = 2;
NEEDED[OP.OP_SIZE] = 1;
NEEDED[OP.OP_EQUAL] = 2;
NEEDED[OP.OP_EQUALVERIFY] = 2;

/** Executes OP_PICK and OP_ROLL. Stack: ( xn ... x0 n -- xn ... x0 xn ). OP_ROLL also removes xn from its old position. */
function pickOrRoll(evaluation: Evaluation, opcode: number): ScriptErrorCode {
  const { stack } = evaluation;
  const n = decodeScriptNumber(stack[stack.length - 1]!, evaluation.requireMinimal);
  if (Number.isNaN(n)) return SCRIPT_ERROR.UNKNOWN_ERROR;
  stack.pop();
  if (n < 0 || n >= stack.length) return SCRIPT_ERROR.INVALID_STACK_OPERATION;
  const at = stack.length - 1 - n;
  const element = stack[at]!;
  if (opcode === OP.OP_ROLL) stack.splice(at, 1);
  stack.push(element);
  return SCRIPT_ERROR.OK;
}

/** Executes OP_EQUAL. Stack: ( x1 x2 -- equal ). */
function equal(evaluation: Evaluation, opcode: number): ScriptErrorCode {
  const { stack } = evaluation;
  const isEqual = equalBytes(stack.pop()!, stack.pop()!);
  if (opcode === OP.OP_EQUAL || !isEqual) stack.push(isEqual ? TRUE_ELEMENT : FALSE_ELEMENT);
  return opcode === OP.OP_EQUALVERIFY && !isEqual ? SCRIPT_ERROR.EQUALVERIFY : SCRIPT_ERROR.OK;
}

/** Executes the operations OP_TOALTSTACK to OP_TUCK, OP_SIZE, OP_EQUAL and OP_EQUALVERIFY. */
export function stackOp(evaluation: Evaluation, opcode: number): ScriptErrorCode {
  const { stack, altStack } = evaluation;
  const depth = stack.length;
  if (depth < NEEDED[opcode]!) return SCRIPT_ERROR.INVALID_STACK_OPERATION;
  switch (opcode) {
    case OP.OP_TOALTSTACK:
      altStack.push(stack.pop()!);
      break;
    case OP.OP_FROMALTSTACK:
      if (altStack.length === 0) return SCRIPT_ERROR.INVALID_ALTSTACK_OPERATION;
      stack.push(altStack.pop()!);
      break;
    case OP.OP_2DROP:
      stack.length = depth - 2;
      break;
    case OP.OP_2DUP:
      stack.push(stack[depth - 2]!, stack[depth - 1]!);
      break;
    case OP.OP_3DUP:
      stack.push(stack[depth - 3]!, stack[depth - 2]!, stack[depth - 1]!);
      break;
    case OP.OP_2OVER:
      stack.push(stack[depth - 4]!, stack[depth - 3]!);
      break;
    case OP.OP_2ROT:
      // Stack: ( x1 x2 x3 x4 x5 x6 -- x3 x4 x5 x6 x1 x2 )
      stack.push(...stack.splice(depth - 6, 2));
      break;
    case OP.OP_2SWAP:
      // Stack: ( x1 x2 x3 x4 -- x3 x4 x1 x2 )
      stack.push(...stack.splice(depth - 4, 2));
      break;
    case OP.OP_IFDUP:
      if (castToBool(stack[depth - 1]!)) stack.push(stack[depth - 1]!);
      break;
    case OP.OP_DEPTH:
      stack.push(encodeScriptNumber(depth));
      break;
    case OP.OP_DROP:
      stack.length = depth - 1;
      break;
    case OP.OP_DUP:
      stack.push(stack[depth - 1]!);
      break;
    case OP.OP_NIP:
      stack[depth - 2] = stack.pop()!;
      break;
    case OP.OP_OVER:
      stack.push(stack[depth - 2]!);
      break;
    case OP.OP_PICK:
    case OP.OP_ROLL:
      return pickOrRoll(evaluation, opcode);
    case OP.OP_ROT:
      // Stack: ( x1 x2 x3 -- x2 x3 x1 )
      stack.push(...stack.splice(depth - 3, 1));
      break;
    case OP.OP_SWAP: {
      const top = stack[depth - 1]!;
      stack[depth - 1] = stack[depth - 2]!;
      stack[depth - 2] = top;
      break;
    }
    case OP.OP_TUCK:
      // Stack: ( x1 x2 -- x2 x1 x2 ), which Bitcoin calls OP_TUCK.
      stack.splice(depth - 2, 0, stack[depth - 1]!);
      break;
    case OP.OP_SIZE:
      stack.push(encodeScriptNumber(stack[depth - 1]!.length));
      break;
    default:
      return equal(evaluation, opcode);
  }
  return SCRIPT_ERROR.OK;
}
