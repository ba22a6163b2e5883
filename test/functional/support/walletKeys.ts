/** Keys by name, with the texts by which wallets identify them. Equal names give equal keys. */
import { sha256 } from '../../../src/crypto/hash.js';
import { regtestParams } from '../../../src/params/regtest.js';
import { addressPrefixesOf, encodeDestination } from '../../../src/script/address.js';
import { encodeSecret } from '../../../src/script/wif.js';
import { ecdsaBackend } from '../../../src/crypto/ecdsa.js';
import { destinationForKey, type OutputType } from '../../../src/signing/outputType.js';
import { toHex } from '../../../src/util/bytes.js';
import { scriptForPublicKey } from '../../../src/script/standard.js';

const PREFIXES = addressPrefixesOf(regtestParams);

export interface NamedKey {
  readonly wif: string;
  readonly uncompressedWif: string;
  readonly pubkey: string;
  /** Its addresses, and the script that pays to the public key. */
  readonly legacy: string;
  readonly nested: string;
  readonly bech32: string;
  readonly bare: string;
}

export function keyOf(name: string): NamedKey {
  const privateKey = sha256(Buffer.from(name));
  const publicKey = ecdsaBackend().publicKeyOf(privateKey, true);
  const address = (type: OutputType): string =>
    encodeDestination(destinationForKey(publicKey, type), PREFIXES);
  return {
    wif: encodeSecret(privateKey, true, PREFIXES),
    uncompressedWif: encodeSecret(privateKey, false, PREFIXES),
    pubkey: toHex(publicKey),
    legacy: address('legacy'),
    nested: address('p2sh-segwit'),
    bech32: address('bech32'),
    bare: toHex(scriptForPublicKey(publicKey)),
  };
}
