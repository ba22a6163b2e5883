/**
 * Formats scripts as text, for the field `asm` of RPC results. Source: lbrycrd core_write.cpp `ScriptToAsmStr`,
 * `SighashToStr`.
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

/** Returns the name of a signature hash type: `ALL`, `NONE|ANYONECANPAY` and so on. Empty for an undefined type. */
export function sighashName(hashType: number): string {
  return SIGHASH_NAMES.get(hashType) ?? '';
}

/** Formats a push as hex. With `decodeSighash`, the hash type byte of a signature is replaced by its name in brackets. */
function formatPush(data: Bytes, decodeSighash: boolean): string {
  if (!decodeSighash || checkSignatureEncoding(data, SCRIPT_VERIFY.STRICTENC) !== SCRIPT_ERROR.OK)
    return toHex(data);
  const name = data.length > 0 ? sighashName(data[data.length - 1]!) : '';
  return name === '' ? toHex(data) : `${toHex(data.subarray(0, -1))}[${name}]`;
}

/** State while a script is formatted. `at` is the offset of the next operation. */
interface AsmState {
  at: number;
  /** Whether a claim opcode has occurred before `at`. All later pushes are then formatted as hex. */
  isClaim: boolean;
  /** Whether the hash types of signatures are replaced by their names. */
  readonly decode: boolean;
}

/** Formats up to `count` operations, each as one word. */
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
 * Formats a script as operations separated by spaces. Pushes of up to 4 bytes are numbers, longer ones hex; a push that
 * exceeds the script is `[error]`. `decodeSighash` is meant for scriptSigs. QUIRK: after a claim opcode all pushes are hex,
 * so an empty name gives two spaces. Test: test/unit/script/asm.test.ts.
 */
export function formatAsm(script: Bytes, decodeSighash = false): string {
  return nextWords(script, beginAsm(script, decodeSighash), Infinity).join(' ');
}

/** Number of operations that are formatted between two yields to the event loop. */
const WORDS_AT_ONCE = 256;

/** Like `formatAsm`, but works in slices. */
export function* formatAsmInSlices(script: Bytes, decodeSighash = false): Slices<string> {
  const state = beginAsm(script, decodeSighash);
  let text = '';
  for (; state.at < script.length; yield) {
    const words = nextWords(script, state, WORDS_AT_ONCE).join(' ');
    text += state.at < script.length ? `${words} ` : words;
  }
  return text;
}
