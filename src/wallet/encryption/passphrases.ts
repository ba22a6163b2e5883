/**
 * Passphrases: encrypts a wallet, unlocks it, and changes the passphrase. Owns the rewrite of the file: no key remains in
 * clear, and no data that an old passphrase decrypts. Passphrases are bytes, which the caller wipes. Source: lbrycrd
 * wallet/wallet.cpp `EncryptWallet`, `Unlock`, `ChangeWalletPassphrase`.
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

/** The string as bytes, up to its first zero byte, like in the reference. */
export function passphraseBytes(text: string): Buffer {
  const end = text.indexOf('\0');
  return Buffer.from(end < 0 ? text : text.slice(0, end), 'utf8');
}

/** Passphrase operations of a wallet run one after another, since each takes time. */
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
 * Encrypts every private key, creates a new seed and new keys, and locks the wallet. When it resolves, the new file, without
 * keys in clear, is on disk; until then the old file is used. False if the wallet is already encrypted.
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
    // A new seed is needed, because keys of the old one were stored in clear, also in backups.
    if (wallet.hd.state !== null) wallet.hd.setSeed(batch, wallet.keys.makeSeed(batch));
    if (wallet.hasPrivateKeys) wallet.keypool.clear(batch);
    await wallet.writeAnew(batch);
    await wallet.keys.topUp();
    return true;
  } finally {
    masterKey.fill(0);
    wallet.lock();
  }
}

/** Makes private keys available until `lock`. Does not change the time of the automatic lock. False for a wrong passphrase. */
export function unlockWallet(wallet: Wallet, passphrase: Bytes): Promise<boolean> {
  return alone(wallet, async () => {
    const found = await findMasterKey(wallet, passphrase, (key) => wallet.keyring.unlock(key));
    found?.key.fill(0);
    return found !== null;
  });
}

/** The first master key that the passphrase decrypts and that `isRight` confirms with the keyring. */
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
          `${logName} ${keyring.corruptKeys} private keys are damaged and cannot be used. Restore them from a backup.`,
        );
      if (isOpened) return { id, key: Buffer.from(key) };
    } finally {
      key.fill(0);
    }
  }
  return null;
}

/**
 * Changes the passphrase. The wallet stays locked or unlocked, and may be locked during the call. The new passphrase is
 * stretched like in a new wallet. If the old passphrase is wrong, it locks the wallet and returns false.
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
    await wallet.writeAnew(batch);
    return true;
  } finally {
    found.key.fill(0);
  }
}
