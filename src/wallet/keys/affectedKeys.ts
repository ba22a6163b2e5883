/**
 * The keys that an output script refers to, including scripts that the wallet knows. Source: lbrycrd wallet/wallet.cpp
 * `CAffectedKeysVisitor`.
 */
import { hash160, ripemd160 } from '../../crypto/hash.js';
import { stripClaimPrefix } from '../../script/claimScript.js';
import { solveScript } from '../../script/standard.js';
import type { Bytes } from '../../util/bytes.js';

interface KnownScript {
  script(scriptId: Bytes): Bytes | null;
}

/** Nested scripts: P2SH, then P2WSH. */
const MAX_DEPTH = 3;

/** Ids of the keys (20 bytes), also of keys that are not the wallet's. */
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
