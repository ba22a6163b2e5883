import { describe, expect, it } from 'vitest';
import {
  ecdsaBackend,
  generatePrivateKey,
  recoverPublicKey,
  signHash,
  signRecoverable,
  type EcdsaBackend,
} from '../../../src/crypto/ecdsa.js';
import {
  formatDer,
  hasPublicKeySize,
  isLowS,
  isValidPrivateKey,
  normalizeS,
  parseDerLax,
} from '../../../src/crypto/ecdsaEncoding.js';
import { fallbackEcdsa } from '../../../src/crypto/ecdsaFallback.js';
import { sha256, sha256d } from '../../../src/crypto/hash.js';
import { loadNative } from '../../../src/native/binding.js';
import { fromHex, toHex } from '../../../src/util/bytes.js';

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

function scalar(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
}

function toBigInt(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`);
}

function compactOf(der: Buffer): Buffer {
  const compact = Buffer.alloc(64);
  expect(parseDerLax(der, compact)).toBe(true);
  return compact;
}

/** A DER signature with these integers, optionally with a long length or trailing bytes. */
function der(r: Buffer, s: Buffer, options: { longLength?: boolean; trailing?: Buffer } = {}): Buffer {
  const integer = (bytes: Buffer): Buffer =>
    Buffer.concat([
      options.longLength ? Buffer.of(2, 0x82, 0, bytes.length) : Buffer.of(2, bytes.length),
      bytes,
    ]);
  const body = Buffer.concat([integer(r), integer(s)]);
  return Buffer.concat([Buffer.of(0x30, body.length), body, options.trailing ?? Buffer.alloc(0)]);
}

const KEY_ONE = scalar(1n);
const KEY_A = fromHex('12b004fff7f4b69ef8650e767f18f11ede158148b425660723b9f9a66e61f747');
const KEY_B = fromHex('b524c28b61c9b2c49b2c7dd4c2d75887abb78768c054bd7c01af4029f6c0d117');
const HASH = sha256d(Buffer.from('Very deterministic message'));

const addon: EcdsaBackend | null = loadNative()?.ecdsa ?? null;
const BACKENDS: [string, EcdsaBackend][] = [['@noble/secp256k1', fallbackEcdsa]];
if (addon !== null) BACKENDS.push(['addon', addon]);
else console.log('the addon does not load here: its tests are skipped');

/** A hybrid key: 6 or 7 says whether Y is odd. */
function hybrid(uncompressed: Buffer, honest: boolean): Buffer {
  const key = Buffer.from(uncompressed);
  key[0] = 6 | (key[64]! & 1);
  if (!honest) key[0] ^= 1;
  return key;
}

describe.each(BACKENDS)('ECDSA by the %s', (_name, ecdsa) => {
  it('derives public keys in both forms', () => {
    expect(toHex(ecdsa.publicKeyOf(KEY_ONE, true))).toBe(
      '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
    );
    expect(toHex(ecdsa.publicKeyOf(KEY_ONE, false))).toBe(
      '0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798' +
        '483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8',
    );
  });

  it('signs like the reference: deterministic, low S, low R', () => {
    expect(toHex(signHash(HASH, KEY_A, true, ecdsa))).toBe(
      '304402205dbbddda71772d95ce91cd2d14b592cfbc1dd0aabd6a394b6c2d377bbe59d31d' +
        '022014ddda21494a4e221f0824f0b8b924c43fa43c0ad57dccdaa11f81a6bd4582f6',
    );
    expect(toHex(signHash(HASH, KEY_B, true, ecdsa))).toBe(
      '3044022052d8a32079c11e79db95af63bb9600c5b04f21a9ca33dc129c2bfa8ac9dc1cd5' +
        '022061d8ae5e0f6c1a16bde3719c64c2fd70e404b6428ab9a69566962e8771b5944d',
    );
    const hash = sha256(Buffer.from('Satoshi Nakamoto'));
    expect(toHex(signHash(hash, KEY_ONE, false, ecdsa))).toBe(
      '3045022100934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8' +
        '02202442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5',
    );
    expect(toHex(signHash(hash, KEY_ONE, true, ecdsa))).toBe(
      '304402203311d51d1326e30774b2fb1fbfd5e199ebccb43be1db2ce41051eb2d75e4b68f' +
        '022044d2ea67486df31a242363de1f835d583620fea148ee422c8c80b904b53f5ac3',
    );
  });

  it('signs recoverably like the reference and recovers the key', () => {
    const body =
      '5dbbddda71772d95ce91cd2d14b592cfbc1dd0aabd6a394b6c2d377bbe59d31d' +
      '14ddda21494a4e221f0824f0b8b924c43fa43c0ad57dccdaa11f81a6bd4582f6';
    for (const compressed of [true, false]) {
      const signature = signRecoverable(HASH, KEY_A, compressed, ecdsa);
      expect(toHex(signature)).toBe((compressed ? '20' : '1c') + body);
      const key = recoverPublicKey(HASH, signature, ecdsa);
      expect(key && toHex(key)).toBe(toHex(ecdsa.publicKeyOf(KEY_A, compressed)));
    }
  });

  it('recovers nothing from signatures that no key can have produced', () => {
    const good = signRecoverable(HASH, KEY_A, true, ecdsa);
    expect(recoverPublicKey(HASH, good.subarray(0, 64), ecdsa)).toBeNull();
    expect(recoverPublicKey(HASH, Buffer.concat([good, Buffer.of(0)]), ecdsa)).toBeNull();
    const zeroR = Buffer.from(good);
    zeroR.fill(0, 1, 33);
    expect(recoverPublicKey(HASH, zeroR, ecdsa)).toBeNull();
    const largeS = Buffer.from(good);
    largeS.fill(0xff, 33, 65);
    expect(recoverPublicKey(HASH, largeS, ecdsa)).toBeNull();
    const wrongId = Buffer.from(good);
    wrongId[0] = 31 + 2;
    expect(recoverPublicKey(HASH, wrongId, ecdsa)).toBeNull();
  });

  it('accepts compressed, uncompressed and valid hybrid keys', () => {
    const signature = signHash(HASH, KEY_A, true, ecdsa);
    const compressed = ecdsa.publicKeyOf(KEY_A, true);
    const full = ecdsa.publicKeyOf(KEY_A, false);
    for (const key of [compressed, full, hybrid(full, true)]) {
      expect(ecdsa.isFullyValidPublicKey(key)).toBe(true);
      expect(ecdsa.verify(HASH, signature, key)).toBe(true);
      expect(toHex(ecdsa.convertPublicKey(key, true)!)).toBe(toHex(compressed));
      expect(toHex(ecdsa.convertPublicKey(key, false)!)).toBe(toHex(full));
    }
  });

  it('accepts no other encoding of a key', () => {
    const signature = signHash(HASH, KEY_A, true, ecdsa);
    const compressed = ecdsa.publicKeyOf(KEY_A, true);
    const full = ecdsa.publicKeyOf(KEY_A, false);
    const offCurve = Buffer.from(full);
    offCurve[64]! ^= 1;
    const noPoint = Buffer.concat([Buffer.of(2), scalar(5n)]);
    const beyondField = Buffer.concat([Buffer.of(2), Buffer.alloc(32, 0xff)]);
    const bad = [
      hybrid(full, false),
      offCurve,
      noPoint,
      beyondField,
      Buffer.alloc(0),
      Buffer.of(0),
      full.subarray(0, 64),
      compressed.subarray(0, 32),
      Buffer.concat([compressed, Buffer.of(0)]),
      Buffer.concat([Buffer.of(5), compressed.subarray(1)]),
    ];
    for (const key of bad) {
      expect(ecdsa.isFullyValidPublicKey(key), toHex(key)).toBe(false);
      expect(ecdsa.verify(HASH, signature, key), toHex(key)).toBe(false);
      expect(ecdsa.convertPublicKey(key, true), toHex(key)).toBeNull();
    }
  });

  it('verifies high S and lenient DER', () => {
    const key = ecdsa.publicKeyOf(KEY_A, true);
    const compact = compactOf(signHash(HASH, KEY_A, true, ecdsa));
    const r = compact.subarray(0, 32);
    const s = compact.subarray(32);
    const highS = scalar(ORDER - toBigInt(s));
    const zeros = Buffer.alloc(20);
    for (const signature of [
      der(r, s),
      der(r, highS),
      der(Buffer.concat([zeros, r]), Buffer.concat([zeros, s])),
      der(r, s, { longLength: true }),
      der(r, s, { trailing: Buffer.of(1, 2, 3) }),
      Buffer.concat([Buffer.of(0x30, 0x84, 9, 9, 9, 9), der(r, s).subarray(2)]),
      Buffer.concat([Buffer.of(0x30, 0), der(r, s).subarray(2)]),
    ]) {
      expect(ecdsa.verify(HASH, signature, key), toHex(signature)).toBe(true);
    }
  });

  it('refuses other signatures', () => {
    const key = ecdsa.publicKeyOf(KEY_A, true);
    const good = signHash(HASH, KEY_A, true, ecdsa);
    const compact = compactOf(good);
    const r = compact.subarray(0, 32);
    const s = compact.subarray(32);
    for (const signature of [
      Buffer.alloc(0),
      Buffer.of(0x30),
      good.subarray(0, good.length - 1),
      Buffer.concat([Buffer.of(0x31), good.subarray(1)]),
      der(Buffer.alloc(0), Buffer.alloc(0)),
      der(scalar(0n), s),
      der(r, scalar(0n)),
      der(scalar(ORDER), s),
      der(r, scalar(ORDER)),
      der(Buffer.concat([Buffer.of(1), r]), s),
      der(s, r),
    ]) {
      expect(ecdsa.verify(HASH, signature, key), toHex(signature)).toBe(false);
    }
    expect(ecdsa.verify(sha256(HASH), good, key)).toBe(false);
    expect(ecdsa.verify(HASH, good, ecdsa.publicKeyOf(KEY_B, true))).toBe(false);
  });

  it('adds tweaks to private and public keys with matching results', () => {
    const tweak = sha256(Buffer.from('tweak'));
    const child = ecdsa.tweakPrivateKey(KEY_A, tweak)!;
    expect(toBigInt(child)).toBe((toBigInt(KEY_A) + toBigInt(tweak)) % ORDER);
    const childPublic = ecdsa.tweakPublicKey(ecdsa.publicKeyOf(KEY_A, true), tweak)!;
    expect(toHex(childPublic)).toBe(toHex(ecdsa.publicKeyOf(child, true)));
    expect(toHex(ecdsa.tweakPrivateKey(KEY_A, scalar(0n))!)).toBe(toHex(KEY_A));
    const negated = scalar(ORDER - toBigInt(KEY_A));
    for (const out of [scalar(ORDER), negated]) {
      expect(ecdsa.tweakPrivateKey(KEY_A, out)).toBeNull();
      expect(ecdsa.tweakPublicKey(ecdsa.publicKeyOf(KEY_A, true), out)).toBeNull();
    }
    expect(toHex(KEY_A).startsWith('12b004ff')).toBe(true);
  });

  it('treats a hash of another length as a bug, not as an invalid signature', () => {
    const key = ecdsa.publicKeyOf(KEY_A, true);
    expect(() => ecdsa.verify(HASH.subarray(1), signHash(HASH, KEY_A), key)).toThrow('32 bytes');
  });
});

describe('signature encoding', () => {
  it('distinguishes low S from high S at the limit', () => {
    const half = ORDER / 2n;
    for (const [s, low] of [
      [1n, true],
      [half, true],
      [half + 1n, false],
      [ORDER - 1n, false],
    ] as const) {
      const signature = formatDer(Buffer.concat([scalar(1n), scalar(s)]));
      expect(isLowS(signature)).toBe(low);
      const compact = compactOf(signature);
      normalizeS(compact);
      expect(toBigInt(compact.subarray(32))).toBe(low ? s : ORDER - s);
    }
  });

  it('treats an out-of-range signature as low, and an unparsable one as not low', () => {
    expect(isLowS(der(scalar(ORDER), scalar(ORDER - 1n)))).toBe(true);
    expect(isLowS(der(scalar(1n), scalar(ORDER)))).toBe(true);
    expect(isLowS(Buffer.of(0x30, 0))).toBe(false);
    expect(isLowS(Buffer.alloc(0))).toBe(false);
  });

  it('refuses lengths beyond the end', () => {
    const out = Buffer.alloc(64);
    for (const hex of [
      '3006020101',
      '300602010102',
      '30060201010201',
      '3006020101028101',
      '3081',
      '30850201',
      '300602840000000102',
    ]) {
      expect(parseDerLax(fromHex(hex), out), hex).toBe(false);
    }
    expect(parseDerLax(fromHex('300602840000000101020101'), out)).toBe(true);
    expect(parseDerLax(fromHex('30060285000000000101020101'), out)).toBe(true);
    expect(parseDerLax(fromHex('30060284010000000101020101'), out)).toBe(false);
    expect(toHex(out.subarray(0, 32))).toBe('00'.repeat(32));
  });

  it('formats the shortest DER', () => {
    expect(toHex(formatDer(Buffer.concat([scalar(1n), scalar(0x80n)])))).toBe('300702010102020080');
    expect(toHex(formatDer(Buffer.concat([scalar(0n), scalar(0x7fn)])))).toBe('300602010002017f');
  });

  it('determines the size of a key by its first byte', () => {
    for (const [head, size] of [
      [2, 33],
      [3, 33],
      [4, 65],
      [6, 65],
      [7, 65],
    ] as const) {
      const key = Buffer.alloc(size);
      key[0] = head;
      expect(hasPublicKeySize(key)).toBe(true);
      expect(hasPublicKeySize(key.subarray(0, size - 1))).toBe(false);
    }
    for (const head of [0, 1, 5, 8, 0xff]) {
      const key = Buffer.alloc(65);
      key[0] = head;
      expect(hasPublicKeySize(key)).toBe(false);
    }
  });
});

describe('private keys', () => {
  it('are 1 to the order minus 1', () => {
    for (const [value, valid] of [
      [0n, false],
      [1n, true],
      [ORDER - 1n, true],
      [ORDER, false],
    ] as const) {
      expect(isValidPrivateKey(scalar(value))).toBe(valid);
    }
    expect(isValidPrivateKey(Buffer.alloc(31, 1))).toBe(false);
  });

  it('are valid and different when generated', () => {
    const one = generatePrivateKey();
    expect(isValidPrivateKey(one)).toBe(true);
    expect(one.equals(generatePrivateKey())).toBe(false);
    expect(ecdsaBackend().verify(HASH, signHash(HASH, one), ecdsaBackend().publicKeyOf(one, true))).toBe(
      true,
    );
  });

  it('are shorter than 71 bytes with grinding', () => {
    let longest = 0;
    let longestUnground = 0;
    for (let i = 0; i < 64; i++) {
      const hash = sha256(Buffer.of(i));
      longest = Math.max(longest, signHash(hash, KEY_A).length);
      longestUnground = Math.max(longestUnground, signHash(hash, KEY_A, false).length);
    }
    expect(longest).toBe(70);
    expect(longestUnground).toBe(71);
  });
});
