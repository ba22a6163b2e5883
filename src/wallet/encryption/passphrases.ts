/**
 * Encrypts a wallet with a passphrase, unlocks it, and changes the passphrase. Rewrites the wallet file so that it contains
 * no unencrypted key, and no data that an old passphrase can decrypt. Passphrases are bytes, which the caller must wipe.
 * Source: lbrycrd wallet/wallet.cpp `EncryptWallet`, `Unlock`, `ChangeWalletPassphrase`.
 */
import type { Bytes } from '../../util/bytes.js';
import { inSlices } from '../../scheduler/slices.js';
import type { Slices } from '../../util/slices.js';
import { Writer } from '../../util/writer.js';
import { recordKey, WalletBatch } from '../store/records.js';
import type { Wallet } from '../wallet.js';
import { FEATURE } from '../walletVersion.js';
import {
  formatMasterKeyRow,
  makeMasterKey,
  openMasterKey,
  sealMasterKey,
  type MasterKeyRow,
} from './masterKey.js';

/** Encodes a passphrase as bytes. As in the reference, the passphrase ends at its first zero byte. */
export function passphraseBytes(text: string): Buffer {
  const end = text.indexOf('\0');
  return Buffer.from(end < 0 ? text : text.slice(0, end), 'utf8');
}

/**
 * The last passphrase operation of each wallet. The next operation starts after it, because the operations take time and
 * must not overlap.
 */
const lastTasks = new WeakMap<Wallet, Promise<unknown>>();

function alone<T>(wallet: Wallet, task: () => Promise<T>): Promise<T> {
  const running = (lastTasks.get(wallet) ?? Promise.resolve()).then(task);
  lastTasks.set(
    wallet,
    running.catch(() => undefined),
  );
  return running;
}

function putMasterKey(wallet: Wallet, batch: WalletBatch, id: number, row: MasterKeyRow): void {
  wallet.masterKeys.set(id, row);
  batch.put(recordKey('mkey', new Writer(4).u32(id).finish()), formatMasterKeyRow(row));
}

/**
 * Encrypts every private key, creates a new seed and new keys, and locks the wallet. When the promise resolves, the new
 * file, which contains no unencrypted keys, is on disk. Until then the old file is used. Resolves to false if the wallet is
 * already encrypted.
 */
export function encryptWallet(wallet: Wallet, passphrase: Bytes): Promise<boolean> {
  return alone(wallet, () => encrypt(wallet, passphrase));
}

async function encrypt(wallet: Wallet, passphrase: Bytes): Promise<boolean> {
  const { keyring } = wallet;
  if (keyring.isEncrypted) return false;
  const masterKey = makeMasterKey();
  try {
    const row = await sealMasterKey(masterKey, passphrase);
    const ready = await inSlices(keyring.encryptedSecrets(masterKey));
    const batch = new WalletBatch();
    putMasterKey(wallet, batch, Math.max(0, ...wallet.masterKeys.keys()) + 1, row);
    keyring.encrypt(batch, masterKey, ready);
    wallet.setVersion(batch, FEATURE.encryption);
    // A new seed is needed, because the keys of the old seed were stored unencrypted, and backups may contain them.
    if (wallet.hd.state !== null) wallet.hd.setSeed(batch, wallet.keys.makeSeed(batch));
    if (wallet.hasPrivateKeys) wallet.keypool.clear(batch);
    await wallet.rewriteFile(batch);
    await wallet.keys.topUp();
    return true;
  } finally {
    masterKey.fill(0);
    wallet.lock();
  }
}

/**
 * Decrypts the private keys until `lock`. The time of the automatic lock stays unchanged. Resolves to false if the
 * passphrase is wrong.
 */
export function unlockWallet(wallet: Wallet, passphrase: Bytes): Promise<boolean> {
  return alone(wallet, async () => {
    const found = await findMasterKey(wallet, passphrase, (key) => wallet.keyring.unlock(key));
    found?.key.fill(0);
    return found !== null;
  });
}

/** Finds the first master key that the passphrase decrypts and for which `isRight` returns true (a check with the keyring). */
async function findMasterKey(
  wallet: Wallet,
  passphrase: Bytes,
  isRight: (key: Bytes) => Slices<boolean>,
): Promise<{ id: number; key: Buffer } | null> {
  for (const [id, row] of [...wallet.masterKeys]) {
    const key = await openMasterKey(row, passphrase);
    if (key === null) continue;
    try {
      const { keyring, node, logName } = wallet;
      const known = keyring.corruptKeys;
      const isOpened = await inSlices(isRight(key));
      if (keyring.corruptKeys > known)
        node.warn(
          `${logName} ${keyring.corruptKeys} private keys are corrupt and cannot be used. Restore them from a backup.`,
        );
      if (isOpened) return { id, key: Buffer.from(key) };
    } finally {
      key.fill(0);
    }
  }
  return null;
}

/**
 * Changes the passphrase. The wallet stays locked or unlocked as before. It may be locked during the call. The new
 * passphrase is stretched as in a new wallet. If the old passphrase is wrong, the wallet is locked and the result is false.
 */
export function changePassphrase(wallet: Wallet, old: Bytes, passphrase: Bytes): Promise<boolean> {
  return alone(wallet, () => change(wallet, old, passphrase));
}

async function change(wallet: Wallet, old: Bytes, passphrase: Bytes): Promise<boolean> {
  const found = await findMasterKey(wallet, old, (key) => wallet.keyring.isMasterKey(key));
  if (found === null) {
    wallet.keyring.lock();
    return false;
  }
  try {
    const row = await sealMasterKey(found.key, passphrase);
    const batch = new WalletBatch();
    putMasterKey(wallet, batch, found.id, row);
    await wallet.rewriteFile(batch);
    return true;
  } finally {
    found.key.fill(0);
  }
}
