import { describe, expect, it } from 'vitest';
import { ecdsaBackend } from '../../../../src/crypto/ecdsa.js';
import { decrypt, decryptSecret, encrypt, encryptSecret } from '../../../../src/wallet/encryption/cipher.js';
import {
  formatMasterKeyRow,
  isWeak,
  makeMasterKey,
  openMasterKey,
  parseMasterKeyRow,
  sealMasterKey,
  type MasterKeyRow,
} from '../../../../src/wallet/encryption/masterKey.js';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
/** Core's vector of wallet_crypto_tests: passphrase "test", 25,000 rounds. */
const SALT = hex('0000deadbeef0000');
const KEY = hex('fc7aba077ad5f4c3a0988d8daa4810d0d4a0e3bcb53af662998898f33df0556a');
const IV = hex('cf2f2691526dd1aa220896fb8bf7c369');

describe('master keys', () => {
  it('open under the passphrase of the reference', async () => {
    const masterKey = makeMasterKey();
    const row: MasterKeyRow = {
      encryptedKey: encrypt(masterKey, KEY, IV),
      salt: SALT,
      method: 0,
      rounds: 25_000,
      parameters: Buffer.alloc(0),
    };
    expect(await openMasterKey(row, Buffer.from('test'))).toEqual(masterKey);
    expect(isWeak(row)).toBe(true);
    expect(parseMasterKeyRow(formatMasterKeyRow(row))).toEqual(row);
  });

  it('open under their own passphrase and no other', async () => {
    const masterKey = makeMasterKey();
    const row = await sealMasterKey(masterKey, Buffer.from('päss'));
    expect(isWeak(row)).toBe(false);
    const read = parseMasterKeyRow(formatMasterKeyRow(row));
    expect(await openMasterKey(read, Buffer.from('päss'))).toEqual(masterKey);
    const wrong = await openMasterKey(read, Buffer.from('pass'));
    if (wrong !== null) expect(wrong).not.toEqual(masterKey);
    const again = await sealMasterKey(masterKey, Buffer.from('päss'));
    expect(again.salt).not.toEqual(row.salt);
    expect(again.encryptedKey).not.toEqual(row.encryptedKey);
  });

  it('are refused for an unknown derivation method', async () => {
    const row = {
      encryptedKey: Buffer.alloc(48),
      salt: SALT,
      method: 7,
      rounds: 1,
      parameters: Buffer.alloc(0),
    };
    await expect(openMasterKey(row, Buffer.from('x'))).rejects.toThrow('method 7');
  });
});

describe('secrets', () => {
  const secret = Buffer.alloc(32, 7);
  const publicKey = ecdsaBackend().publicKeyOf(secret, true);

  it('are decrypted under the same master key', () => {
    const masterKey = makeMasterKey();
    const encrypted = encryptSecret(secret, publicKey, masterKey);
    expect(encrypted).toHaveLength(48);
    expect(encrypted.includes(secret.subarray(0, 16))).toBe(false);
    expect(decryptSecret(encrypted, publicKey, masterKey)).toEqual(secret);
  });

  it('are not decrypted under another key, nor from other bytes', () => {
    const masterKey = makeMasterKey();
    const encrypted = encryptSecret(secret, publicKey, masterKey);
    expect(decryptSecret(encrypted, publicKey, makeMasterKey()) ?? Buffer.alloc(0)).not.toEqual(secret);
    expect(decryptSecret(encrypted.subarray(1), publicKey, masterKey)).toBeNull();
    expect(decryptSecret(Buffer.alloc(0), publicKey, masterKey)).toBeNull();
  });

  it('of other lengths are refused', () => {
    const masterKey = makeMasterKey();
    const encrypted = encryptSecret(Buffer.alloc(31), publicKey, masterKey);
    expect(decryptSecret(encrypted, publicKey, masterKey)).toBeNull();
    const key = Buffer.alloc(32, 1);
    const iv = Buffer.alloc(16, 2);
    for (const length of [0, 1, 15, 16, 17, 100])
      expect(decrypt(encrypt(Buffer.alloc(length, 3), key, iv), key, iv)).toEqual(Buffer.alloc(length, 3));
  });
});
