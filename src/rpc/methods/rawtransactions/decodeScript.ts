/**
 * `decodescript`: describes a script, and how it can be wrapped. Source: lbrycrd rpc/rawtransaction.cpp; lbcd rpcserver.go
 * `handleDecodeScript`.
 */
import { hash160 } from '../../../crypto/hash.js';
import { encodeDestination } from '../../../script/address.js';
import { scriptForWitness, solveScript } from '../../../script/standard.js';
import { EMPTY_BYTES, type Bytes } from '../../../util/bytes.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { inSlices } from '../../../scheduler/slices.js';
import { addressPrefixes } from '../../format/addresses.js';
import {
  SCRIPT_FIELDS,
  scriptAnswer,
  scriptAnswerInSlices,
  type ScriptContext,
} from '../../format/script.js';
import { defineMethod } from '../../declare/method.js';
import { readHexParam, readLbcdHex } from '../../declare/paramTypes.js';
import { t } from '../../../schema/schema.js';

/** Types of scripts that may be wrapped in a witness program. */
const WRAPPABLE = new Set(['pubkey', 'pubkeyhash', 'multisig', 'nonstandard']);
const COMPRESSED_KEY_BYTES = 33;

function scriptHashAddress(script: Bytes, { prefixes }: ScriptContext): string {
  return encodeDestination({ type: 'scripthash', hash: hash160(script) }, prefixes);
}

/** Whether the script has an uncompressed key, which witness programs do not allow. */
function hasUncompressedKey(script: Bytes): boolean {
  const template = solveScript(script);
  if (template.type === 'pubkey') return template.publicKey.length !== COMPRESSED_KEY_BYTES;
  if (template.type !== 'multisig') return false;
  return template.publicKeys.some((key) => key.length !== COMPRESSED_KEY_BYTES);
}

function segwitAnswer(script: Bytes, context: ScriptContext): JsonOut {
  const program = scriptForWitness(script);
  return { ...scriptAnswer(program, context, true), 'p2sh-segwit': scriptHashAddress(program, context) };
}

export const decodeScript = defineMethod({
  name: 'decodescript',
  category: 'rawtransactions',
  explorer: 'console',
  chainUse: 'none',
  summary: 'Decode a hex-encoded script.',
  params: [
    {
      name: 'hexstring',
      type: 'string',
      required: true,
      strict: true,
      description: 'The hex-encoded script',
    },
  ],
  result: t.object({
    ...SCRIPT_FIELDS,
    p2sh: t.optional(t.str('address of the P2SH script wrapping it'), 'if the script is not P2SH'),
    segwit: t.optional(
      t.object({
        ...SCRIPT_FIELDS,
        'p2sh-segwit': t.str('address of the P2SH script that wraps the witness program'),
      }),
      'if a witness program can wrap the script',
    ),
  }),
  examples: [['"hexstring"']],
  async run({ services: { params }, profile }, { hexstring }) {
    const isLbcd = profile === 'lbcd';
    const read = isLbcd ? readLbcdHex : (text: string) => readHexParam(text, 'argument');
    const script = hexstring === '' ? EMPTY_BYTES : await read(hexstring);
    const context: ScriptContext = { prefixes: addressPrefixes(params), profile };
    const whole = await inSlices(scriptAnswerInSlices(script, context, false));
    // This is the only method in which lbcd shows the type of the script that follows a claim operation.
    const answer = isLbcd ? { ...whole, type: whole.subtype || whole.type } : whole;
    if (answer.type === 'scripthash') return answer;
    const wraps = WRAPPABLE.has(answer.type) && !hasUncompressedKey(script);
    return {
      ...answer,
      p2sh: scriptHashAddress(script, context),
      segwit: wraps ? segwitAnswer(script, context) : undefined,
    };
  },
});
