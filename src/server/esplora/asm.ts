/**
 * Formats scripts as operations, with the names that Esplora uses: pushes by their length (`OP_PUSHBYTES_20 …`), small
 * numbers as `OP_PUSHNUM_n`. Source: rust-bitcoin's script formatting, which electrs shows; mempool's `convertScriptSigAsm`.
 */
import { MAX_OPCODE, OP, opcodeName } from '../../script/opcodes.js';
import { asBuffer, type Bytes } from '../../util/bytes.js';
import type { Slices } from '../../util/slices.js';

/** Number of operations that are formatted between two yields to the event loop. */
const OPS_AT_ONCE = 500;

/** The names of the opcodes that are not pushes. */
const NAMES: readonly string[] = Array.from({ length: 256 }, (_, opcode) => nameOf(opcode));

function nameOf(opcode: number): string {
  if (opcode === OP.OP_0) return 'OP_0';
  if (opcode === OP.OP_1NEGATE) return 'OP_PUSHNUM_NEG1';
  if (opcode >= OP.OP_1 && opcode <= OP.OP_16) return `OP_PUSHNUM_${opcode - OP.OP_1 + 1}`;
  if (opcode === OP.OP_CHECKLOCKTIMEVERIFY) return 'OP_CLTV';
  if (opcode === OP.OP_CHECKSEQUENCEVERIFY) return 'OP_CSV';
  // Names of the claim opcodes in Bitcoin explorers. LBRY's fork of mempool recognizes claims by these names.
  if (opcode >= OP.OP_CLAIM_NAME && opcode <= OP.OP_UPDATE_CLAIM)
    return `OP_NOP${6 + opcode - OP.OP_CLAIM_NAME}`;
  const name = opcodeName(opcode);
  return opcode <= MAX_OPCODE && name !== 'OP_UNKNOWN' ? name : `OP_RETURN_${opcode}`;
}

const LENGTH_BYTES: Readonly<Record<number, number>> = { 0x4c: 1, 0x4d: 2, 0x4e: 4 };

/** Formats a script. A truncated push is the last operation of the text; the bytes of it that exist are shown. */
export function* esploraAsm(script: Bytes): Slices<string> {
  const bytes = asBuffer(script);
  const words: string[] = [];
  let count = 0;
  for (let at = 0; at < bytes.length;) {
    if (++count % OPS_AT_ONCE === 0) yield;
    const opcode = bytes[at++]!;
    if (opcode === 0 || opcode > OP.OP_PUSHDATA4) {
      words.push(NAMES[opcode]!);
      continue;
    }
    const lengthBytes = LENGTH_BYTES[opcode] ?? 0;
    let length = opcode;
    if (lengthBytes > 0) {
      words.push(`OP_PUSHDATA${lengthBytes}`);
      if (at + lengthBytes > bytes.length) break;
      length = bytes.readUIntLE(at, lengthBytes);
      at += lengthBytes;
    } else words.push(`OP_PUSHBYTES_${opcode}`);
    if (at >= bytes.length && length > 0) break;
    words.push(bytes.toString('hex', at, at + length));
    at += length;
  }
  return words.join(' ');
}
