import bs58check from 'bs58check';
import { bech32 } from '@scure/base';
import { describe, expect, it } from 'vitest';
import { ecdsaBackend } from '../../../src/crypto/ecdsa.js';
import { hash160 } from '../../../src/crypto/hash.js';
import { networkParams } from '../../../src/params/networks.js';
import { addressPrefixesOf, decodeDestination, encodeDestination } from '../../../src/script/address.js';
import {
  decodeBase58,
  decodeBase58Check,
  encodeBase58,
  encodeBase58Check,
} from '../../../src/script/base58.js';
import { decodeSecret, encodeSecret } from '../../../src/script/wif.js';
import type { Destination } from '../../../src/script/standard.js';
import { fromHex, toHex } from '../../../src/util/bytes.js';

const MAIN = addressPrefixesOf(networkParams('main'));
const TEST = addressPrefixesOf(networkParams('test'));
const REGTEST = addressPrefixesOf(networkParams('regtest'));

/** Bytes whose neighbours differ. */
function sample(length: number, seed: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, i) => (i * 57 + seed * 31 + 1) & 0xff));
}

describe('addressPrefixesOf', () => {
  it('reads the networks', () => {
    expect(MAIN).toEqual({
      pubkeyHash: 0x55,
      scriptHash: 0x7a,
      secretKey: 0x1c,
      bech32Hrp: 'lbc',
      extPublic: 0x0488b21e,
      extSecret: 0x0488ade4,
    });
    expect([TEST.bech32Hrp, REGTEST.bech32Hrp]).toEqual(['tlbc', 'rlbc']);
  });
});

describe('base58', () => {
  it('agrees with the package bs58check', () => {
    for (let length = 0; length <= 60; length++) {
      const payload =
        length % 4 === 0 ? Buffer.concat([Buffer.alloc(3), sample(length, 1)]) : sample(length, length);
      const text = bs58check.encode(payload);
      expect(encodeBase58Check(payload)).toBe(text);
      expect(toHex(decodeBase58Check(text)!)).toBe(toHex(payload));
    }
  });

  it('keeps leading zeros', () => {
    expect(encodeBase58(Buffer.alloc(4))).toBe('1111');
    expect(toHex(decodeBase58('1111')!)).toBe('00000000');
    expect(toHex(decodeBase58('112')!)).toBe('000001');
    expect(toHex(decodeBase58('')!)).toBe('');
  });

  it('refuses other characters and wrong checksums', () => {
    const text = encodeBase58Check(sample(21, 5));
    for (const bad of ['0', 'O', 'I', 'l', '+', 'é', '\u0141'])
      expect(decodeBase58(`${text}${bad}`), bad).toBeNull();
    expect(decodeBase58Check(`${text}1`)).toBeNull();
    expect(decodeBase58Check(text.slice(1))).toBeNull();
    expect(decodeBase58Check('')).toBeNull();
    expect(decodeBase58Check('1111')).toBeNull();
  });

  it('skips white space around a text, and ignores text after a NUL, as the reference does', () => {
    expect(toHex(decodeBase58(' \t\n\v\f\r skip \r\f\v\n\t ')!)).toBe('971a55');
    expect(decodeBase58(' \t\n\v\f\r skip \r\f\v\n\t a')).toBeNull();
    expect(decodeBase58('sk ip')).toBeNull();
    expect(toHex(decodeBase58('skip\0anything 0OIl')!)).toBe('971a55');
    expect(decodeBase58('skip\u00a0')).toBeNull();
  });
});

describe('addresses', () => {
  const destinations: Destination[] = [
    { type: 'pubkeyhash', hash: sample(20, 1) },
    { type: 'scripthash', hash: sample(20, 2) },
    { type: 'witness_v0_keyhash', hash: sample(20, 3) },
    { type: 'witness_v0_scripthash', hash: sample(32, 4) },
    { type: 'witness_unknown', version: 1, program: sample(2, 5) },
    { type: 'witness_unknown', version: 16, program: sample(40, 6) },
  ];

  it('round-trip on every network', () => {
    for (const prefixes of [MAIN, TEST, REGTEST]) {
      for (const destination of destinations) {
        const address = encodeDestination(destination, prefixes);
        expect(decodeDestination(address, prefixes)).toEqual(destination);
        expect(decodeSecret(address, prefixes)).toBeNull();
      }
    }
  });

  it('belong to their network', () => {
    for (const destination of destinations) {
      expect(decodeDestination(encodeDestination(destination, MAIN), TEST)).toBeNull();
      expect(decodeDestination(encodeDestination(destination, TEST), MAIN)).toBeNull();
    }
    // Base58 prefixes of test and regtest are the same, bech32's are not.
    expect(decodeDestination(encodeDestination(destinations[0]!, TEST), REGTEST)).not.toBeNull();
    expect(decodeDestination(encodeDestination(destinations[2]!, TEST), REGTEST)).toBeNull();
  });

  it('have the known forms', () => {
    const hash = fromHex('65a16059864a2fdbc7c99a4723a8395bc6f188eb');
    expect(encodeDestination({ type: 'pubkeyhash', hash }, MAIN)).toBe('bMzeGER3krZ2zX75uxLoLDA5tLvUX9w4QP');
    const script = fromHex('74f209f6ea907e2ea48f74fae05782ae8a665257');
    expect(encodeDestination({ type: 'scripthash', hash: script }, MAIN)).toBe(
      'rGtwTfEisPQ7k8KNggmT4kq2vHpbEV6evU',
    );
    expect(encodeDestination(destinations[2]!, MAIN)).toMatch(/^lbc1q[0-9a-z]{38}$/);
  });

  it('in bech32 may be upper case, not mixed', () => {
    const address = encodeDestination(destinations[2]!, MAIN);
    expect(decodeDestination(address.toUpperCase(), MAIN)).toEqual(destinations[2]);
    expect(decodeDestination(`L${address.slice(1)}`, MAIN)).toBeNull();
  });

  it('in bech32 are ASCII only: the Kelvin sign has k as its lower case', () => {
    let seed = 0;
    let upper: string;
    do
      upper = encodeDestination({ type: 'witness_v0_keyhash', hash: sample(20, seed++) }, MAIN).toUpperCase();
    while (!upper.includes('K'));
    expect(decodeDestination(upper, MAIN)).not.toBeNull();
    expect(decodeDestination(upper.replace('K', '\u212a'), MAIN)).toBeNull();
  });

  it('in bech32 follow the rules of witness programs', () => {
    const words = (version: number, size: number): string =>
      bech32.encode('lbc', [version, ...bech32.toWords(sample(size, 7))]);
    expect(decodeDestination(words(0, 20), MAIN)?.type).toBe('witness_v0_keyhash');
    for (const bad of [words(0, 19), words(0, 33), words(17, 20), words(31, 20), words(1, 1), words(1, 41)]) {
      expect(decodeDestination(bad, MAIN), bad).toBeNull();
    }
    expect(decodeDestination(bech32.encode('lbc', []), MAIN)).toBeNull();
    expect(decodeDestination(bech32.encode('lbc', [1, 0, 0, 0, 1]), MAIN)).toBeNull();
    expect(decodeDestination(bech32.encode('lbc', [1, 0, 0, 0, 0, 0, 0]), MAIN)).toBeNull();
    const good = words(1, 20);
    expect(decodeDestination(` ${good}`, MAIN)).toBeNull();
    expect(decodeDestination(`${good.slice(0, -1)}${good.endsWith('q') ? 'p' : 'q'}`, MAIN)).toBeNull();
  });

  it('are undefined for other text', () => {
    for (const text of [
      '',
      ' ',
      'x',
      'lbc1',
      '1',
      'lbc',
      encodeBase58Check(sample(20, 1)),
      encodeBase58Check(sample(22, 1)),
    ]) {
      expect(decodeDestination(text, MAIN), text).toBeNull();
    }
  });
});

describe('exported private keys', () => {
  const secret = fromHex('12b004fff7f4b69ef8650e767f18f11ede158148b425660723b9f9a66e61f747');

  it('have the known forms', () => {
    for (const [compressed, text, address] of [
      [false, 'wa5HjniP9uB4WhuPvEqZ2iPaKeLiartbkozAkVeGEawAiGczAo', 'bbz7XaohRQwxZE9bPECfXs1HGcEdVP9ozp'],
      [true, '59ryvsrmenHHQW7YG9z5JNZge5Hp2YTCkQNPL2yRUExn5Nhw8bmC', 'baXaZ3DNJiZoB39GPBm9WEmBMQKQd42jZe'],
    ] as const) {
      expect(encodeSecret(secret, compressed, MAIN)).toBe(text);
      const decoded = decodeSecret(text, MAIN)!;
      expect(decoded.compressed).toBe(compressed);
      expect(toHex(decoded.privateKey)).toBe(toHex(secret));
      const hash = hash160(ecdsaBackend().publicKeyOf(decoded.privateKey, compressed));
      expect(encodeDestination({ type: 'pubkeyhash', hash }, MAIN)).toBe(address);
      expect(decodeSecret(text, TEST)).toBeNull();
      expect(decodeDestination(text, MAIN)).toBeNull();
    }
  });

  it('are refused with another length, suffix or number', () => {
    const encode = (...parts: Buffer[]): string =>
      encodeBase58Check(Buffer.concat([Buffer.of(MAIN.secretKey), ...parts]));
    expect(decodeSecret(encode(secret), MAIN)).not.toBeNull();
    for (const bad of [
      encode(secret.subarray(1)),
      encode(secret, Buffer.of(0)),
      encode(secret, Buffer.of(2)),
      encode(secret, Buffer.of(1, 1)),
      encode(Buffer.alloc(32)),
      encode(Buffer.alloc(32, 0xff)),
      encode(),
      '',
    ]) {
      expect(decodeSecret(bad, MAIN), bad).toBeNull();
    }
  });
});
