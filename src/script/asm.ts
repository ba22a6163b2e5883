/**
 * Scripts as text: the `asm` of RPC results.
 * Source: lbrycrd core_write.cpp `ScriptToAsmStr`, `SighashToStr`.
 */
import { toHex, type Bytes } from '../util/bytes.js';
import type { Slices } from '../util/slices.js';
import { SCRIPT_VERIFY } from './flags.js';
import { isClaimOpcode, OP, opcodeName } from './opcodes.js';
import { isUnspendable, nextOp, opDataStart } from './script.js';
import { SCRIPT_ERROR } from './scriptError.js';
import { decodeScriptNumber, MAX_NUMBER_SIZE } from './scriptNumber.js';
import { checkSignatureEncoding } from './signatureEncoding.js';

const SIGHASH_NAMES = new Map<number, string>([
  [0x01, 'ALL'],
  [0x81, 'ALL|ANYONECANPAY'],
  [0x02, 'NONE'],
  [0x82, 'NONE|ANYONECANPAY'],
  [0x03, 'SINGLE'],
  [0x83, 'SINGLE|ANYONECANPAY'],
]);

/** `ALL`, `NONE|ANYONECANPAY` and so on; empty for an undefined type. */
export function sighashName(hashType: number): string {
  return SIGHASH_NAMES.get(hashType) ?? '';
}

/** Hex of a push; for a signature, the hash type byte is replaced by its name in brackets. */
function formatPush(data: Bytes, decodeSighash: boolean): string {
  if (!decodeSighash || checkSignatureEncoding(data, SCRIPT_VERIFY.STRICTENC) !== SCRIPT_ERROR.OK)
    return toHex(data);
  const name = data.length > 0 ? sighashName(data[data.length - 1]!) : '';
  return name === '' ? toHex(data) : `${toHex(data.subarray(0, -1))}[${name}]`;
}

/** State of the formatting of a script. */
interface AsmState {
  at: number;
  /** Whether a claim opcode has occurred. */
  isClaim: boolean;
  /** Whether the hash types of signatures are shown by name. */
  readonly decode: boolean;
}

/** The words of up to `count` operations. */
function nextWords(script: Bytes, state: AsmState, count: number): string[] {
  const words: string[] = [];
  while (state.at < script.length && words.length < count) {
    const opcode = script[state.at]!;
    const next = nextOp(script, state.at);
    if (next < 0) {
      words.push('[error]');
      state.at = script.length;
      break;
    }
    state.isClaim ||= isClaimOpcode(opcode);
    if (opcode > OP.OP_PUSHDATA4) words.push(opcodeName(opcode));
    else {
      const data = script.subarray(opDataStart(opcode, state.at), next);
      if (data.length <= MAX_NUMBER_SIZE && !state.isClaim)
        words.push(String(decodeScriptNumber(data, false)));
      else words.push(formatPush(data, state.decode));
    }
    state.at = next;
  }
  return words;
}

function beginAsm(script: Bytes, decodeSighash: boolean): AsmState {
  return { at: 0, isClaim: false, decode: decodeSighash && !isUnspendable(script) };
}

/**
 * Operations separated by spaces: pushes of up to 4 bytes as numbers, longer ones as hex, `[error]` for a push that exceeds
 * the script. `decodeSighash` is meant for scriptSigs. QUIRK: after a claim opcode all pushes are hex, so an empty name
 * gives two spaces. Test: test/unit/script/asm.test.ts.
 */
export function formatAsm(script: Bytes, decodeSighash = false): string {
  return nextWords(script, beginAsm(script, decodeSighash), Infinity).join(' ');
}

/** Operations between two pauses. */
const WORDS_AT_ONCE = 256;

/** The same in slices. */
export function* formatAsmInSlices(script: Bytes, decodeSighash = false): Slices<string> {
  const state = beginAsm(script, decodeSighash);
  let text = '';
  for (; state.at < script.length; yield) {
    const words = nextWords(script, state, WORDS_AT_ONCE).join(' ');
    text += state.at < script.length ? `${words} ` : words;
  }
  return text;
}
