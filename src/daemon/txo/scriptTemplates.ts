/**
 * Script templates that the wallet knows. A template is a sequence of opcodes and named data pushes. Scripts are parsed and
 * written by these templates. A push that the end of the script truncates is accepted with the shorter data. Source:
 * lbry-sdk lbry/wallet/script.py `OutputScript`, `InputScript`.
 */
import { OP } from '../../script/opcodes.js';
import { pushData } from '../../script/script.js';
import type { Bytes } from '../../util/bytes.js';
import { badValue } from '../base/daemonError.js';

/** Size of a key hash in bytes. */
const KEY_HASH_SIZE = 20;

/** A part of a template: an opcode, or the name of a data push. */
type Part = number | string;

const PAY_PUBKEY_HASH: readonly Part[] = [
  OP.OP_DUP,
  OP.OP_HASH160,
  'pubkey_hash',
  OP.OP_EQUALVERIFY,
  OP.OP_CHECKSIG,
];
const PAY_SCRIPT_HASH: readonly Part[] = [OP.OP_HASH160, 'script_hash', OP.OP_EQUAL];
const CLAIM: readonly Part[] = [OP.OP_CLAIM_NAME, 'claim_name', 'claim', OP.OP_2DROP, OP.OP_DROP];
const SUPPORT: readonly Part[] = [OP.OP_SUPPORT_CLAIM, 'claim_name', 'claim_id', OP.OP_2DROP, OP.OP_DROP];
const SUPPORT_DATA: readonly Part[] = [
  OP.OP_SUPPORT_CLAIM,
  'claim_name',
  'claim_id',
  'support',
  OP.OP_2DROP,
  OP.OP_2DROP,
];
const UPDATE: readonly Part[] = [
  OP.OP_UPDATE_CLAIM,
  'claim_name',
  'claim_id',
  'claim',
  OP.OP_2DROP,
  OP.OP_2DROP,
];

/** Templates of output scripts. The first that matches determines the type. */
const OUTPUT_TEMPLATES = {
  pay_pubkey_full: ['pubkey', OP.OP_CHECKSIG],
  pay_pubkey_hash: PAY_PUBKEY_HASH,
  pay_script_hash: PAY_SCRIPT_HASH,
  'pay_script_hash+segwit': [OP.OP_0, 'script_hash'],
  return_data: [OP.OP_RETURN, 'data'],
  'claim_name+pay_pubkey_hash': [...CLAIM, ...PAY_PUBKEY_HASH],
  'claim_name+pay_script_hash': [...CLAIM, ...PAY_SCRIPT_HASH],
  'support_claim+pay_pubkey_hash': [...SUPPORT, ...PAY_PUBKEY_HASH],
  'support_claim+pay_script_hash': [...SUPPORT, ...PAY_SCRIPT_HASH],
  'support_claim+data+pay_pubkey_hash': [...SUPPORT_DATA, ...PAY_PUBKEY_HASH],
  'support_claim+data+pay_script_hash': [...SUPPORT_DATA, ...PAY_SCRIPT_HASH],
  'update_claim+pay_pubkey_hash': [...UPDATE, ...PAY_PUBKEY_HASH],
  'update_claim+pay_script_hash': [...UPDATE, ...PAY_SCRIPT_HASH],
  no_script: [],
} as const satisfies Record<string, readonly Part[]>;

export type OutputTemplate = keyof typeof OUTPUT_TEMPLATES;

const INPUT_TEMPLATES = {
  pubkey: ['signature'],
  pubkey_hash: ['signature', 'pubkey'],
  'script_hash+timelock': ['signature', 'pubkey', 'script'],
} as const satisfies Record<string, readonly Part[]>;

export type InputTemplate = keyof typeof INPUT_TEMPLATES;

const TIME_LOCK: readonly Part[] = ['height', OP.OP_CHECKLOCKTIMEVERIFY, OP.OP_DROP, ...PAY_PUBKEY_HASH];

/** Pushed data by the names of the template. */
export type ScriptValues = Readonly<Record<string, Buffer>>;

export interface ReadScript<Name extends string> {
  readonly template: Name;
  readonly values: ScriptValues;
}

/** Splits a script into opcodes (numbers) and pushed data (bytes). */
function tokensOf(script: Bytes): (number | Buffer)[] {
  const bytes = Buffer.from(script);
  const tokens: (number | Buffer)[] = [];
  let at = 0;
  while (at < bytes.length) {
    const opcode = bytes[at++]!;
    if (opcode === 0 || opcode > OP.OP_PUSHDATA4) {
      tokens.push(opcode);
      continue;
    }
    const sizeBytes = opcode < OP.OP_PUSHDATA1 ? 0 : 2 ** (opcode - OP.OP_PUSHDATA1);
    if (at + sizeBytes > bytes.length) throw badValue('The script ends within a push.');
    const size = sizeBytes === 0 ? opcode : bytes.readUIntLE(at, sizeBytes);
    at += sizeBytes;
    tokens.push(bytes.subarray(at, at + size));
    at += size;
  }
  return tokens;
}

function match(tokens: readonly (number | Buffer)[], parts: readonly Part[]): ScriptValues | null {
  if (tokens.length !== parts.length) return null;
  const values: Record<string, Buffer> = {};
  for (const [n, part] of parts.entries()) {
    const token = tokens[n]!;
    if (typeof part === 'number') {
      if (token !== part) return null;
    } else if (token === OP.OP_0) values[part] = Buffer.alloc(0);
    else if (typeof token === 'number') return null;
    else values[part] = token;
  }
  return values;
}

function readBy<Name extends string>(
  script: Bytes,
  templates: Readonly<Record<Name, readonly Part[]>>,
): ReadScript<Name> {
  const tokens = tokensOf(script);
  for (const template of Object.keys(templates) as Name[]) {
    const values = match(tokens, templates[template]);
    if (values) return { template, values };
  }
  throw badValue(`No matching templates for source: ${Buffer.from(script).toString('hex')}`);
}

/** Parses a script by the templates. Throws `ValueError` if no template matches. */
export function readOutputScript(script: Bytes): ReadScript<OutputTemplate> {
  return readBy(script, OUTPUT_TEMPLATES);
}

/** Parses a script by the templates. Throws `ValueError` if no template matches. */
export function readInputScript(script: Bytes): ReadScript<InputTemplate> {
  return readBy(script, INPUT_TEMPLATES);
}

/** Writes a script by a template. An empty push is written as OP_0. */
export function writeOutputScript(template: OutputTemplate, values: Readonly<Record<string, Bytes>>): Buffer {
  const parts: readonly Part[] = OUTPUT_TEMPLATES[template];
  return Buffer.concat(
    parts.map((part) => (typeof part === 'number' ? Buffer.of(part) : pushData(values[part]!))),
  );
}

export interface TimeLock {
  /** Lock time: minimum height of the block that may contain the spending transaction. */
  readonly height: number;
  readonly pubkeyHash: Buffer;
}

/** Reads the redeem script of a time lock. Throws `ValueError`. */
export function readTimeLock(script: Bytes): TimeLock {
  const tokens = tokensOf(script);
  // A lock height up to 16 may be encoded as the opcodes OP_1 to OP_16 instead of a push.
  const [first] = tokens;
  if (typeof first === 'number' && first >= OP.OP_1 && first <= OP.OP_16)
    tokens[0] = Buffer.of(first - OP.OP_1 + 1);
  const values = match(tokens, TIME_LOCK);
  const height = values?.['height'];
  if (!values || !height || height.length === 0 || height.length > 5)
    throw badValue('The script is not a time lock.');
  return { height: height.readUIntLE(0, height.length), pubkeyHash: values['pubkey_hash']! };
}

/** Returns the key hash (20 bytes) in a P2WPKH script. */
export function witnessKeyHash(script: Bytes): Buffer | undefined {
  const { template, values } = readOutputScript(script);
  const program = template === 'pay_script_hash+segwit' ? values['script_hash'] : undefined;
  return program?.length === KEY_HASH_SIZE ? program : undefined;
}
