import { describe, expect, it } from 'vitest';
import {
  addressOfKey,
  deriveExtendedKey,
  extendedKeyOfSeed,
  extendedKeyOfWalletSeed,
  keyOfExtended,
  keyOfSecret,
  makeKey,
  publicExtendedKey,
  publicKeyOf,
  secretOf,
} from '../../../src/client/keys.js';
import { ecdsaBackend } from '../../../src/crypto/ecdsa.js';
import { encodeBase58Check } from '../../../src/script/base58.js';
import { encodeSecret } from '../../../src/script/wif.js';
import { networkPrefixes } from '../../../src/client/claimOutputs.js';
import { HdKeys } from '../../../src/wallet/keys/hdKeys.js';
import { Keyring } from '../../../src/wallet/keys/keyring.js';
import { WalletBatch } from '../../../src/wallet/store/records.js';

describe('keys offline', () => {
  it('are generated, and decoded on their own network only', () => {
    const { privateKey, publicKey } = makeKey('regtest');
    expect(publicKeyOf(privateKey, 'regtest')).toBe(publicKey);
    expect(() => publicKeyOf(privateKey, 'main')).toThrow(RangeError);
    const addresses = (['legacy', 'p2sh-segwit', 'bech32'] as const).map((type) =>
      addressOfKey(publicKey, 'regtest', type),
    );
    expect(new Set(addresses).size).toBe(3);
    expect(addressOfKey(publicKey, 'regtest')).toBe(addresses[1]);
    expect(() => addressOfKey('00', 'main')).toThrow('the public key is invalid');
  });

  it('are converted between text and bytes, with compressed public keys and without', () => {
    const secret = Buffer.alloc(32, 7);
    const addresses = [true, false].map((compressed) => {
      const { privateKey, publicKey } = keyOfSecret(secret, 'regtest', { compressed });
      expect(secretOf(privateKey, 'regtest')).toEqual({ secret, compressed });
      expect(publicKeyOf(privateKey, 'regtest')).toBe(publicKey);
      expect(publicKey).toHaveLength(compressed ? 66 : 130);
      return addressOfKey(publicKey, 'regtest', 'legacy');
    });
    expect(new Set(addresses).size).toBe(2);
    expect(() => secretOf(makeKey('main').privateKey, 'regtest')).toThrow(RangeError);
    for (const none of [Buffer.alloc(32), Buffer.alloc(32, 0xff), Buffer.alloc(31, 1)])
      expect(() => keyOfSecret(none, 'main')).toThrow('the bytes are not a valid private key');
  });

  // Bitcoin's wiki, "Wallet import format", except for the prefix of the network, which is 0x80 there and 0x1c here.
  it('have the wallet import format', () => {
    const secret = Buffer.from('0c28fca386c7a227600b2fe50b7cae11ec86d3bf1fbe471be89827e19d72aa1d', 'hex');
    for (const compressed of [true, false]) {
      const payload = [Buffer.of(0x1c), secret, compressed ? Buffer.of(1) : Buffer.alloc(0)];
      const expected = encodeBase58Check(Buffer.concat(payload));
      expect(keyOfSecret(secret, 'main', { compressed }).privateKey).toBe(expected);
    }
  });

  it('follow BIP32, test vector 1', () => {
    const root = extendedKeyOfSeed(Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex'), 'main');
    const { privateKey, publicKey } = keyOfExtended(deriveExtendedKey(root, "m/0'/1/2h", 'main'), 'main');
    expect(publicKey).toBe('0357bfe1e341d01c69fe5654309956cbea516822fba8a601743a012a7896ee8dc2');
    const secret = Buffer.from('cbce0d719ecf7431d88e6a89fa1483e02e35092af60c042b1df2ff59fa424dca', 'hex');
    expect(privateKey).toBe(encodeSecret(secret, true, networkPrefixes('main')));
    const open = publicExtendedKey(deriveExtendedKey(root, "0'", 'main'), 'main');
    expect(keyOfExtended(deriveExtendedKey(open, '1', 'main'), 'main')).toEqual({
      privateKey: null,
      publicKey: '03501e454bf00751f24b1b489aa925215d66af2234e3891c3b21a52bedb3cd711c',
    });
    expect(() => deriveExtendedKey(open, "1'", 'main')).toThrow('hardened steps require a private key');
    expect(() => deriveExtendedKey(root, 'm/x', 'main')).toThrow('invalid step of a derivation path: x');
    expect(() => deriveExtendedKey(root, 'm', 'regtest')).toThrow('belongs to another network');
  });

  it('of a seed are those that a wallet derives', () => {
    const keyring = new Keyring();
    const hd = new HdKeys(keyring);
    const batch = new WalletBatch();
    const seed = Buffer.alloc(32, 3);
    hd.setSeed(batch, hd.addSeed(batch, seed, 1));
    const made = [...hd.make(batch, 2, false, 1)].map((key) => Buffer.from(key).toString('hex'));
    const text = encodeSecret(seed, true, networkPrefixes('regtest'));
    const root = extendedKeyOfWalletSeed(text, 'regtest');
    const derived = [0, 1].map(
      (k) => keyOfExtended(deriveExtendedKey(root, `m/0'/0'/${k}'`, 'regtest'), 'regtest').publicKey,
    );
    expect(derived).toEqual(made);
    expect(ecdsaBackend().isFullyValidPublicKey(Buffer.from(derived[0]!, 'hex'))).toBe(true);
  });
});
