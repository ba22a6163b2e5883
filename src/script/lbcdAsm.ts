/**
 * Formats scripts as text in lbcd's notation: all pushes are hex, including signatures, and opcodes have lbcd's names.
 * Source: lbcd txscript/script.go `DisasmString`, txscript/opcode.go `disasmOpcode`.
 */
import { toHex, type Bytes } from '../util/bytes.js';
import type { Slices } from '../util/slices.js';
import { MAX_OPCODE, OP, opcodeName } from './opcodes.js';
import { nextOp, opDataStart } from './script.js';

/** Names of those opcodes that have another name in lbcd than in lbrycrd. */
const NAMES = new Map<number, string>([
  [OP.OP_CLAIM_NAME, 'OP_CLAIMNAME'],
  [OP.OP_SUPPORT_CLAIM, 'OP_SUPPORTCLAIM'],
  [OP.OP_UPDATE_CLAIM, 'OP_UPDATECLAIM'],
  [0xfa, 'OP_SMALLINTEGER'],
  [0xfb, 'OP_PUBKEYS'],
  [0xfd, 'OP_PUBKEYHASH'],
  [0xfe, 'OP_PUBKEY'],
  [OP.OP_INVALIDOPCODE, 'OP_INVALIDOPCODE'],
]);

/** Number of operations that are formatted between two yields to the event loop. */
const WORDS_AT_ONCE = 256;

function lbcdOpcodeName(opcode: number): string {
  return NAMES.get(opcode) ?? (opcode > MAX_OPCODE ? `OP_UNKNOWN${opcode}` : opcodeName(opcode));
}

/**
 * Formats a script as operations separated by spaces, and yields to the event loop in between. A push that exceeds the
 * script is `[error]`.
 */
export function* formatLbcdAsmInSlices(script: Bytes): Slices<string> {
  const words: string[] = [];
  for (let at = 0; at < script.length;) {
    const opcode = script[at]!;
    const next = nextOp(script, at);
    if (next < 0) {
      words.push('[error]');
      break;
    }
    const isPush = opcode > OP.OP_0 && opcode <= OP.OP_PUSHDATA4;
    words.push(isPush ? toHex(script.subarray(opDataStart(opcode, at), next)) : lbcdOpcodeName(opcode));
    at = next;
    if (words.length % WORDS_AT_ONCE === 0) yield;
  }
  return words.join(' ');
}
