/**
 * Finds the keys to which an output script refers, directly or through a redeem or witness script that the wallet knows.
 * Source: lbrycrd wallet/wallet.cpp `CAffectedKeysVisitor`.
 */
import { hash160, ripemd160 } from '../../crypto/hash.js';
import { stripClaimPrefix } from '../../script/claimScript.js';
import { solveScript } from '../../script/standard.js';
import type { Bytes } from '../../util/bytes.js';

interface KnownScript {
  script(scriptId: Bytes): Bytes | null;
}

/** Maximum nesting of scripts: the output script, a P2SH script, a P2WSH script. */
const MAX_DEPTH = 3;

/** Ids (20 bytes) of the keys in a script. Keys that do not belong to the wallet are included. */
export function keyIdsOf(known: KnownScript, script: Bytes, depth = 0): Bytes[] {
  if (depth === MAX_DEPTH) return [];
  const template = solveScript(depth === 0 ? stripClaimPrefix(script) : script);
  const within = (id: Bytes): Bytes[] => {
    const inner = known.script(id);
    return inner === null ? [] : keyIdsOf(known, inner, depth + 1);
  };
  switch (template.type) {
    case 'pubkey':
      return [hash160(template.publicKey)];
    case 'pubkeyhash':
    case 'witness_v0_keyhash':
      return [template.hash];
    case 'scripthash':
      return within(template.hash);
    case 'witness_v0_scripthash':
      return within(ripemd160(template.hash));
    case 'multisig':
      return template.publicKeys.map((key) => hash160(key));
    default:
      return [];
  }
}
