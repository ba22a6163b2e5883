/**
 * Standard types of output scripts, and their destinations. `solveScript` and `extractDestinations` expect a script without
 * claim prefix; `extractDestination` removes it. The mempool's policy decides which types are relayed. Source: lbrycrd
 * script/standard.cpp `Solver`, `ExtractDestination(s)`, `GetScriptFor...`; script/sign.cpp `StripTimelockPrefix`.
 */
import { hasPublicKeySize } from '../crypto/ecdsaEncoding.js';
import { hash160, sha256 } from '../crypto/hash.js';
import type { Bytes } from '../util/bytes.js';
import { stripClaimPrefix } from './claimScript.js';
import { isSmallInteger, OP, smallIntegerOf, smallIntegerOpcode } from './opcodes.js';
import {
  buildScript,
  isPayToScriptHash,
  isPushOnly,
  isWitnessProgram,
  nextOp,
  opDataStart,
  witnessVersion,
} from './script.js';

/** Recipient of an output, as addresses represent it. Hashes and programs may be views of a script. */
export type Destination =
  | { type: 'pubkeyhash'; hash: Bytes }
  | { type: 'scripthash'; hash: Bytes }
  | { type: 'witness_v0_keyhash'; hash: Bytes }
  | { type: 'witness_v0_scripthash'; hash: Bytes }
  /** Witness program of version 1 to 16, with 2 to 40 bytes. */
  | { type: 'witness_unknown'; version: number; program: Bytes };

/** Type of a script with its variable parts. The type names are those of RPC results. */
export type ScriptTemplate =
  | Destination
  | { type: 'nonstandard' }
  | { type: 'nulldata' }
  | { type: 'pubkey'; publicKey: Bytes }
  | { type: 'multisig'; required: number; publicKeys: Bytes[] };

export type ScriptType = ScriptTemplate['type'];

const NONSTANDARD: ScriptTemplate = { type: 'nonstandard' };

/** Returns the key if the script is a push of a key of 33 or 65 bytes and CHECKSIG; otherwise null. */
function matchPublicKey(script: Bytes): Bytes | null {
  const size = script.length - 2;
  if ((size !== 33 && size !== 65) || script[0] !== size || script[size + 1] !== OP.OP_CHECKSIG) return null;
  const key = script.subarray(1, size + 1);
  return hasPublicKeySize(key) ? key : null;
}

function isPublicKeyHash(script: Bytes): boolean {
  return (
    script.length === 25 &&
    script[0] === OP.OP_DUP &&
    script[1] === OP.OP_HASH160 &&
    script[2] === 20 &&
    script[23] === OP.OP_EQUALVERIFY &&
    script[24] === OP.OP_CHECKSIG
  );
}

/**
 * Recognizes a multisig script: a number, keys pushed in any length form, the number of keys, CHECKMULTISIG. Returns null
 * for other scripts.
 */
function matchMultisig(script: Bytes): ScriptTemplate | null {
  if (script[script.length - 1] !== OP.OP_CHECKMULTISIG || !isSmallInteger(script[0]!)) return null;
  const publicKeys: Bytes[] = [];
  let at = 1;
  for (;;) {
    const next = nextOp(script, at);
    if (next < 0 || next >= script.length) return null;
    const key = script.subarray(opDataStart(script[at]!, at), next);
    if (!hasPublicKeySize(key)) break;
    publicKeys.push(key);
    at = next;
  }
  const required = smallIntegerOf(script[0]!);
  if (!isSmallInteger(script[at]!) || smallIntegerOf(script[at]!) !== publicKeys.length) return null;
  if (publicKeys.length < required || at + 2 !== script.length) return null;
  return { type: 'multisig', required, publicKeys };
}

/** Returns the type of a script. A script with a claim prefix is `nonstandard`, because claim prefixes are not removed here. */
export function solveScript(script: Bytes): ScriptTemplate {
  if (isPayToScriptHash(script)) return { type: 'scripthash', hash: script.subarray(2, 22) };
  if (isWitnessProgram(script)) {
    const version = witnessVersion(script);
    const program = script.subarray(2);
    if (version !== 0) return { type: 'witness_unknown', version, program };
    if (program.length === 20) return { type: 'witness_v0_keyhash', hash: program };
    return program.length === 32 ? { type: 'witness_v0_scripthash', hash: program } : NONSTANDARD;
  }
  if (script[0] === OP.OP_RETURN && isPushOnly(script, 1)) return { type: 'nulldata' };
  const publicKey = matchPublicKey(script);
  if (publicKey !== null) return { type: 'pubkey', publicKey };
  if (isPublicKeyHash(script)) return { type: 'pubkeyhash', hash: script.subarray(3, 23) };
  return matchMultisig(script) ?? NONSTANDARD;
}

/** Returns the single destination of an output script; a key is represented by its hash. Null for multisig and unknown types. */
export function extractDestination(script: Bytes): Destination | null {
  const template = solveScript(stripClaimPrefix(script));
  switch (template.type) {
    case 'nonstandard':
    case 'nulldata':
    case 'multisig':
      return null;
    case 'pubkey':
      return { type: 'pubkeyhash', hash: hash160(template.publicKey) };
    default:
      return template;
  }
}

export interface ExtractedDestinations {
  type: ScriptType;
  /** Destinations; empty if the script has none. */
  destinations: Destination[];
  /** Number of required signatures; 0 if no destinations exist. */
  required: number;
}

/**
 * Returns the destinations of an output script. QUIRK: unlike `extractDestination`, this function does not remove a claim
 * prefix. The caller must do so, as the reference's RPC code does. Test: test/unit/script/standard.test.ts.
 */
export function extractDestinations(script: Bytes): ExtractedDestinations {
  const template = solveScript(script);
  const { type } = template;
  if (template.type === 'multisig') {
    const destinations = template.publicKeys.map((key): Destination => ({
      type: 'pubkeyhash',
      hash: hash160(key),
    }));
    return { type, destinations, required: template.required };
  }
  const destination = type === 'nonstandard' ? null : extractDestination(script);
  return destination === null
    ? { type, destinations: [], required: 0 }
    : { type, destinations: [destination], required: 1 };
}

/** Returns the output script that pays to a destination. */
export function scriptForDestination(destination: Destination): Buffer {
  switch (destination.type) {
    case 'pubkeyhash':
      return buildScript(OP.OP_DUP, OP.OP_HASH160, destination.hash, OP.OP_EQUALVERIFY, OP.OP_CHECKSIG);
    case 'scripthash':
      return buildScript(OP.OP_HASH160, destination.hash, OP.OP_EQUAL);
    case 'witness_v0_keyhash':
    case 'witness_v0_scripthash':
      return buildScript(OP.OP_0, destination.hash);
    case 'witness_unknown':
      return buildScript(smallIntegerOpcode(destination.version), destination.program);
  }
}

/** Returns the output script that pays to a public key directly (P2PK). */
export function scriptForPublicKey(publicKey: Bytes): Buffer {
  return buildScript(publicKey, OP.OP_CHECKSIG);
}

/** Returns a multisig script that needs `required` of 1 to 16 keys. */
export function scriptForMultisig(required: number, publicKeys: readonly Bytes[]): Buffer {
  return buildScript(
    smallIntegerOpcode(required),
    ...publicKeys,
    smallIntegerOpcode(publicKeys.length),
    OP.OP_CHECKMULTISIG,
  );
}

/**
 * Returns the output script with the witness program for a redeem script: by key hash for P2PK or P2PKH, otherwise by script
 * hash.
 */
export function scriptForWitness(redeemScript: Bytes): Buffer {
  const template = solveScript(redeemScript);
  if (template.type === 'pubkey') {
    return scriptForDestination({ type: 'witness_v0_keyhash', hash: hash160(template.publicKey) });
  }
  if (template.type === 'pubkeyhash') {
    return scriptForDestination({ type: 'witness_v0_keyhash', hash: template.hash });
  }
  return scriptForDestination({ type: 'witness_v0_scripthash', hash: sha256(redeemScript) });
}

/**
 * Returns the script after a time lock (any operation, CHECKLOCKTIMEVERIFY or CHECKSEQUENCEVERIFY, DROP), or the script
 * itself if it has no time lock. Signing ignores the time lock; `solveScript` and the destination functions do not.
 */
export function stripTimelockPrefix(script: Bytes): Bytes {
  if (script.length === 0) return script;
  const at = nextOp(script, 0);
  if (at < 0 || at + 1 >= script.length) return script;
  const lock = script[at];
  if (lock !== OP.OP_CHECKLOCKTIMEVERIFY && lock !== OP.OP_CHECKSEQUENCEVERIFY) return script;
  return script[at + 1] === OP.OP_DROP ? script.subarray(at + 2) : script;
}
