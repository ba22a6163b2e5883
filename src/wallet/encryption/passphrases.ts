/**
 * A wallet's passphrase: encrypting it for the first time, opening it, another passphrase. Owns what becomes of the file, in
 * which nothing stays in clear, nor anything that an old passphrase opens. Passphrases are bytes, which the caller wipes.
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

/** The text as bytes, up to its first zero, where the reference ends it. */
export function passphraseBytes(text: string): Buffer {
  const end = text.indexOf('\0');
  return Buffer.from(end < 0 ? text : text.slice(0, end), 'utf8');
}

/** What is done to a wallet's passphrase goes one after the other, since each takes its time. */
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
 * Encrypts every private key, gives the wallet a new seed and new keys, and locks it. All of it is on disk when it resolves,
 * in a file that has nothing in clear; until then the file is the old one. False when it is encrypted already.
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
    // Keys of the old seed were in clear, in backups too.
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

/** Makes private keys available, until `lock`; what is set of locking by itself stays as it is. False for another passphrase. */
export function unlockWallet(wallet: Wallet, passphrase: Bytes): Promise<boolean> {
  return alone(wallet, async () => {
    const found = await findMasterKey(wallet, passphrase, (key) => wallet.keyring.unlock(key));
    found?.key.fill(0);
    return found !== null;
  });
}

/** The first master key that the passphrase opens and that is the right one, as `isRight` finds of the keyring. */
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
 * Puts another passphrase in place of one; the wallet stays locked or unlocked as it is, and may be locked meanwhile. The
 * new one is stretched as in new wallets, whatever the old one was. False, and the wallet is locked, when the old one is
 * wrong.
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
