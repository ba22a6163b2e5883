/**
 * Formats of seeds and keys of other wallets. Keys and addresses are the test vectors of BIP39, BIP44 and BIP84. If these use
 * Bitcoin's coin type, the paths here do too.
 */
import { describe, expect, it } from 'vitest';
import { ledgerParams } from '../../../../src/daemon/base/ledgerParams.js';
import { Account } from '../../../../src/daemon/wallet/account.js';
import {
  accountSecretOf,
  bip39SeedBytes,
  type GivenSecret,
} from '../../../../src/daemon/wallet/accountSecret.js';
import { isSeedPhrase } from '../../../../src/daemon/wallet/seedPhrase.js';
import { systemClock, systemRandom } from '../../../../src/daemon/base/clock.js';
import { hash160 } from '../../../../src/crypto/hash.js';
import { decodeDestination } from '../../../../src/script/address.js';
import { JsonObject } from '../../../../src/util/json/json.js';
import { toHex } from '../../../../src/util/bytes.js';

const MAIN = ledgerParams('lbc_mainnet');
const WORDS = `${'abandon '.repeat(11)}about`;
const OWN = 'carbon smart garage balance margin twelve chest sword toast envelope bottom stomach absent';
/** Source: BIP84, account 0. */
const ZPRV =
  'zprvAdG4iTXWBoARxkkzNpNh8r6Qag3irQB8PzEMkAFeTRXxHpbF9z4QgEvBRmfvqWvGp42t42nvgGpNgYSJA9iefm1yYNZKEm7z6qUWCroSQnE';
const ZPUB =
  'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs';

/** Extended keys with the prefixes of BIP49. Source: SLIP-132, account 0 of these words. */
const YPRV =
  'yprvAHwhK6RbpuS3dgCYHM5jc2ZvEKd7Bi61u9FVhYMpgMSuZS613T1xxQeKTffhrHY79hZ5PsskBjcc6C2V7DrnsMsNaGDaWev3GLRQRgV7hxF';
const YPUB =
  'ypub6Ww3ibxVfGzLrAH1PNcjyAWenMTbbAosGNB6VvmSEgytSER9azLDWCxoJwW7Ke7icmizBMXrzBx9979FfaHxHcrArf3zbeJJJUZPf663zsP';

function accountOf(given: GivenSecret): { form: string; account: Account } {
  const secret = accountSecretOf(given, MAIN);
  const account = new Account(
    new JsonObject([
      ['ledger', MAIN.id],
      ['seed', secret.seed],
      ['private_key', secret.privateKey],
      ['public_key', secret.publicKey],
      ['address_type', secret.addressType],
    ]),
    { clock: systemClock, random: systemRandom },
  );
  return { form: secret.form, account };
}

const keyAt = ({ account }: { account: Account }, chain: 0 | 1, index: number): string =>
  toHex(account.publicKey(chain, index).publicKey);
const addressAt = ({ account }: { account: Account }, index: number): string =>
  account.addressOf(account.publicKey(0, index).publicKey);

describe('an account of a BIP39 seed', () => {
  it('has the seed of BIP39', () => {
    expect(toHex(bip39SeedBytes(WORDS, 'TREZOR'))).toBe(
      'c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e53495531f09a6987599d18264c1e1c92f2cf141630c7a3c4ab7c81b2f001698e7463b04',
    );
    expect(
      bip39SeedBytes(`  ${WORDS.toUpperCase().replaceAll(' ', '  ')}\n`).equals(bip39SeedBytes(WORDS)),
    ).toBe(true);
  });

  it('has the keys of BIP84, and witness addresses of this network', () => {
    const made = accountOf({ seed: WORDS, path: "m/84'/0'/0'" });
    expect(made.form).toBe("BIP39 seed with path m/84'/0'/0'");
    expect(keyAt(made, 0, 0)).toBe('0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c');
    expect(keyAt(made, 0, 1)).toBe('03e775fd51f0dfb8cd865d9ff1cca2a158cf651fe997fdc9fee9c1d3b5e995ea77');
    expect(keyAt(made, 1, 0)).toBe('03025324888e429ab8e3dbaf1f7802648b9cd01e9b418485c5fa4c1b9b5700e1a6');
    expect(addressAt(made, 0)).toMatch(/^lbc1q/);
    expect(decodeDestination(addressAt(made, 0), MAIN.addressPrefixes)).toEqual({
      type: 'witness_v0_keyhash',
      hash: hash160(made.account.publicKey(0, 0).publicKey),
    });
    for (const key of [ZPRV, ZPUB]) {
      const same = accountOf(key === ZPRV ? { privateKey: key } : { publicKey: key });
      expect(same.form).toBe(`BIP84 extended ${key === ZPRV ? 'private' : 'public'} key`);
      expect([keyAt(same, 0, 1), addressAt(same, 1)]).toEqual([keyAt(made, 0, 1), addressAt(made, 1)]);
      expect(same.account.isSpendable).toBe(key === ZPRV);
    }
  });

  it('is P2PKH with the path of BIP44, for any notation of hardened numbers; the words are not stored', () => {
    const made = accountOf({ seed: WORDS, path: "m/44'/140'/0'" });
    expect(addressAt(made, 0)).toMatch(/^b/);
    expect(made.account.seed).toBe('');
    expect(keyAt(accountOf({ seed: WORDS, path: 'M/44h/140H/0' + "'" }), 0, 5)).toBe(keyAt(made, 0, 5));
    expect(keyAt(accountOf({ seed: WORDS, path: "m/44'/140'/1'" }), 0, 5)).not.toBe(keyAt(made, 0, 5));
    expect(keyAt(accountOf({ seed: WORDS, path: "m/44'/140'/0'", passphrase: 'x' }), 0, 5)).not.toBe(
      keyAt(made, 0, 5),
    );
    const file = made.account.toJson();
    expect(file.get('address_type')).toBeUndefined();
    const again = accountOf({ privateKey: file.get('private_key') as string });
    expect([again.form, addressAt(again, 3)]).toEqual(['extended private key', addressAt(made, 3)]);
  });

  it('keeps the type of its addresses in the file, outside of the hash that lbrynet computes', () => {
    const { account } = accountOf({ seed: WORDS, path: "m/84'/140'/0'" });
    expect(account.toJson().get('address_type')).toBe('p2wpkh');
    const plain = account.toJson().entries.filter(([key]) => key !== 'address_type');
    const asLbrynet = new Account(new JsonObject(plain), { clock: systemClock, random: systemRandom });
    expect(asLbrynet.hash().equals(account.hash())).toBe(true);
  });

  it('of a root key with a path is that of the seed', () => {
    const root = accountOf({ seed: WORDS, path: 'm' });
    const rootKey = root.account.toJson().get('private_key') as string;
    const below = accountOf({ privateKey: rootKey, path: "m/84'/140'/0'" });
    expect(below.form).toBe("extended private key with path m/84'/140'/0'");
    expect(addressAt(below, 0)).toBe(addressAt(accountOf({ seed: WORDS, path: "m/84'/140'/0'" }), 0));
  });
});

describe('a BIP32 seed in hex', () => {
  it('has the keys of the first test vector of BIP32', () => {
    const seed = '000102030405060708090a0b0c0d0e0f';
    const made = accountOf({ seed, path: "m/0'" });
    expect(made.form).toBe("BIP32 seed in hex with path m/0'");
    expect(keyAt(accountOf({ seed, path: "m/0'/1/2'" }), 0, 0)).toHaveLength(66);
    const key = made.account.publicKey(1, 2);
    expect(toHex(made.account.root.publicKey)).toBe(
      '035a784662a4a20a65bf6aab9ae98a6c068a81c52e4b032c0fb5400c706cfccc56',
    );
    expect(key.depth).toBe(3);
    expect(() => accountSecretOf({ seed, path: 'm', passphrase: 'x' }, MAIN)).toThrow(/BIP39/);
    expect(() => accountSecretOf({ seed: seed.slice(2), path: 'm' }, MAIN)).toThrow(/not a BIP39 seed/);
  });
});

describe('a seed of lbcwallet', () => {
  const seed = '000102030405060708090a0b0c0d0e0f'.repeat(2);

  // Source: lbcwallet 0.13.111 on the main network, `getnewaddress` and `getrawchangeaddress` by account and kind.
  it.each<[string, 0 | 1, readonly string[]]>([
    ["m/44'/140'/0'", 0, ['ba5sALf5K6M1NEEG7Rtv8TpHsU7U2PF6VG', 'bHaZ4zNoawhFrDe9pcyhkFCxb4Wo6aiBVP']],
    ["m/84'/140'/0'", 0, ['lbc1qmx8ndaae7g8hfug2uffjm0fvvsxp5f5rn5ajrs']],
    ["m/44'/140'/1'", 0, ['bQJvaaTeUvopL6GoKzxHmBUUxzEaDifseh', 'bLAcg2Ed6BqHMnJnXCqa69HDyQ4Kcxyhgr']],
    ["m/84'/140'/1'", 0, ['lbc1qjzajg7wfs0fftruddpc9kvl7pttgks5w9rdwg4']],
    ["m/84'/140'/1'", 1, ['lbc1qsglkg0u4vsqqc8nxqzpkkk20vxdagha9uf2y5x']],
  ])('has the addresses of lbcwallet at the path %s, chain %i', (path, chain, addresses) => {
    const { account } = accountOf({ seed, path });
    expect(addresses.map((_, at) => account.addressOf(account.publicKey(chain, at).publicKey))).toEqual(
      addresses,
    );
  });
});

describe('a seed of lbry-sdk', () => {
  it('is imported as before, with its format in the result', () => {
    expect(isSeedPhrase(OWN)).toBe(true);
    const made = accountOf({ seed: OWN });
    expect([made.form, made.account.seed, made.account.addressType]).toEqual(['lbry-sdk seed', OWN, 'p2pkh']);
    expect(accountOf({ seed: 'any words at all' }).form).toContain('other words');
  });
});

describe('refusals', () => {
  it.each<[string, GivenSecret, RegExp]>([
    ['nothing', {}, /One of 'seed', 'private_key' and 'public_key' is required/],
    ['a BIP39 seed without a path', { seed: WORDS }, /a BIP39 seed. Pass the path/],
    ['a seed of lbry-sdk with a path', { seed: OWN, path: 'm/0' }, /a seed of lbry-sdk, which has no path/],
    ['a wrong word', { seed: WORDS.replace('about', 'abouts'), path: 'm/0' }, /not a BIP39 seed/],
    ['a wrong checksum', { seed: WORDS.replace('about', 'abandon'), path: 'm/0' }, /not a BIP39 seed/],
    ['a passphrase without a path', { seed: OWN, passphrase: 'x' }, /requires a 'path' too/],
    ['a passphrase with a key', { privateKey: ZPRV, passphrase: 'x' }, /belongs to a BIP39 seed/],
    ['a path that does not begin at the root', { seed: WORDS, path: "44'/0'" }, /is not a path of keys/],
    ['a number that is too large', { seed: WORDS, path: 'm/2147483648' }, /not a number from 0/],
    ['an empty part', { seed: WORDS, path: 'm//0' }, /not a number from 0/],
    ['a path of eleven numbers', { seed: WORDS, path: `m${'/0'.repeat(11)}` }, /is not a path of keys/],
    ['an extended key for BIP49', { privateKey: YPRV }, /BIP49.*not supported/],
    ['an extended public key for BIP49', { publicKey: YPUB }, /BIP49.*not supported/],
    ['BIP49', { seed: WORDS, path: "m/49'/140'/0'" }, /BIP49.*not supported/],
    ['a path below an account key', { privateKey: ZPRV, path: 'm/0' }, /3 levels below its root/],
    ['a key of another network', { privateKey: ZPRV.replace('z', 'x') }, /checksum/],
    [
      'hardened keys of a public key',
      { publicKey: rootPublicKey(), path: "m/44'" },
      /public key cannot derive hardened keys/,
    ],
  ])('%s', (_, given, message) => {
    expect(() => accountSecretOf(given, MAIN)).toThrow(message);
  });

  function rootPublicKey(): string {
    return accountOf({ seed: WORDS, path: 'm' }).account.publicKeyText;
  }
});
