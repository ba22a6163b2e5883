/**
 * Creates addresses from keys of the pool. Source: lbrycrd wallet/wallet.cpp `LearnRelatedScripts`, wallet/rpcwallet.cpp
 * `getnewaddress`.
 */
import { COMPRESSED_KEY_SIZE } from '../../crypto/ecdsaEncoding.js';
import { hash160 } from '../../crypto/hash.js';
import { encodeDestination } from '../../script/address.js';
import { scriptForDestination } from '../../script/standard.js';
import { destinationForKey, type OutputType } from '../../signing/outputType.js';
import type { Bytes } from '../../util/bytes.js';
import { WalletBatch } from '../store/records.js';
import type { Wallet } from '../wallet.js';

/**
 * Stores the witness program of a key in the wallet file, so that older programs that open the wallet recognize outputs to
 * it.
 */
export function learnRelatedScripts(
  wallet: Wallet,
  batch: WalletBatch,
  publicKey: Bytes,
  type: OutputType,
): void {
  if (type === 'legacy' || publicKey.length !== COMPRESSED_KEY_SIZE) return;
  const program = scriptForDestination({ type: 'witness_v0_keyhash', hash: hash160(publicKey) });
  wallet.keyring.addScript(batch, program);
}

/**
 * Creates a new address. When the promise resolves, the key is on disk. Null if the pool is empty and no key can be created.
 */
export async function newAddress(
  wallet: Wallet,
  type: OutputType,
  use: { readonly label: string } | 'change',
): Promise<string | null> {
  const batch = new WalletBatch();
  const reserved = wallet.keys.reserve(batch, use === 'change');
  let address: string | null = null;
  if (reserved !== null) {
    const { publicKey } = reserved.key;
    wallet.keypool.keep(batch, reserved);
    learnRelatedScripts(wallet, batch, publicKey, type);
    address = encodeDestination(destinationForKey(publicKey, type), wallet.prefixes);
    if (use !== 'change') wallet.book.set(batch, address, use.label, 'receive');
  }
  await wallet.write(batch);
  return address;
}
