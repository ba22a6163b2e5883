/**
 * Script functions for the block parser. They do not depend on the module `script`: ends of operations, the legacy sigop
 * count, and claim prefixes. They evaluate no script and allocate no memory. Source: lbrycrd script/script.cpp
 * `GetScriptOp`, `GetSigOpCount`; nameclaim.cpp `DecodeClaimScript`.
 */
import type { Bytes } from '../util/bytes.js';

export const OP_CLAIM_NAME = 0xb5;
export const OP_SUPPORT_CLAIM = 0xb6;
export const OP_UPDATE_CLAIM = 0xb7;

const OP_PUSHDATA1 = 0x4c;
const OP_PUSHDATA2 = 0x4d;
const OP_PUSHDATA4 = 0x4e;
const OP_2DROP = 0x6d;
const OP_DROP = 0x75;
const OP_CHECKSIG = 0xac;
const OP_CHECKSIGVERIFY = 0xad;
const OP_CHECKMULTISIG = 0xae;
const OP_CHECKMULTISIGVERIFY = 0xaf;

/** Number of sigops that the inaccurate count assumes for a multisig, whatever its number of keys. */
const MAX_PUBKEYS_PER_MULTISIG = 20;

const CLAIM_ID_SIZE = 20;

/** Returns the offset after the operation at `at`, including its pushed bytes; −1 if the operation exceeds `end`. */
export function nextOp(script: Bytes, at: number, end: number): number {
  const opcode = script[at]!;
  const next = at + 1;
  if (opcode < OP_PUSHDATA1) return next + opcode <= end ? next + opcode : -1;
  if (opcode > OP_PUSHDATA4) return next;
  const start = next + (opcode === OP_PUSHDATA1 ? 1 : opcode === OP_PUSHDATA2 ? 2 : 4);
  if (start > end) return -1;
  let length = script[next]!;
  if (opcode >= OP_PUSHDATA2) length += script[next + 1]! * 0x100;
  if (opcode === OP_PUSHDATA4) length += script[next + 2]! * 0x10000 + script[next + 3]! * 0x1000000;
  return start + length <= end ? start + length : -1;
}

/**
 * Returns the number of sigops in `script[start, end)` by the inaccurate count of blocks. Counting stops at a push that
 * exceeds `end`.
 */
export function countLegacySigops(script: Bytes, start: number, end: number): number {
  let count = 0;
  let at = start;
  while (at < end) {
    const opcode = script[at]!;
    at = nextOp(script, at, end);
    if (at < 0) break;
    if (opcode === OP_CHECKSIG || opcode === OP_CHECKSIGVERIFY) count += 1;
    else if (opcode === OP_CHECKMULTISIG || opcode === OP_CHECKMULTISIGVERIFY) {
      count += MAX_PUBKEYS_PER_MULTISIG;
    }
  }
  return count;
}

/** Returns the offset after the push of a claim parameter (opcodes 0 to OP_PUSHDATA4) at `at`; −1 if there is none. */
function nextPush(script: Bytes, at: number, end: number): number {
  return at < end && script[at]! <= OP_PUSHDATA4 ? nextOp(script, at, end) : -1;
}

/** Returns the number of bytes that the push at `at` puts on the stack. `next` is the offset after the push. */
function pushedLength(script: Bytes, at: number, next: number): number {
  const opcode = script[at]!;
  if (opcode < OP_PUSHDATA1) return opcode;
  return next - at - 1 - (opcode === OP_PUSHDATA1 ? 1 : opcode === OP_PUSHDATA2 ? 2 : 4);
}

/**
 * Returns the length in bytes of the claim prefix at the start of `script[start, end)`; 0 if there is none. The first byte
 * of the prefix is its opcode.
 */
export function claimPrefixLength(script: Bytes, start: number, end: number): number {
  if (start >= end) return 0;
  const kind = script[start]!;
  if (kind < OP_CLAIM_NAME || kind > OP_UPDATE_CLAIM) return 0;
  const second = nextPush(script, start + 1, end);
  if (second < 0) return 0;
  let at = nextPush(script, second, end);
  if (at < 0) return 0;
  if (kind !== OP_CLAIM_NAME && pushedLength(script, second, at) !== CLAIM_ID_SIZE) return 0;
  let lastDrop = OP_DROP;
  if (kind !== OP_CLAIM_NAME && at < end && script[at]! <= OP_PUSHDATA4) {
    at = nextOp(script, at, end);
    if (at < 0) return 0;
    lastDrop = OP_2DROP;
  } else if (kind === OP_UPDATE_CLAIM) {
    return 0;
  }
  if (at + 2 > end || script[at] !== OP_2DROP || script[at + 1] !== lastDrop) return 0;
  return at + 2 - start;
}

/** Returns the opcode of the claim prefix at the start of `script[start, end)`; 0 if there is none. */
export function claimKind(script: Bytes, start: number, end: number): number {
  return claimPrefixLength(script, start, end) === 0 ? 0 : script[start]!;
}
