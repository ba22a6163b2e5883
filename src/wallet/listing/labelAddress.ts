/**
 * Returns the current address of a label. A new address is created if the current one has received a payment. Source:
 * lbrycrd wallet/wallet.cpp `GetLabelDestination`.
 */
import { encodeDestination } from '../../script/address.js';
import { destinationForKey } from '../../signing/outputType.js';
import { destinationKey } from '../destinationKey.js';
import { learnRelatedScripts } from '../keys/newAddress.js';
import { WalletBatch } from '../store/records.js';
import type { Wallet } from '../wallet.js';

/**
 * Returns the address of a label, or a new address, which is on disk when the promise resolves. Null if the key pool is
 * empty.
 */
export async function labelAddress(
  wallet: Wallet,
  label: string,
  { isNew = false } = {},
): Promise<string | null> {
  const { addressType } = wallet.options;
  const known = wallet.accounts.publicKey(label);
  if (!isNew && known !== null) {
    const destination = destinationForKey(known, addressType);
    const key = destinationKey(destination);
    const isUsed = wallet.ledger
      .payingTo(key)
      .some(({ outputs }) => outputs.some(({ to, isPlain }) => isPlain && to === key));
    if (!isUsed) return encodeDestination(destination, wallet.prefixes);
  }
  const batch = new WalletBatch();
  const reserved = wallet.keys.reserve(batch, false);
  let address: string | null = null;
  if (reserved !== null) {
    const { publicKey } = reserved.key;
    wallet.keypool.keep(batch, reserved);
    learnRelatedScripts(wallet, batch, publicKey, addressType);
    address = encodeDestination(destinationForKey(publicKey, addressType), wallet.prefixes);
    wallet.book.set(batch, address, label, 'receive');
    wallet.accounts.setPublicKey(batch, label, publicKey);
  }
  await wallet.write(batch);
  return address;
}
