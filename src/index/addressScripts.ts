/**
 * Under which key the address index files an output script. What pays to the same keys is filed together: a claim, an
 * update or a support is found under the address behind its prefix, and a bare public key under that key's address.
 */
import { hash160, sha256 } from '../crypto/hash.js';
import { loadNative } from '../native/binding.js';
import { stripClaimPrefix } from '../script/claimScript.js';
import { OP } from '../script/opcodes.js';
import { scriptForDestination, solveScript } from '../script/standard.js';
import { toLatin1, type Bytes } from '../util/bytes.js';

/** Bytes of a key; two scripts that share them would be mixed up, which takes 2^64 tries on purpose. */
export const SCRIPT_KEY_BYTES = 16;

/** A key of 16 bytes, a byte a character; null for outputs that no one can ever spend. */
export function scriptKeyOf(script: Bytes): string | null {
  const native = loadNative();
  return native ? native.scriptKey(script) : scriptKeyFallback(script);
}

/** The readable fallback of the addon's. */
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
