/**
 * Scripts as bytes: limits, iteration over operations, construction, and the script forms that consensus rules recognize.
 * Iteration allocates no memory: `nextOp` returns the offset of the next operation, `opDataStart` the start of its data.
 * `interpreter.ts` evaluates scripts, `standard.ts` recognizes templates, `claimScript.ts` handles claim prefixes. Source:
 * Core script.h, script.cpp.
 */
import { EMPTY_BYTES, type Bytes } from '../util/bytes.js';
import { isSmallInteger, MAX_OPCODE, OP, smallIntegerOf, smallIntegerOpcode } from './opcodes.js';
import { encodeScriptNumber } from './scriptNumber.js';

/** Maximum size of a stack element in bytes: 520 in Bitcoin, raised by lbrycrd for claim values. */
export const MAX_SCRIPT_ELEMENT_SIZE = 20_000;
/**
 * Maximum size of a script in bytes: 10,000 in Bitcoin. An output with a larger script is unspendable and not stored as a
 * coin.
 */
export const MAX_SCRIPT_SIZE = 20_005;
/** Maximum number of operations above OP_16 in a script, including keys of CHECKMULTISIG. */
export const MAX_OPS_PER_SCRIPT = 201;
export const MAX_PUBKEYS_PER_MULTISIG = 20;
/** Maximum number of elements on the stack and the alt stack together. */
export const MAX_STACK_SIZE = 1_000;
/** Lock times below this value are heights; other lock times are in seconds since 1970. */
export const LOCKTIME_THRESHOLD = 500_000_000;

/**
 * Returns the offset of the operation that follows the operation at `at`, or −1 if the push at `at` exceeds the script. `at`
 * must be within the script.
 */
export function nextOp(script: Bytes, at: number): number {
  const opcode = script[at]!;
  const dataStart = opDataStart(opcode, at);
  if (opcode > OP.OP_PUSHDATA4) return dataStart;
  const end = script.length;
  if (dataStart > end) return -1;
  let size: number = opcode;
  if (opcode === OP.OP_PUSHDATA1) size = script[at + 1]!;
  else if (opcode === OP.OP_PUSHDATA2) size = script[at + 1]! | (script[at + 2]! << 8);
  else if (opcode === OP.OP_PUSHDATA4) {
    size =
      (script[at + 1]! | (script[at + 2]! << 8) | (script[at + 3]! << 16) | (script[at + 4]! << 24)) >>> 0;
  }
  return size > end - dataStart ? -1 : dataStart + size;
}

/** Returns the offset of the data of a push at `at`. For other opcodes it is the offset of the next operation. */
export function opDataStart(opcode: number, at: number): number {
  if (opcode < OP.OP_PUSHDATA1 || opcode > OP.OP_PUSHDATA4) return at + 1;
  if (opcode === OP.OP_PUSHDATA1) return at + 2;
  return opcode === OP.OP_PUSHDATA2 ? at + 3 : at + 5;
}

/** Whether the script has only pushes from offset `from` on. OP_RESERVED counts as a push; a truncated push does not. */
export function isPushOnly(script: Bytes, from = 0): boolean {
  for (let at = from; at < script.length;) {
    if (script[at]! > OP.OP_16) return false;
    at = nextOp(script, at);
    if (at < 0) return false;
  }
  return true;
}

/**
 * Returns the data of the last push as a view; empty for OP_0 to OP_16 and for an empty script. Null if the script has other
 * operations than pushes. For the scriptSig of a P2SH input, this is the redeem script.
 */
export function lastPush(script: Bytes): Bytes | null {
  let data = EMPTY_BYTES;
  for (let at = 0; at < script.length;) {
    const opcode = script[at]!;
    if (opcode > OP.OP_16) return null;
    const next = nextOp(script, at);
    if (next < 0) return null;
    data = script.subarray(opDataStart(opcode, at), next);
    at = next;
  }
  return data;
}

/** Whether the script is exactly HASH160, a push of 20 bytes, EQUAL (BIP16). */
export function isPayToScriptHash(script: Bytes): boolean {
  return (
    script.length === 23 && script[0] === OP.OP_HASH160 && script[1] === 0x14 && script[22] === OP.OP_EQUAL
  );
}

/** Whether the script is exactly a number from 0 to 16 and a direct push of 2 to 40 bytes (BIP141). */
export function isWitnessProgram(script: Bytes): boolean {
  if (script.length < 4 || script.length > 42) return false;
  const version = script[0]!;
  return (version === OP.OP_0 || isSmallInteger(version)) && script[1]! + 2 === script.length;
}

/**
 * Returns the version of a witness program, which is a script that `isWitnessProgram` accepts. The program starts at the
 * third byte of the script.
 */
export function witnessVersion(script: Bytes): number {
  return smallIntegerOf(script[0]!);
}

/**
 * Whether an output with this script can never be spent. Such an output is not stored as a coin. Source:
 * `CScript::IsUnspendable`.
 */
export function isUnspendable(script: Bytes): boolean {
  return script[0] === OP.OP_RETURN || script.length > MAX_SCRIPT_SIZE;
}

/**
 * Whether every operation is complete, has a known opcode and respects the size limit of elements. Source:
 * `CScript::HasValidOps`.
 */
export function hasValidOps(script: Bytes): boolean {
  for (let at = 0; at < script.length;) {
    const opcode = script[at]!;
    const next = nextOp(script, at);
    if (next < 0 || opcode > MAX_OPCODE || next - opDataStart(opcode, at) > MAX_SCRIPT_ELEMENT_SIZE)
      return false;
    at = next;
  }
  return true;
}

/**
 * Returns a push of `data` with the shortest length form. A single byte is never encoded as OP_1 to OP_16 or OP_1NEGATE, as
 * in Core's `operator<<` for byte vectors.
 */
export function pushData(data: Bytes): Buffer {
  const size = data.length;
  let head: Buffer;
  if (size < OP.OP_PUSHDATA1) head = Buffer.of(size);
  else if (size <= 0xff) head = Buffer.of(OP.OP_PUSHDATA1, size);
  else if (size <= 0xffff) head = Buffer.of(OP.OP_PUSHDATA2, size & 0xff, size >> 8);
  else {
    head = Buffer.alloc(5);
    head[0] = OP.OP_PUSHDATA4;
    head.writeUInt32LE(size, 1);
  }
  return Buffer.concat([head, data]);
}

/** Returns a push of a number: an opcode for −1 to 16, otherwise the number's bytes. Source: `CScript::push_int64`. */
export function pushNumber(value: number): Buffer {
  if (value === -1) return Buffer.of(OP.OP_1NEGATE);
  if (value >= 0 && value <= 16) return Buffer.of(smallIntegerOpcode(value));
  return pushData(encodeScriptNumber(value));
}

/** Creates a script from opcodes (numbers) and pushes (byte arrays). */
export function buildScript(...parts: (number | Bytes)[]): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.of(part) : pushData(part))));
}
