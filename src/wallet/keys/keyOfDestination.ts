/**
 * Finds the keys and scripts of a wallet that belong to an address. Source: lbrycrd keystore.cpp `GetKeyForDestination`,
 * outputtype.cpp.
 */
import { extractDestination, type Destination } from '../../script/standard.js';
import { destinationForScript, type OutputType } from '../../signing/outputType.js';
import { isZero, type Bytes } from '../../util/bytes.js';
import type { WalletBatch } from '../store/records.js';
import type { Keyring } from './keyring.js';

/**
 * The id of the only key of an address, even if the wallet does not have the key. Null if the address is that of a script
 * without a single key, or of an unknown script. QUIRK: an id of zeros counts as no key. Test:
 * test/functional/walletKeys.test.ts.
 */
export function keyIdOfDestination(keyring: Pick<Keyring, 'script'>, destination: Destination): Bytes | null {
  const keyId = paidKey(keyring, destination);
  return keyId === null || isZero(keyId) ? null : keyId;
}

function paidKey(keyring: Pick<Keyring, 'script'>, destination: Destination): Bytes | null {
  switch (destination.type) {
    case 'pubkeyhash':
    case 'witness_v0_keyhash':
      return destination.hash;
    case 'scripthash': {
      const script = keyring.script(destination.hash);
      const inner = script === null ? null : extractDestination(script);
      return inner?.type === 'witness_v0_keyhash' ? inner.hash : null;
    }
    default:
      return null;
  }
}

/**
 * Returns the address of a script, and adds the script and its witness program to the wallet. Source:
 * `AddAndGetDestinationForScript`.
 */
export function addScriptDestination(
  keyring: Keyring,
  batch: WalletBatch,
  script: Bytes,
  type: OutputType,
): Destination {
  const store = {
    script: (id: Bytes) => keyring.script(id),
    publicKey: (id: Bytes) => keyring.publicKey(id),
    signingKey: (id: Bytes) => keyring.signingKey(id),
    addScript: (added: Bytes) => keyring.addScript(batch, added),
  };
  return destinationForScript(store, script, type);
}
