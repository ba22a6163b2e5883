/**
 * Key of an output script in the address index. Scripts that pay to the same address share a key: the claim prefix of
 * claims, updates and supports is ignored, and a bare public key gets the key of its P2PKH address.
 */
import { hash160, sha256 } from '../crypto/hash.js';
import { loadNative } from '../native/binding.js';
import { stripClaimPrefix } from '../script/claimScript.js';
import { OP } from '../script/opcodes.js';
import { scriptForDestination, solveScript } from '../script/standard.js';
import { toLatin1, type Bytes } from '../util/bytes.js';

/**
 * Number of bytes of a script key. Two scripts with equal keys would be treated as one; finding such a pair takes 2^64
 * attempts.
 */
export const SCRIPT_KEY_BYTES = 16;

/** Computes the key of a script, 16 bytes as a latin1 string; null for an unspendable script. */
export function scriptKeyOf(script: Bytes): string | null {
  const native = loadNative();
  return native ? native.scriptKey(script) : scriptKeyFallback(script);
}

/** JavaScript fallback of the addon's `scriptKey`. Null for a script that is not indexed. */
export function scriptKeyFallback(script: Bytes): string | null {
  const payment = stripClaimPrefix(script);
  if (payment[0] === OP.OP_RETURN) return null;
  return toLatin1(sha256(canonical(payment)).subarray(0, SCRIPT_KEY_BYTES));
}

function canonical(payment: Bytes): Bytes {
  const template = solveScript(payment);
  if (template.type !== 'pubkey') return payment;
  return scriptForDestination({ type: 'pubkeyhash', hash: hash160(template.publicKey) });
}
