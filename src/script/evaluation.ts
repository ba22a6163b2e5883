/**
 * State of the evaluation of one script, shared by the files that implement operations. Stack elements are never modified,
 * so that they can be views of scripts and witnesses. Source: Core interpreter.cpp `EvalScript` (local variables),
 * `CastToBool`.
 */
import { EMPTY_BYTES, type Bytes } from '../util/bytes.js';
import type { SignatureChecker } from './checker.js';
import { SCRIPT_VERIFY } from './flags.js';
import type { SigVersion } from './sighash.js';

export const FALSE_ELEMENT: Bytes = EMPTY_BYTES;
export const TRUE_ELEMENT: Bytes = Uint8Array.of(1);

/**
 * Converts a stack element to a boolean. An element is false if it is empty or all zeros; its last byte may have the sign
 * bit (negative zero).
 */
export function castToBool(element: Bytes): boolean {
  const last = element.length - 1;
  for (let i = 0; i <= last; i++) {
    if (element[i] !== 0) return i !== last || element[i] !== 0x80;
  }
  return false;
}

export class Evaluation {
  readonly stack: Bytes[];
  readonly altStack: Bytes[] = [];
  readonly script: Bytes;
  readonly flags: number;
  readonly checker: SignatureChecker;
  readonly version: SigVersion;
  /** Whether the flag MINIMALDATA is set. If so, numbers must have the minimal encoding. */
  readonly requireMinimal: boolean;
  /** Number of executed operations that count towards the limit MAX_OPS_PER_SCRIPT. */
  opCount = 0;
  /** Offset at which the signed part of the script starts: after the last executed OP_CODESEPARATOR. */
  codeStart = 0;
  /** One entry for each open OP_IF: whether its current branch is executed. */
  readonly branches: boolean[] = [];
  /** Number of false entries in `branches`. Operations are executed only while it is 0. */
  skipping = 0;

  constructor(stack: Bytes[], script: Bytes, flags: number, checker: SignatureChecker, version: SigVersion) {
    this.stack = stack;
    this.script = script;
    this.flags = flags;
    this.checker = checker;
    this.version = version;
    this.requireMinimal = (flags & SCRIPT_VERIFY.MINIMALDATA) !== 0;
  }
}
