/** Computes the output scripts by which the address index finds payments to a wallet and their spends. */
import { hash160, sha256 } from '../../crypto/hash.js';
import { isWitnessProgram } from '../../script/script.js';
import { scriptForDestination } from '../../script/standard.js';
import { fromLatin1, type Bytes } from '../../util/bytes.js';
import type { Slices } from '../../util/slices.js';
import type { Keyring } from '../keys/keyring.js';

/**
 * The output scripts for a key, by its id. The index stores bare public keys and claims under the address of the key, so no
 * separate scripts are needed for them. The P2SH form of the witness program is left out.
 */
function keyScripts(keyId: Bytes): Buffer[] {
  return [
    scriptForDestination({ type: 'pubkeyhash', hash: keyId }),
    scriptForDestination({ type: 'witness_v0_keyhash', hash: keyId }),
  ];
}

function p2sh(scriptId: Bytes): Buffer {
  return scriptForDestination({ type: 'scripthash', hash: scriptId });
}

/** All output scripts that the wallet owns or watches, including unusual ones. */
export function* ownScripts(keyring: Keyring): Slices<Buffer[]> {
  const scripts: Buffer[] = [];
  let count = 0;
  for (const id of keyring.keyIds()) {
    scripts.push(...keyScripts(fromLatin1(id)));
    if (++count % 256 === 0) yield;
  }
  for (const [id, script] of keyring.allScripts()) {
    scripts.push(p2sh(fromLatin1(id)));
    // Payments to a watch-only key can also use its witness program.
    if (isWitnessProgram(script)) scripts.push(script);
    scripts.push(scriptForDestination({ type: 'witness_v0_scripthash', hash: sha256(script) }));
    if (++count % 256 === 0) yield;
  }
  scripts.push(...keyring.watchedScripts());
  return scripts;
}

/** All scripts that pay to these keys. */
export function scriptsOfKeys(keyIds: readonly Bytes[]): Buffer[] {
  return keyIds.flatMap((keyId) => {
    const scripts = keyScripts(keyId);
    return [...scripts, p2sh(hash160(scripts[1]!))];
  });
}
