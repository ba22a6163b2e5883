/**
 * Imports single keys, addresses and scripts. Does not rescan the chain. After all imports, the caller must check once
 * whether outputs of known transactions belong to the wallet. Source: lbrycrd wallet/rpcdump.cpp.
 */
import { hash160 } from '../../crypto/hash.js';
import { encodeDestination } from '../../script/address.js';
import {
  extractDestination,
  scriptForDestination,
  scriptForPublicKey,
  type Destination,
} from '../../script/standard.js';
import type { DecodedSecret } from '../../script/wif.js';
import { ecdsaBackend } from '../../crypto/ecdsa.js';
import { destinationsForKey } from '../../signing/outputType.js';
import type { Bytes } from '../../util/bytes.js';
import { isMine, MINE } from '../keys/isMine.js';
import { plainMetadata } from '../keys/keyRecords.js';
import { learnRelatedScripts } from '../keys/newAddress.js';
import type { WalletBatch } from '../store/records.js';
import type { Wallet } from '../wallet.js';

/** Error: an import failed. The message is that of the reference. */
export class ImportError extends Error {
  override readonly name = 'ImportError';
  /** What caused the error: an address or key, a parameter, or the wallet. */
  readonly kind: 'address' | 'parameter' | 'wallet';

  constructor(kind: ImportError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Creation time for a key of unknown age, which may be as old as the chain. */
const OLDEST_SEC = 1;

export const addressText = (wallet: Wallet, destination: Destination): string =>
  encodeDestination(destination, wallet.prefixes);

export function isSpendable({ keyring }: Wallet, script: Bytes): boolean {
  return (isMine(keyring, script) & MINE.spendable) !== 0;
}

export function refuseOwn(wallet: Wallet, script: Bytes): void {
  if (isSpendable(wallet, script))
    throw new ImportError('wallet', 'The wallet already contains the private key for this address or script');
}

/** Computes the public key of a private key. */
export function publicKeyOf({ privateKey, compressed }: DecodedSecret): Buffer {
  return ecdsaBackend().publicKeyOf(privateKey, compressed);
}

/**
 * Imports a private key and sets the label of its addresses. Overwrites the caller's buffer. Returns false if the wallet
 * already has the key. Source: `importprivkey`.
 */
export function importPrivateKey(
  wallet: Wallet,
  batch: WalletBatch,
  secret: DecodedSecret,
  label: string,
): boolean {
  const publicKey = publicKeyOf(secret);
  for (const destination of destinationsForKey(publicKey))
    wallet.book.set(batch, addressText(wallet, destination), label, 'receive');
  const isNew = !wallet.keyring.hasKey(hash160(publicKey));
  if (isNew) {
    wallet.keyring.addKey(batch, secret.privateKey, publicKey, plainMetadata(OLDEST_SEC));
    learnRelatedScripts(wallet, batch, publicKey, 'p2sh-segwit');
  }
  secret.privateKey.fill(0);
  return isNew;
}

/** Watches an output script. With `isRedeemScript`, outputs to the hash of the script are watched too. Source: `ImportScript`. */
export function importScript(
  wallet: Wallet,
  batch: WalletBatch,
  script: Bytes,
  label: string,
  isRedeemScript = false,
): void {
  const { keyring, book } = wallet;
  if (!isRedeemScript) refuseOwn(wallet, script);
  if (!keyring.isWatched(script)) keyring.watch(batch, script, plainMetadata(0));
  if (isRedeemScript) {
    const id = hash160(script);
    if (keyring.script(id) === null && !keyring.addScript(batch, script))
      throw new ImportError('wallet', 'Error adding p2sh redeemScript to wallet');
    importAddress(wallet, batch, { type: 'scripthash', hash: id }, label);
    return;
  }
  const destination = extractDestination(script);
  if (destination !== null) book.set(batch, addressText(wallet, destination), label, 'receive');
}

/** Watches the outputs to an address. Source: `ImportAddress`. */
export function importAddress(
  wallet: Wallet,
  batch: WalletBatch,
  destination: Destination,
  label: string,
): void {
  importScript(wallet, batch, scriptForDestination(destination), label);
  wallet.book.set(batch, addressText(wallet, destination), label, 'receive');
}

/** Watches all outputs to a public key. Source: `importpubkey`. */
export function importPublicKey(wallet: Wallet, batch: WalletBatch, publicKey: Bytes, label: string): void {
  for (const destination of destinationsForKey(publicKey)) importAddress(wallet, batch, destination, label);
  importScript(wallet, batch, scriptForPublicKey(publicKey), label);
  learnRelatedScripts(wallet, batch, publicKey, 'p2sh-segwit');
}
