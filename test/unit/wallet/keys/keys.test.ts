import { describe, expect, it } from 'vitest';
import { hash160, ripemd160, sha256 } from '../../../../src/crypto/hash.js';
import { regtestParams } from '../../../../src/params/regtest.js';
import { addressPrefixesOf, encodeDestination } from '../../../../src/script/address.js';
import {
  buildClaimPrefix,
  buildSupportPrefix,
  buildUpdatePrefix,
} from '../../../../src/script/claimScript.js';
import { MAX_SCRIPT_ELEMENT_SIZE } from '../../../../src/script/script.js';
import { scriptForDestination, scriptForMultisig } from '../../../../src/script/standard.js';
import { encodeSecret } from '../../../../src/script/wif.js';
import { ecdsaBackend } from '../../../../src/crypto/ecdsa.js';
import { destinationForKey } from '../../../../src/signing/outputType.js';
import { concatBytes, toHex, type Bytes } from '../../../../src/util/bytes.js';
import { atOnce } from '../../../../src/util/slices.js';
import { makeMasterKey } from '../../../../src/wallet/encryption/masterKey.js';
import { HdKeys, rootOfSeed } from '../../../../src/wallet/keys/hdKeys.js';
import { isMine, MINE } from '../../../../src/wallet/keys/isMine.js';
import { Keypool } from '../../../../src/wallet/keys/keypool.js';
import {
  bytesKey,
  formatHdChain,
  formatKeyMetadata,
  formatKeyRecord,
  formatPoolKey,
  parseHdChain,
  parseKeyMetadata,
  parseKeyRecord,
  parsePoolKey,
  plainMetadata,
} from '../../../../src/wallet/keys/keyRecords.js';
import { Keyring, WalletRowError } from '../../../../src/wallet/keys/keyring.js';
import { formatPrivateKeyDer, parsePrivateKeyDer } from '../../../../src/wallet/keys/privateKeyDer.js';
import { recordKey, splitKey, WalletBatch } from '../../../../src/wallet/store/records.js';

const NOW = 1_600_000_000;
const prefixes = addressPrefixesOf(regtestParams);
const secretOf = (n: number): Buffer => Buffer.alloc(32, n);
const publicOf = (n: number, compressed = true): Buffer =>
  ecdsaBackend().publicKeyOf(secretOf(n), compressed);

/** A keyring with these keys. */
function keyringOf(...numbers: number[]): { keyring: Keyring; batch: WalletBatch } {
  const keyring = new Keyring();
  const batch = new WalletBatch();
  for (const n of numbers) keyring.addKey(batch, secretOf(n), publicOf(n), plainMetadata(NOW));
  return { keyring, batch };
}

/** The keyring that is read from the rows of a batch. */
function reloaded(batch: WalletBatch): Keyring {
  const rows = new Map<string, Bytes>();
  for (const [key, value] of batch.changes) {
    if (value === null) rows.delete(key as string);
    else rows.set(key as string, value);
  }
  const keyring = new Keyring();
  for (const [key, value] of rows) {
    const { kind, rest } = splitKey(Buffer.from(key, 'latin1'))!;
    expect(keyring.load(kind, rest, value)).toBe(kind !== 'hdchain');
  }
  keyring.loaded();
  return keyring;
}

describe('rows about keys', () => {
  it('hold private keys in the form of the reference', () => {
    for (const compressed of [true, false]) {
      const der = formatPrivateKeyDer(secretOf(1), publicOf(1, compressed));
      expect(der).toHaveLength(compressed ? 214 : 279);
      expect(toHex(der.subarray(0, compressed ? 8 : 9))).toBe(
        compressed ? '3081d30201010420' : '308201130201010420',
      );
      expect(parsePrivateKeyDer(der)).toEqual(secretOf(1));
      const row = formatKeyRecord(secretOf(1), publicOf(1, compressed));
      expect(parseKeyRecord(row, publicOf(1, compressed))).toEqual(secretOf(1));
      expect(parseKeyRecord(row, publicOf(2, compressed))).toBeNull();
      row[20]! ^= 1;
      expect(parseKeyRecord(row, publicOf(1, compressed))).toBeNull();
    }
    expect(parsePrivateKeyDer(Buffer.alloc(0))).toBeNull();
    expect(parsePrivateKeyDer(Buffer.from('3081d3020101ff20', 'hex'))).toBeNull();
  });

  it('are preserved', () => {
    const metadata = { createdSec: NOW, path: "m/0'/1'/7'", seedId: Buffer.alloc(20, 5) };
    expect(parseKeyMetadata(formatKeyMetadata(metadata))).toEqual(metadata);
    // The format before key paths were stored.
    expect(parseKeyMetadata(Buffer.from('0100000000105e5f00000000', 'hex'))).toEqual(
      plainMetadata(0x5f5e1000),
    );
    const chain = { externalCounter: 3, internalCounter: 4, seedId: Buffer.alloc(20, 9), isSplit: true };
    expect(parseHdChain(formatHdChain(chain))).toEqual(chain);
    const old = { ...chain, internalCounter: 0, isSplit: false };
    expect(parseHdChain(formatHdChain(old))).toEqual(old);
    const pool = { createdSec: NOW, publicKey: publicOf(1), isInternal: true, isPreSplit: false };
    expect(parsePoolKey(formatPoolKey(pool))).toEqual(pool);
    expect(parsePoolKey(formatPoolKey(pool).subarray(0, -2))).toEqual({ ...pool, isInternal: false });
    expect(splitKey(Buffer.from(recordKey('tx', 'abc'), 'latin1'))).toEqual({
      kind: 'tx',
      rest: Buffer.from('abc'),
    });
    expect(splitKey(Buffer.from('\x05ab'))).toBeNull();
  });
});

describe('Keyring', () => {
  it('finds its keys, signs with them, and is the same when it is loaded from disk', () => {
    const { keyring, batch } = keyringOf(1, 2);
    const script = Buffer.from('5152', 'hex');
    expect(keyring.addScript(batch, script)).toBe(true);
    expect(keyring.addScript(batch, Buffer.alloc(MAX_SCRIPT_ELEMENT_SIZE + 1))).toBe(false);
    keyring.watch(batch, Buffer.from('6a', 'hex'), plainMetadata(NOW - 5));
    for (const one of [keyring, reloaded(batch)]) {
      expect(one.keyCount).toBe(2);
      expect(one.signingKey(hash160(publicOf(1)))).toEqual({
        privateKey: secretOf(1),
        publicKey: publicOf(1),
      });
      expect(one.signingKey(hash160(publicOf(3)))).toBeNull();
      expect(one.script(hash160(script))).toEqual(script);
      expect(one.isWatched(Buffer.from('6a', 'hex'))).toBe(true);
      expect(one.metadata(hash160(publicOf(2)))).toEqual(plainMetadata(NOW));
      expect(one.firstKeySec).toBe(NOW - 5);
    }
  });

  it('does not watch scripts that become its own', () => {
    const keyring = new Keyring();
    const batch = new WalletBatch();
    const toKey = concatBytes(Buffer.of(33), publicOf(1), Buffer.of(0xac));
    const toHash = scriptForDestination(destinationForKey(publicOf(1), 'legacy'));
    keyring.watch(batch, toKey, plainMetadata(0));
    keyring.watch(batch, toHash, plainMetadata(0));
    expect(keyring.publicKey(hash160(publicOf(1)))).toEqual(publicOf(1));
    expect(isMine(keyring, toHash)).toBe(MINE.watchOnly);
    expect(keyring.firstKeySec).toBe(1);
    keyring.addKey(batch, secretOf(1), publicOf(1), plainMetadata(NOW));
    for (const one of [keyring, reloaded(batch)]) {
      expect([...one.watchedScripts()]).toEqual([]);
      expect(isMine(one, toHash)).toBe(MINE.spendable);
      expect(isMine(one, toKey)).toBe(MINE.spendable);
    }
  });

  it('returns no private key while it is locked, and none under another master key', () => {
    const { keyring, batch } = keyringOf(1, 2);
    const master = makeMasterKey();
    keyring.encrypt(batch, master);
    expect(keyring.isLocked).toBe(false);
    expect(batch.changes.some(([key, value]) => value !== null && String(key).startsWith('\x04ckey'))).toBe(
      true,
    );
    const { keyring: other } = keyringOf(7);
    for (const one of [keyring, reloaded(batch)]) {
      one.lock();
      expect(one.isLocked).toBe(true);
      expect(one.hasKey(hash160(publicOf(1)))).toBe(true);
      expect(one.publicKey(hash160(publicOf(1)))).toEqual(publicOf(1));
      expect(one.signingKey(hash160(publicOf(1)))).toBeNull();
      expect(atOnce(one.unlock(makeMasterKey()))).toBe(false);
      expect(one.isLocked).toBe(true);
      expect(atOnce(one.unlock(master))).toBe(true);
      expect(one.signingKey(hash160(publicOf(2)))!.privateKey).toEqual(secretOf(2));
    }
    expect(other.isEncrypted).toBe(false);
    // The rows contain no plaintext key.
    const left = new Map(batch.changes);
    for (const [key, value] of left) if (String(key).startsWith('\x03key')) expect(value).toBeNull();
  });

  it('encrypts keys that are added later', () => {
    const { keyring, batch } = keyringOf(1);
    const master = makeMasterKey();
    keyring.encrypt(batch, master);
    keyring.addKey(batch, secretOf(2), publicOf(2), plainMetadata(NOW));
    const again = reloaded(batch);
    expect(again.isLocked).toBe(true);
    expect(atOnce(again.unlock(master))).toBe(true);
    expect(again.signingKey(hash160(publicOf(2)))!.privateKey).toEqual(secretOf(2));
  });

  it('has the keys that a master key decrypts if others are corrupt', () => {
    const one = keyringOf(1);
    one.keyring.encrypt(one.batch, makeMasterKey());
    const two = keyringOf(2);
    const master = makeMasterKey();
    two.keyring.encrypt(two.batch, master);
    const mixed = new WalletBatch();
    mixed.changes.push(...two.batch.changes, ...one.batch.changes);
    const half = reloaded(mixed);
    for (let turn = 0; turn < 2; turn++) {
      expect(atOnce(half.unlock(makeMasterKey()))).toBe(false);
      expect(atOnce(half.unlock(master))).toBe(true);
      expect(half.corruptKeys).toBe(1);
      expect(half.signingKey(hash160(publicOf(2)))!.privateKey).toEqual(secretOf(2));
      expect(half.signingKey(hash160(publicOf(1)))).toBeNull();
      half.lock();
    }
  });

  it('refuses corrupt rows', () => {
    const keyring = new Keyring();
    const row = formatKeyRecord(secretOf(1), publicOf(1));
    row[50]! ^= 1;
    expect(() => keyring.load('key', bytesKey(publicOf(1)), row)).toThrow(WalletRowError);
    expect(() => keyring.load('key', bytesKey(Buffer.alloc(5)), row)).toThrow(WalletRowError);
    expect(keyring.load('tx', Buffer.alloc(32), Buffer.alloc(0))).toBe(false);
  });

  it('reports unencrypted keys beside encrypted ones', () => {
    const one = keyringOf(1);
    one.keyring.encrypt(one.batch, makeMasterKey());
    const mixed = new WalletBatch();
    mixed.changes.push(...one.batch.changes, ...keyringOf(2).batch.changes);
    expect(() => reloaded(mixed)).toThrow('stored unencrypted');
  });
});

describe('isMine', () => {
  const { keyring, batch } = keyringOf(1, 2);
  keyring.addKey(batch, secretOf(3), publicOf(3, false), plainMetadata(NOW));
  const mine = (script: Bytes): number => isMine(keyring, script);
  const toHash = (hash: Bytes): Buffer => scriptForDestination({ type: 'scripthash', hash });
  const toProgram = (script: Bytes): Buffer =>
    scriptForDestination({ type: 'witness_v0_scripthash', hash: sha256(script) });

  it.each(['legacy', 'p2sh-segwit', 'bech32'] as const)('finds %s outputs of keys', (type) => {
    expect(mine(scriptForDestination(destinationForKey(publicOf(1), type)))).toBe(MINE.spendable);
    expect(mine(scriptForDestination(destinationForKey(publicOf(9), type)))).toBe(MINE.no);
  });

  it('distinguishes claims and supports', () => {
    const pay = scriptForDestination(destinationForKey(publicOf(1), 'legacy'));
    const [name, id] = [Buffer.from('name'), Buffer.alloc(20)];
    const value = Buffer.from('00', 'hex');
    expect(mine(concatBytes(buildClaimPrefix(name, value), pay))).toBe(MINE.spendable | MINE.claim);
    expect(mine(concatBytes(buildUpdatePrefix(name, id, value), pay))).toBe(MINE.spendable | MINE.claim);
    expect(mine(concatBytes(buildSupportPrefix(name, id), pay))).toBe(MINE.spendable | MINE.support);
    const other = scriptForDestination(destinationForKey(publicOf(9), 'legacy'));
    expect(mine(concatBytes(buildClaimPrefix(name, value), other))).toBe(MINE.no);
  });

  it('counts multisig as its own only with all keys, and never a bare one', () => {
    const both = scriptForMultisig(1, [publicOf(1), publicOf(2)]);
    const others = scriptForMultisig(1, [publicOf(1), publicOf(9)]);
    for (const script of [both, others]) keyring.addScript(batch, script);
    expect(mine(both)).toBe(MINE.no);
    expect(mine(toHash(hash160(both)))).toBe(MINE.spendable);
    expect(mine(toHash(hash160(others)))).toBe(MINE.no);
    // The keyring must contain the witness program as a script too.
    expect(mine(toProgram(both))).toBe(MINE.no);
    keyring.addScript(batch, toProgram(both));
    expect(mine(toProgram(both))).toBe(MINE.spendable);
    expect(mine(toHash(hash160(toProgram(both))))).toBe(MINE.spendable);
    expect(keyring.script(ripemd160(sha256(both)))).toEqual(both);
  });

  it('recognizes unspendable scripts', () => {
    const uncompressed = publicOf(3, false);
    const program = scriptForDestination({ type: 'witness_v0_keyhash', hash: hash160(uncompressed) });
    keyring.addScript(batch, program);
    expect(mine(program)).toBe(MINE.no);
    const nested = toHash(hash160(toHash(hash160(program))));
    keyring.addScript(batch, toHash(hash160(program)));
    expect(mine(nested)).toBe(MINE.no);
    expect(mine(scriptForDestination(destinationForKey(uncompressed, 'legacy')))).toBe(MINE.spendable);
    // Watching the program does not change that.
    keyring.watch(batch, program, plainMetadata(0));
    expect(mine(program)).toBe(MINE.no);
  });
});

describe('HdKeys', () => {
  it('derives the root of BIP32 (vector 1)', () => {
    const root = rootOfSeed(Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex'));
    expect(toHex(root.privateKey!)).toBe('e8f32e723decf4051aefac8e2c93c9c5b214313817cdb01a1494b917c8436b35');
    expect(toHex(root.chainCode)).toBe('873dff81c02f525623fd1fe5167eac3a55a049de3d314bb42ee227ffed37d508');
  });

  // Keys of lbrycrd for the seed of 32 bytes 0x11.
  const RECEIVED = [
    ['mfZKgBV7g5FpJAKX5QUfcWy96WHQ31HVRm', 'cTxCDsusFNRwugsJfN8A93TNbHSHuGCcNwkChEPWW3Ri7JnQ6rjD'],
    ['my24NcSL4V7m4XrSjwZUFXETi8Wwq85W7w', 'cSZG8PTYTYw7shfkMMQpZDRyxbK6gSkZL92A4HWDnrm1xJMF9FFr'],
    ['mqAfkqwbE8E2a9MBfQdLdvTPXwqWVnBeKb', 'cVgqSpgGCKuDy7fjtoLc5HsUsYdeKrqZW1NPsv3rWQEzb6DUAZDJ'],
  ];
  const CHANGE = [
    ['mwxib6s2B7SW3MDRNWau7URb4JWhPYQaJN', 'cQHs8QHs1JNgYgqsuizvzn2bpatfFQ3wq2zMhr5B7k5eR617Eeq4'],
    ['miCTQgYMCrtFMGid59oTEAs36zwhVYvczP', 'cVrFZyQdUWqEC7mtgxYjJQVuBcvxhpwiyRofLFQD7hQkMA7HHL2B'],
  ];

  it('derives the keys of the reference, and continues at the last index', () => {
    const keyring = new Keyring();
    const batch = new WalletBatch();
    let hd = new HdKeys(keyring);
    hd.setSeed(batch, hd.addSeed(batch, secretOf(0x11), NOW));
    const shown = (publicKey: Bytes): string[] => [
      encodeDestination(destinationForKey(publicKey, 'legacy'), prefixes),
      encodeSecret(keyring.signingKey(hash160(publicKey))!.privateKey, true, prefixes),
    ];
    expect([...hd.make(batch, 2, false, NOW)].map(shown)).toEqual(RECEIVED.slice(0, 2));
    expect([...hd.make(batch, 2, true, NOW)].map(shown)).toEqual(CHANGE);
    const row = batch.changes.filter(([key]) => key === recordKey('hdchain')).at(-1)![1]!;
    hd = new HdKeys(keyring);
    hd.load(parseHdChain(row));
    const [third] = [...hd.make(batch, 1, false, NOW)];
    expect(shown(third!)).toEqual(RECEIVED[2]);
    expect(keyring.metadata(hash160(third!))).toMatchObject({ path: "m/0'/0'/2'", createdSec: NOW });
    expect(reloaded(batch).keyCount).toBe(6);
  });

  it('skips keys that the wallet already has', () => {
    const keyring = new Keyring();
    const batch = new WalletBatch();
    const hd = new HdKeys(keyring);
    hd.setSeed(batch, hd.addSeed(batch, secretOf(0x11), NOW));
    const all = [...hd.make(batch, 3, false, NOW)];
    const again = new HdKeys(keyring);
    again.load({ ...hd.state!, externalCounter: 0 });
    const [next] = [...again.make(batch, 1, false, NOW)];
    expect(all.some((key) => toHex(key) === toHex(next!))).toBe(false);
    expect(again.state!.externalCounter).toBe(4);
  });
});

describe('Keypool', () => {
  const filled = (): { pool: Keypool; batch: WalletBatch } => {
    const pool = new Keypool();
    const batch = new WalletBatch();
    for (let n = 1; n <= 6; n++) pool.add(batch, publicOf(n), n > 3, NOW + n);
    return { pool, batch };
  };

  it('returns keys in the order of creation, for addresses and for change', () => {
    const { pool, batch } = filled();
    expect([pool.count('receive'), pool.count('change')]).toEqual([3, 3]);
    expect(pool.oldestSec('change')).toBe(NOW + 4);
    const first = pool.reserve(false)!;
    expect(first.key.publicKey).toEqual(publicOf(1));
    expect(pool.reserve(true)!.key.publicKey).toEqual(publicOf(4));
    const second = pool.reserve(false)!;
    pool.giveBack(second);
    pool.giveBack(first);
    expect(pool.reserve(false)).toEqual(first);
    pool.keep(batch, first);
    const left = new Map(batch.changes);
    expect([...left.values()].filter((value) => value !== null)).toHaveLength(5);
    expect(pool.reserve(false)).toEqual(second);
    pool.reserve(false);
    expect(pool.reserve(false)).toBeNull();
  });

  it('does not accept a returned key that was removed in the meantime', () => {
    const { pool, batch } = filled();
    const change = pool.reserve(true)!;
    pool.clear(batch);
    pool.giveBack(change);
    expect(pool.reserve(true)).toBeNull();
    expect([...new Map(batch.changes).values()].every((value) => value === null)).toBe(true);
    pool.add(batch, publicOf(7), true, NOW);
    const next = pool.reserve(true)!;
    pool.giveBack(next);
    expect(pool.reserve(true)).toEqual(next);
  });

  it('removes a used key with all earlier ones', () => {
    const { pool, batch } = filled();
    expect(pool.has(hash160(publicOf(2)))).toBe(true);
    expect(pool.markUsed(batch, hash160(publicOf(2))).map(({ publicKey }) => publicKey)).toEqual([
      publicOf(1),
      publicOf(2),
    ]);
    expect(pool.has(hash160(publicOf(1)))).toBe(false);
    expect([pool.count('receive'), pool.count('change')]).toEqual([1, 3]);
    expect(pool.markUsed(batch, hash160(publicOf(2)))).toEqual([]);
  });

  it('is loaded from disk in any order, and prefers keys from before the split', () => {
    const { batch } = filled();
    const pool = new Keypool();
    for (const [key, value] of batch.changes.toReversed()) {
      const { rest } = splitKey(Buffer.from(key as string, 'latin1'))!;
      pool.load(Number(rest.readBigInt64LE(0)), parsePoolKey(value!));
    }
    pool.load(0, { createdSec: NOW, publicKey: publicOf(9), isInternal: false, isPreSplit: true });
    pool.loaded();
    expect(pool.reserve(true)!.key.publicKey).toEqual(publicOf(9));
    expect(pool.reserve(true)!.key.publicKey).toEqual(publicOf(4));
    pool.add(batch, publicOf(10), false, NOW);
    const left = new Map(batch.changes);
    expect(left.has(recordKey('pool', Buffer.from('0700000000000000', 'hex')))).toBe(true);
    pool.clear(batch);
    expect(pool.reserve(false)).toBeNull();
  });
});
