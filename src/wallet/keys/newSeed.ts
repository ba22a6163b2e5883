/** Sets a new seed of a wallet. Source: lbrycrd wallet/wallet.cpp `DeriveNewSeed`, `NewKeyPool`. */
import { hash160 } from '../../crypto/hash.js';
import type { DecodedSecret } from '../../script/wif.js';
import { ecdsaBackend } from '../../crypto/ecdsa.js';
import { WalletBatch } from '../store/records.js';
import type { Wallet } from '../wallet.js';
import { FEATURE } from '../walletVersion.js';

/** Whether the wallet has a private key, with the compressed or the uncompressed form of its public key. Source: `HaveKey`. */
export function hasSecret({ keyring }: Wallet, { privateKey }: DecodedSecret): boolean {
  return [true, false].some((isCompressed) =>
    keyring.hasKey(hash160(ecdsaBackend().publicKeyOf(privateKey, isCompressed))),
  );
}

/**
 * Sets the seed for future keys: the caller's seed, whose bytes are overwritten, or a random seed. With `renewsPool` the
 * current keys of the pool are not handed out any more. The wallet must be unlocked. When the promise resolves, the change
 * is on disk.
 */
export async function setNewSeed(
  wallet: Wallet,
  secret: DecodedSecret | null,
  renewsPool: boolean,
): Promise<void> {
  const { hd, keypool, node } = wallet;
  const batch = new WalletBatch();
  const publicKey =
    secret === null
      ? wallet.keys.makeSeed(batch)
      : hd.addSeed(batch, secret.privateKey, node.nowSec(), secret.compressed);
  secret?.privateKey.fill(0);
  hd.setSeed(batch, publicKey, wallet.version >= FEATURE.hdSplit);
  if (renewsPool) keypool.clear(batch);
  await wallet.write(batch);
  if (renewsPool) await wallet.keys.topUp();
}
