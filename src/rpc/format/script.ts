/**
 * Formats output scripts for RPC results. Source: lbrycrd core_write.cpp `ScriptPubKeyToUniv`; lbcd rpcserver.go
 * `createVoutList`.
 */
import { encodeDestination, type AddressPrefixes } from '../../script/address.js';
import { formatAsm, formatAsmInSlices } from '../../script/asm.js';
import { formatLbcdAsmInSlices } from '../../script/lbcdAsm.js';
import { claimPrefixLength, startsWithClaimOpcode, stripClaimPrefix } from '../../script/claimScript.js';
import { OP } from '../../script/opcodes.js';
import { extractDestinations } from '../../script/standard.js';
import { toHex, type Bytes } from '../../util/bytes.js';
import { atOnce, type Slices } from '../../util/slices.js';
import type { Profile } from '../declare/method.js';
import { t, type SchemaFields } from '../../schema/schema.js';
import type { ShownMetadata } from './claimMetadata.js';

export const SCRIPT_TYPES = [
  'nonstandard',
  'pubkey',
  'pubkeyhash',
  'scripthash',
  'multisig',
  'nulldata',
  'witness_v0_keyhash',
  'witness_v0_scripthash',
  'witness_unknown',
] as const;

/** Schema of the members that describe the type of a script. */
export const SCRIPT_TYPE_FIELDS: SchemaFields = {
  isclaim: t.optional(
    t.bool('whether the output creates or updates a claim'),
    'if the script begins with a claim operation; always in the lbcd profile',
  ),
  issupport: t.optional(
    t.bool('whether the output is a support of a claim'),
    'if the script begins with a claim operation; always in the lbcd profile',
  ),
  subtype: t.optional(
    t.oneOf([...SCRIPT_TYPES, ''], 'type of the script after the claim operation'),
    'if the script begins with a claim operation; always in the lbcd profile',
  ),
  type: t.oneOf(SCRIPT_TYPES, 'type of the script; nonstandard for claims and supports'),
};

/** Schema of the members of a script in a result. */
export const SCRIPT_FIELDS: SchemaFields = {
  asm: t.str('the script in assembly notation'),
  hex: t.optional(t.hex('the script in hex'), 'absent for the script passed to decodescript'),
  reqSigs: t.optional(t.int('number of required signatures'), 'if the script has addresses'),
  ...SCRIPT_TYPE_FIELDS,
  addresses: t.optional(t.array(t.str('an address')), 'if the script has any'),
};

export const SCRIPT_SCHEMA = t.named('OutputScript', t.object(SCRIPT_FIELDS, 'the output script'));

/** Minimum size in bytes of a script that is formatted in slices. Valid inputs cannot have scripts longer than this. */
export const LARGE_SCRIPT_BYTES = 10_000;

export interface ScriptContext {
  readonly prefixes: AddressPrefixes;
  readonly profile: Profile;
  /** Formats the decoded values of claims; null or absent if disabled. */
  readonly metadata?: ShownMetadata | null;
}

/** Members of a script in a result, in the reference's order. */
export interface ScriptAnswer {
  readonly asm: string;
  readonly hex: string | undefined;
  readonly reqSigs: number | undefined;
  readonly isclaim: boolean | undefined;
  readonly issupport: boolean | undefined;
  readonly subtype: string | undefined;
  readonly type: string;
  readonly addresses: string[] | undefined;
  // Index signature with which the interface is assignable to a JSON object.
  readonly [name: string]: string | number | boolean | string[] | undefined;
}

/** Formats a script. `asm` is passed if the caller has formatted the operations in slices, because the script is large. */
export function scriptAnswer(
  script: Bytes,
  context: ScriptContext,
  includeHex: boolean,
  asm = context.profile === 'lbcd' ? atOnce(formatLbcdAsmInSlices(script)) : formatAsm(script),
): ScriptAnswer {
  const { type, destinations, required } = extractDestinations(stripClaimPrefix(script));
  // lbcd requires a complete claim prefix, lbrycrd only its opcode.
  const isClaim = context.profile === 'lbcd' ? claimPrefixLength(script) > 0 : startsWithClaimOpcode(script);
  const isSupport = isClaim && script[0] === OP.OP_SUPPORT_CLAIM;
  const showClaim = isClaim || context.profile === 'lbcd';
  const shown = destinations.length > 0;
  return {
    asm,
    hex: includeHex ? toHex(script) : undefined,
    reqSigs: shown ? required : undefined,
    isclaim: showClaim ? isClaim && !isSupport : undefined,
    issupport: showClaim ? isSupport : undefined,
    subtype: isClaim ? type : showClaim ? '' : undefined,
    type: isClaim ? 'nonstandard' : type,
    addresses: shown
      ? destinations.map((destination) => encodeDestination(destination, context.prefixes))
      : undefined,
  };
}

/** Like `scriptAnswer`, in slices if the script is large. */
export function* scriptAnswerInSlices(
  script: Bytes,
  context: ScriptContext,
  includeHex: boolean,
): Slices<ScriptAnswer> {
  if (script.length <= LARGE_SCRIPT_BYTES) return scriptAnswer(script, context, includeHex);
  return scriptAnswer(script, context, includeHex, yield* asmInSlices(script, context.profile));
}

/**
 * Formats the operations of a script in the profile's notation. With `decodeSighash`, signatures include the name of their
 * hash type.
 */
export function asmInSlices(script: Bytes, profile: Profile, decodeSighash = false): Slices<string> {
  return profile === 'lbcd' ? formatLbcdAsmInSlices(script) : formatAsmInSlices(script, decodeSighash);
}
