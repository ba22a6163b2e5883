/**
 * Claim prefixes, by which outputs create, update or support claims: detects, removes and creates them, and computes claim
 * ids. The effect of a claim is defined in `claimtrie/`. The functions that read scripts never throw.
 * Source: lbrycrd nameclaim.cpp `DecodeClaimScript`, `StripClaimScriptPrefix`, `ClaimIdHash`.
 */
import { hash160 } from '../crypto/hash.js';
import type { Bytes } from '../util/bytes.js';
import { isClaimOpcode, OP } from './opcodes.js';
import { buildScript, nextOp, opDataStart } from './script.js';

const TXID_BYTES = 32;
export const CLAIM_ID_SIZE = 20;

export type ClaimKind = 'claim' | 'support' | 'update';

/** Content of a claim prefix. The byte arrays are views of the script. */
export interface ClaimScript {
  kind: ClaimKind;
  /** Name of the claim. The name may be empty, which means the root of the claim trie. */
  name: Bytes;
  /** Claim id of 20 bytes. Absent for a new claim, whose id is computed from its outpoint. */
  claimId?: Bytes;
  /** Value (metadata). Absent for a support without metadata. */
  value?: Bytes;
  /** Length in bytes of the claim prefix, which precedes the ordinary script. */
  prefixLength: number;
}

/**
 * Returns the offset after the push at `at`, or −1 if there is none or it is truncated. A push in a claim prefix is an
 * opcode from 0 to OP_PUSHDATA4, of any length form; OP_1NEGATE and OP_1 to OP_16 are not allowed.
 */
function skipPush(script: Bytes, at: number): number {
  return at < script.length && script[at]! <= OP.OP_PUSHDATA4 ? nextOp(script, at) : -1;
}

/**
 * Returns the length in bytes of the claim prefix; 0 if no complete claim prefix exists. Faster than `decodeClaimScript`.
 *
 * The forms: claim, name, value, 2DROP, DROP; update, name, id, value, 2DROP, 2DROP; support, name, id, 2DROP, DROP;
 * support, name, id, value, 2DROP, 2DROP (only if `allowSupportMetadata`).
 */
export function claimPrefixLength(script: Bytes, allowSupportMetadata = true): number {
  const opcode = script[0];
  if (opcode === undefined || !isClaimOpcode(opcode)) return 0;
  const afterName = skipPush(script, 1);
  if (afterName < 0) return 0;
  let at = skipPush(script, afterName);
  if (at < 0) return 0;
  let lastDrop: number = OP.OP_DROP;
  if (opcode !== OP.OP_CLAIM_NAME) {
    if (at - opDataStart(script[afterName]!, afterName) !== CLAIM_ID_SIZE) return 0;
    const hasValue = at < script.length && script[at]! <= OP.OP_PUSHDATA4;
    if (hasValue) {
      if (opcode === OP.OP_SUPPORT_CLAIM && !allowSupportMetadata) return 0;
      at = nextOp(script, at);
      if (at < 0) return 0;
      lastDrop = OP.OP_2DROP;
    } else if (opcode === OP.OP_UPDATE_CLAIM) {
      return 0;
    }
  }
  return script[at] === OP.OP_2DROP && script[at + 1] === lastDrop ? at + 2 : 0;
}

/** Returns the length of the claim's name in bytes; 0 if no complete claim prefix exists. Source: `ClaimNameSize`. */
export function claimNameLength(script: Bytes): number {
  if (claimPrefixLength(script) === 0) return 0;
  return nextOp(script, 1) - opDataStart(script[1]!, 1);
}

function pushAt(script: Bytes, at: number): Bytes {
  return script.subarray(opDataStart(script[at]!, at), nextOp(script, at));
}

/** Returns the claim operation in an output script; null if the script has no claim prefix. */
export function decodeClaimScript(script: Bytes, allowSupportMetadata = true): ClaimScript | null {
  const prefixLength = claimPrefixLength(script, allowSupportMetadata);
  if (prefixLength === 0) return null;
  const name = pushAt(script, 1);
  const second = nextOp(script, 1);
  if (script[0] === OP.OP_CLAIM_NAME) {
    return { kind: 'claim', name, value: pushAt(script, second), prefixLength };
  }
  const kind = script[0] === OP.OP_UPDATE_CLAIM ? 'update' : 'support';
  const claimId = pushAt(script, second);
  const third = nextOp(script, second);
  if (script[third]! > OP.OP_PUSHDATA4) return { kind, name, claimId, prefixLength };
  return { kind, name, claimId, value: pushAt(script, third), prefixLength };
}

/** Returns the output script without its claim prefix as a view, or the script itself if it has no prefix. */
export function stripClaimPrefix(script: Bytes): Bytes {
  const length = claimPrefixLength(script);
  return length === 0 ? script : script.subarray(length);
}

/**
 * Whether a script begins with a claim opcode, even if the prefix is incomplete. QUIRK: the reference detects the operation
 * by its opcode, before it has read the rest of the prefix. The opcode alone therefore disables MINIMALDATA and sets
 * `isclaim`/`issupport` in RPC results, whereas the prefix is removed only if it is complete. Test:
 * test/unit/script/claimScript.test.ts.
 */
export function startsWithClaimOpcode(script: Bytes): boolean {
  return script.length > 0 && isClaimOpcode(script[0]!);
}

/**
 * Returns the id of the claim that output `index` of a transaction creates: HASH160 of txid (wire order) and big-endian
 * index.
 */
export function claimIdOf(txid: Bytes, index: number): Buffer {
  const outPoint = Buffer.allocUnsafe(TXID_BYTES + 4);
  outPoint.set(txid);
  outPoint.writeUInt32BE(index, TXID_BYTES);
  return hash160(outPoint);
}

/** Creates the claim prefix of a new claim. Source: `ClaimNameScript`. */
export function buildClaimPrefix(name: Bytes, value: Bytes): Buffer {
  return buildScript(OP.OP_CLAIM_NAME, name, value, OP.OP_2DROP, OP.OP_DROP);
}

/** Creates the claim prefix of a support. An empty value means no metadata. Source: `SupportClaimScript`. */
export function buildSupportPrefix(name: Bytes, claimId: Bytes, value?: Bytes): Buffer {
  if (value === undefined || value.length === 0) {
    return buildScript(OP.OP_SUPPORT_CLAIM, name, claimId, OP.OP_2DROP, OP.OP_DROP);
  }
  return buildScript(OP.OP_SUPPORT_CLAIM, name, claimId, value, OP.OP_2DROP, OP.OP_2DROP);
}

/** Creates the claim prefix of an update. Source: `UpdateClaimScript`. */
export function buildUpdatePrefix(name: Bytes, claimId: Bytes, value: Bytes): Buffer {
  return buildScript(OP.OP_UPDATE_CLAIM, name, claimId, value, OP.OP_2DROP, OP.OP_2DROP);
}
