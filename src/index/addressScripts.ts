/**
 * Key of an output script in the address index. Scripts that pay to the same address share a key: claims, updates and
 * supports use the address after their prefix, and a bare public key uses the address of that key.
 */
import { hash160, sha256 } from '../crypto/hash.js';
import { loadNative } from '../native/binding.js';
import { stripClaimPrefix } from '../script/claimScript.js';
import { OP } from '../script/opcodes.js';
import { scriptForDestination, solveScript } from '../script/standard.js';
import { toLatin1, type Bytes } from '../util/bytes.js';

/** Bytes of a key. Two scripts with equal keys would be mixed up; to find such a pair takes 2^64 attempts. */
export const SCRIPT_KEY_BYTES = 16;

/** A key of 16 bytes as a latin1 string; null for unspendable outputs. */
export function scriptKeyOf(script: Bytes): string | null {
  const native = loadNative();
  return native ? native.scriptKey(script) : scriptKeyFallback(script);
}

/** Fallback of the addon's function. */
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
