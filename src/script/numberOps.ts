/**
 * Executes arithmetic and comparison operations. Operands have at most 4 bytes. Results may be longer, but are then invalid
 * as operands. An invalid operand ends the script with UNKNOWN_ERROR, like the exception in Core. Source: Core
 * interpreter.cpp `EvalScript`.
 */
import type { Bytes } from '../util/bytes.js';
import { FALSE_ELEMENT, TRUE_ELEMENT, type Evaluation } from './evaluation.js';
import { OP } from './opcodes.js';
import { SCRIPT_ERROR, type ScriptErrorCode } from './scriptError.js';
import { decodeScriptNumber, encodeScriptNumber } from './scriptNumber.js';

function ofBool(value: boolean): Bytes {
  return value ? TRUE_ELEMENT : FALSE_ELEMENT;
}

/** Executes OP_1ADD, OP_1SUB, OP_NEGATE, OP_ABS, OP_NOT and OP_0NOTEQUAL. Stack: ( in -- out ). */
export function unaryOp(evaluation: Evaluation, opcode: number): ScriptErrorCode {
  const { stack } = evaluation;
  if (stack.length < 1) return SCRIPT_ERROR.INVALID_STACK_OPERATION;
  const value = decodeScriptNumber(stack[stack.length - 1]!, evaluation.requireMinimal);
  if (Number.isNaN(value)) return SCRIPT_ERROR.UNKNOWN_ERROR;
  stack.pop();
  stack.push(unaryResult(opcode, value));
  return SCRIPT_ERROR.OK;
}

function unaryResult(opcode: number, value: number): Bytes {
  switch (opcode) {
    case OP.OP_1ADD:
      return encodeScriptNumber(value + 1);
    case OP.OP_1SUB:
      return encodeScriptNumber(value - 1);
    case OP.OP_NEGATE:
      return encodeScriptNumber(-value);
    case OP.OP_ABS:
      return encodeScriptNumber(Math.abs(value));
    case OP.OP_NOT:
      return ofBool(value === 0);
    default:
      return ofBool(value !== 0);
  }
}

/** Executes OP_ADD to OP_MAX, except disabled opcodes. Stack: ( a b -- out ). */
export function binaryOp(evaluation: Evaluation, opcode: number): ScriptErrorCode {
  const { stack, requireMinimal } = evaluation;
  const depth = stack.length;
  if (depth < 2) return SCRIPT_ERROR.INVALID_STACK_OPERATION;
  const a = decodeScriptNumber(stack[depth - 2]!, requireMinimal);
  const b = decodeScriptNumber(stack[depth - 1]!, requireMinimal);
  if (Number.isNaN(a) || Number.isNaN(b)) return SCRIPT_ERROR.UNKNOWN_ERROR;
  stack.length = depth - 2;
  if (opcode === OP.OP_NUMEQUALVERIFY && a === b) return SCRIPT_ERROR.OK;
  stack.push(binaryResult(opcode, a, b));
  return opcode === OP.OP_NUMEQUALVERIFY ? SCRIPT_ERROR.NUMEQUALVERIFY : SCRIPT_ERROR.OK;
}

function binaryResult(opcode: number, a: number, b: number): Bytes {
  switch (opcode) {
    case OP.OP_ADD:
      return encodeScriptNumber(a + b);
    case OP.OP_SUB:
      return encodeScriptNumber(a - b);
    case OP.OP_BOOLAND:
      return ofBool(a !== 0 && b !== 0);
    case OP.OP_BOOLOR:
      return ofBool(a !== 0 || b !== 0);
    case OP.OP_NUMNOTEQUAL:
      return ofBool(a !== b);
    case OP.OP_LESSTHAN:
      return ofBool(a < b);
    case OP.OP_GREATERTHAN:
      return ofBool(a > b);
    case OP.OP_LESSTHANOREQUAL:
      return ofBool(a <= b);
    case OP.OP_GREATERTHANOREQUAL:
      return ofBool(a >= b);
    case OP.OP_MIN:
      return encodeScriptNumber(Math.min(a, b));
    case OP.OP_MAX:
      return encodeScriptNumber(Math.max(a, b));
    default:
      return ofBool(a === b);
  }
}

/** Executes OP_WITHIN. Stack: ( x min max -- min <= x < max ). */
export function withinOp(evaluation: Evaluation): ScriptErrorCode {
  const { stack, requireMinimal } = evaluation;
  const depth = stack.length;
  if (depth < 3) return SCRIPT_ERROR.INVALID_STACK_OPERATION;
  const value = decodeScriptNumber(stack[depth - 3]!, requireMinimal);
  const min = decodeScriptNumber(stack[depth - 2]!, requireMinimal);
  const max = decodeScriptNumber(stack[depth - 1]!, requireMinimal);
  if (Number.isNaN(value) || Number.isNaN(min) || Number.isNaN(max)) return SCRIPT_ERROR.UNKNOWN_ERROR;
  stack.length = depth - 3;
  stack.push(ofBool(min <= value && value < max));
  return SCRIPT_ERROR.OK;
}
