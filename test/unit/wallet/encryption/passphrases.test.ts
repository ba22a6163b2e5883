import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sha512Key } from './sha512Key.js';
import { atOnce } from '../../../../src/util/slices.js';
import { fromLatin1 } from '../../../../src/util/bytes.js';
import { encrypt } from '../../../../src/wallet/encryption/cipher.js';
import { formatMasterKeyRow, isWeak } from '../../../../src/wallet/encryption/masterKey.js';
import { Relock } from '../../../../src/wallet/encryption/relock.js';
import {
  changePassphrase,
  encryptWallet,
  passphraseBytes,
  unlockWallet,
} from '../../../../src/wallet/encryption/passphrases.js';
import { formatPrivateKeyDer } from '../../../../src/wallet/keys/privateKeyDer.js';
import { recordKey, WalletBatch } from '../../../../src/wallet/store/records.js';
import { WalletFile } from '../../../../src/wallet/store/walletFile.js';
import { WalletClosedError } from '../../../../src/wallet/store/walletFileErrors.js';
import { Wallet } from '../../../../src/wallet/wallet.js';
import { OPTIONS, keysOnlyPort } from './keysOnlyPort.js';

let folder: string;
let path: string;
let lines: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnode-passphrase-'));
  path = join(folder, 'wallet.db');
  lines = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const PASS = Buffer.from('correct horse');
const OTHER = Buffer.from('battery staple');

async function makeWallet(): Promise<Wallet> {
  const file = await WalletFile.create(path);
  const wallet = new Wallet('', { node: keysOnlyPort(lines), file, options: OPTIONS });
  await wallet.change((batch) => atOnce(wallet.begin(batch)));
  return wallet;
}

async function openWallet(at = path): Promise<Wallet> {
  const file = await WalletFile.open(at);
  const wallet = new Wallet('', { node: keysOnlyPort(lines), file, options: OPTIONS });
  atOnce(wallet.load());
  return wallet;
}

/** Every private key that an unlocked wallet has, with its public one. */
const keysOf = (wallet: Wallet): { privateKey: Buffer; publicKey: Buffer }[] =>
  [...wallet.keyring.keyIds()].map((id) => {
    const { privateKey, publicKey } = wallet.keyring.signingKey(fromLatin1(id))!;
    return { privateKey: Buffer.from(privateKey), publicKey: Buffer.from(publicKey) };
  });

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Locks the wallet as its timer does. */
function endOfTime(relock: Relock): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    relock.arm(1, 0);
    vi.advanceTimersByTime(1001);
  } finally {
    vi.useRealTimers();
  }
}

describe('the pool while it is being filled', () => {
  it('returns no key that is not on disk, and none twice', async () => {
    const wallet = await makeWallet();
    const filling = wallet.keys.topUp(1500);
    const taken: Buffer[] = [];
    for (let n = 0; n < 3 * OPTIONS.keypoolSize; n++) {
      const key = Buffer.from((await wallet.keys.take(false))!);
      expect(readFileSync(path).includes(key)).toBe(true);
      taken.push(key);
    }
    await filling;
    await wallet.close();
    const again = await openWallet();
    for (let n = 0; n < 40; n++) taken.push(Buffer.from((await again.keys.take(false))!));
    expect(new Set(taken.map((key) => key.toString('hex'))).size).toBe(taken.length);
    await again.close();
  });

  it('is not filled completely by a caller that takes a key', async () => {
    await (await makeWallet()).close();
    const options = { ...OPTIONS, keypoolSize: 50_000 };
    const file = await WalletFile.open(path);
    const wallet = new Wallet('', { node: keysOnlyPort(lines), file, options });
    atOnce(wallet.load());
    wallet.keypool.clear(new WalletBatch());
    expect(await wallet.keys.take(true)).not.toBeNull();
    expect(await wallet.keys.take(false)).not.toBeNull();
    expect(wallet.keyring.keyCount).toBeLessThan(300);
    await wallet.close();
  });

  it('stops filling when the wallet is closed', async () => {
    const wallet = await makeWallet();
    const running = Promise.allSettled([wallet.keys.topUp(4000), encryptWallet(wallet, PASS)]);
    await wallet.close();
    const reason = expect.any(WalletClosedError) as unknown;
    expect(await running).toEqual(Array.from({ length: 2 }, () => ({ status: 'rejected', reason })));
    expect(lines.filter((line) => line.startsWith('fatal'))).toEqual([]);
    await (await openWallet()).close();
  });
});

describe('encryptWallet while the pool is being filled', () => {
  it('leaves no unencrypted key, keeps the new seed and can be opened', async () => {
    const wallet = await makeWallet();
    const [, isFilled] = await Promise.all([encryptWallet(wallet, PASS), wallet.keys.topUp(4000)]);
    expect(isFilled).toBe(false);
    const { seedId } = wallet.hd.state!;
    await wallet.close();
    const again = await openWallet();
    expect(again.hd.state!.seedId).toEqual(seedId);
    await again.close();
  });
});

describe('encryptWallet', () => {
  it('leaves no key unencrypted in the file or beside it, and starts a new seed', async () => {
    const wallet = await makeWallet();
    const keys = keysOf(wallet);
    const seed = wallet.hd.state!.seedId;
    // A temporary file that a kill during an earlier rewrite left behind.
    writeFileSync(`${path}.0123456789ab.tmp`, keys[0]!.privateKey);
    const stale = wallet.keyring.signingKey(fromLatin1([...wallet.keyring.keyIds()][0]!))!.privateKey;
    expect(readFileSync(path).includes(keys[0]!.privateKey)).toBe(true);
    expect(await Promise.all([encryptWallet(wallet, PASS), encryptWallet(wallet, OTHER)])).toEqual([
      true,
      false,
    ]);
    expect(readdirSync(folder)).toEqual(['wallet.db']);
    const bytes = readFileSync(path);
    for (const { privateKey, publicKey } of keys) {
      expect(bytes.includes(privateKey)).toBe(false);
      expect(bytes.includes(formatPrivateKeyDer(privateKey, publicKey).subarray(8, 30))).toBe(false);
    }
    expect(stale.every((byte) => byte === 0)).toBe(true);
    expect(wallet.isLocked).toBe(true);
    expect(keysOf.bind(null, wallet)).toThrow();
    expect(wallet.hd.state!.seedId).not.toEqual(seed);
    expect(wallet.keypool.count('receive')).toBe(OPTIONS.keypoolSize);
    await wallet.close();

    const again = await openWallet();
    expect([again.isLocked, again.keypool.count('change')]).toEqual([true, OPTIONS.keypoolSize]);
    expect(await unlockWallet(again, OTHER)).toBe(false);
    expect(await unlockWallet(again, PASS)).toBe(true);
    // All old keys still exist, and no key of the pool was in plaintext before.
    expect(keysOf(again)).toEqual(expect.arrayContaining(keys));
    expect(keysOf(again)).toHaveLength(keys.length + 1 + 2 * OPTIONS.keypoolSize);
    const secret = again.keyring.signingKey(fromLatin1([...again.keyring.keyIds()][1]!))!.privateKey;
    again.lock();
    expect(secret.every((byte) => byte === 0)).toBe(true);
    expect(await unlockWallet(again, PASS)).toBe(true);
    await again.keys.topUp(8);
    await again.close();
    const bytesAfter = readFileSync(path);
    for (const { privateKey } of keys) expect(bytesAfter.includes(privateKey)).toBe(false);
    expect(lines.filter((line) => line.includes('horse') || line.startsWith('fatal'))).toEqual([]);
  });

  it('is atomic, wherever it is interrupted', async () => {
    const wallet = await makeWallet();
    const ids = [...wallet.keyring.keyIds()];
    const states: string[] = [];
    let running = true;
    const done = encryptWallet(wallet, PASS).finally(() => (running = false));
    for (let n = 0; running; n++) {
      const copy = join(folder, `copy${n}.db`);
      copyFileSync(path, copy);
      const other = await openWallet(copy);
      expect([...other.keyring.keyIds()]).toEqual(expect.arrayContaining(ids));
      states.push(other.isLocked ? 'encrypted' : 'clear');
      if (other.isLocked) expect(await unlockWallet(other, PASS)).toBe(true);
      expect(keysOf(other).length).toBeGreaterThanOrEqual(ids.length);
      await other.close();
    }
    expect(await done).toBe(true);
    expect(states[0]).toBe('clear');
    expect(states.join()).not.toContain('encrypted,clear');
    await wallet.close();
  });
});

describe('changePassphrase', () => {
  it('leaves nothing that the old passphrase decrypts, and keeps locked and unlocked states', async () => {
    const wallet = await makeWallet();
    await encryptWallet(wallet, PASS);
    const oldRow = formatMasterKeyRow(wallet.masterKeys.get(1)!);
    expect(readFileSync(path).includes(oldRow)).toBe(true);
    expect(await changePassphrase(wallet, OTHER, PASS)).toBe(false);
    expect(await changePassphrase(wallet, PASS, OTHER)).toBe(true);
    expect(wallet.isLocked).toBe(true);
    expect(readFileSync(path).includes(oldRow)).toBe(false);
    expect(await unlockWallet(wallet, PASS)).toBe(false);
    expect(await unlockWallet(wallet, OTHER)).toBe(true);
    expect(await changePassphrase(wallet, OTHER, PASS)).toBe(true);
    expect(wallet.isLocked).toBe(false);
    // A wrong one locks, as in the reference.
    expect(await changePassphrase(wallet, OTHER, PASS)).toBe(false);
    expect(wallet.isLocked).toBe(true);
    await wallet.close();
  });

  it('keeps a locked wallet locked throughout', async () => {
    const wallet = await makeWallet();
    await encryptWallet(wallet, PASS);
    const unlock = vi.spyOn(wallet.keyring, 'unlock');
    const keyId = fromLatin1([...wallet.keyring.keyIds()][0]!);
    const seen = new Set<boolean>();
    let running = true;
    const done = changePassphrase(wallet, PASS, OTHER).finally(() => (running = false));
    while (running) {
      seen.add(wallet.isLocked && wallet.keyring.signingKey(keyId) === null);
      await nextTurn();
    }
    expect([await done, [...seen], unlock.mock.calls.length]).toEqual([true, [true], 0]);
    await wallet.close();
  });

  it('allows locking meanwhile, by a call or a timeout', async () => {
    const wallet = await makeWallet();
    await encryptWallet(wallet, PASS);
    for (const lock of [() => wallet.lock(), () => endOfTime(wallet.relock)]) {
      // The wallet is locked while the old passphrase is stretched, or when the file is written.
      for (const where of ['stretching', 'file'] as const) {
        expect(await unlockWallet(wallet, PASS)).toBe(true);
        const write = vi.spyOn(wallet, 'rewriteFile');
        if (where === 'file')
          write.mockImplementationOnce((batch) => {
            lock();
            return wallet.rewriteFile(batch);
          });
        const done = changePassphrase(wallet, PASS, PASS);
        await nextTurn();
        if (where === 'stretching') lock();
        expect([await done, wallet.isLocked]).toEqual([true, true]);
        write.mockRestore();
      }
    }
    await wallet.close();
  });

  it('converts wallets of the reference to scrypt', async () => {
    const wallet = await makeWallet();
    const masterKey = Buffer.alloc(32, 9);
    const salt = Buffer.from('0102030405060708', 'hex');
    const { key, iv } = sha512Key(PASS, salt, 25_000);
    const row = {
      encryptedKey: encrypt(masterKey, key, iv),
      salt,
      method: 0,
      rounds: 25_000,
      parameters: Buffer.alloc(0),
    };
    const batch = new WalletBatch();
    wallet.keyring.encrypt(batch, masterKey);
    wallet.masterKeys.set(1, row);
    batch.put(recordKey('mkey', Buffer.from('01000000', 'hex')), formatMasterKeyRow(row));
    await wallet.rewriteFile(batch);
    wallet.lock();
    expect(await unlockWallet(wallet, PASS)).toBe(true);
    wallet.lock();
    expect(isWeak(wallet.masterKeys.get(1)!)).toBe(true);
    expect(await changePassphrase(wallet, PASS, OTHER)).toBe(true);
    await wallet.close();
    const again = await openWallet();
    expect(isWeak(again.masterKeys.get(1)!)).toBe(false);
    expect([again.masterKeys.size, await unlockWallet(again, OTHER)]).toEqual([1, true]);
    await again.close();
  });
});

describe('passphraseBytes', () => {
  it('ends at a zero byte, as C strings do', () => {
    expect(passphraseBytes('pä\0x').toString()).toBe('pä');
    expect(passphraseBytes('\0x')).toHaveLength(0);
  });
});

describe('Relock', () => {
  it('locks once, at the time set last, also beyond the maximum of a timer', () => {
    vi.useFakeTimers();
    try {
      let locked = 0;
      const relock = new Relock(() => locked++);
      relock.arm(60, 1000);
      relock.arm(100_000_000, 5000);
      expect(relock.untilSec).toBe(100_005_000);
      vi.advanceTimersByTime(99_999_999_000);
      expect(locked).toBe(0);
      vi.advanceTimersByTime(1001);
      expect([locked, relock.untilSec]).toEqual([1, 0]);
      relock.arm(1, 1000);
      relock.cancel();
      vi.advanceTimersByTime(5000);
      expect([locked, relock.untilSec]).toEqual([1, 0]);
      relock.arm(0, 1000);
      vi.advanceTimersByTime(1);
      expect(locked).toBe(2);
    } finally {
      vi.useRealTimers();
    }
  });
});
