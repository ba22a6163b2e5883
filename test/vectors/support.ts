/**
 * Reading of the reference's test vectors: script text, flag lists, and the JSON files where they are present.
 * The files are beside the repository and not part of it. Without them, tests are skipped with a message.
 */
import { existsSync, readFileSync } from 'node:fs';
import { MAX_OPCODE, OP, opcodeName } from '../../src/script/opcodes.js';
import { pushData, pushNumber } from '../../src/script/script.js';
import { SCRIPT_VERIFY, type ScriptFlagName } from '../../src/script/flags.js';

const CORE_VECTORS = new URL('../../../shared/conformance/core-vectors/', import.meta.url);

/** The parsed file, or null if the vectors are absent. */
export function readCoreVectors(name: string): unknown[] | null {
  const url = new URL(name, CORE_VECTORS);
  if (!existsSync(url)) {
    console.log(`${name}: skipped, the reference's vectors are not present`);
    return null;
  }
  return JSON.parse(readFileSync(url, 'utf8')) as unknown[];
}

const OPCODES_BY_NAME = new Map<string, number>();
for (let opcode: number = OP.OP_NOP; opcode <= MAX_OPCODE; opcode++) registerName(opcode);
registerName(OP.OP_RESERVED);

function registerName(opcode: number): void {
  const name = opcodeName(opcode);
  OPCODES_BY_NAME.set(name, opcode);
  OPCODES_BY_NAME.set(name.replace('OP_', ''), opcode);
}

/**
 * A push of a 64-bit number. The vectors contain such numbers, but no script operation accepts them and `pushNumber` does not
 * encode them.
 */
function pushWideNumber(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = value < 0n ? -value : value; rest > 0n; rest >>= 8n) bytes.push(Number(rest & 0xffn));
  const sign = value < 0n ? 0x80 : 0;
  if (bytes[bytes.length - 1]! & 0x80) bytes.push(sign);
  else bytes[bytes.length - 1]! |= sign;
  return pushData(Buffer.from(bytes));
}

function pushInteger(text: string): Buffer {
  const value = Number(text);
  return Number.isSafeInteger(value) ? pushNumber(value) : pushWideNumber(BigInt(text));
}

function parseWord(word: string): Buffer {
  if (/^-?[0-9]+$/.test(word)) return pushInteger(word);
  if (/^0x([0-9a-fA-F]{2})+$/.test(word)) return Buffer.from(word.slice(2), 'hex');
  if (/^'.*'$/.test(word)) return pushData(Buffer.from(word.slice(1, -1)));
  const opcode = OPCODES_BY_NAME.get(word);
  if (opcode === undefined) throw new Error(`script parse error: ${word}`);
  return Buffer.of(opcode);
}

/** The text form of the vectors: numbers, opcode names, 0x raw bytes, 'strings'. Source: Core `ParseScript`. */
export function parseScript(text: string): Buffer {
  return Buffer.concat(
    text
      .split(/[ \t\n]+/)
      .filter((word) => word !== '')
      .map(parseWord),
  );
}

export function parseFlags(text: string): number {
  let flags = 0;
  for (const word of text.split(',')) {
    if (word === '') continue;
    if (!(word in SCRIPT_VERIFY)) throw new Error(`unknown flag ${word}`);
    flags |= SCRIPT_VERIFY[word as ScriptFlagName];
  }
  return flags;
}
