import { describe, expect, it } from 'vitest';
import { bindingEcdsa, type EcdsaBackend } from '../../src/crypto/ecdsa.js';
import { formatDer } from '../../src/crypto/ecdsaEncoding.js';
import { twinEcdsa } from '../../src/crypto/ecdsaTwin.js';
import { Random, addon, mutate, native } from './support.js';

const ORDER = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex');

/** ORDER minus a 32-byte number. */
function negate(scalar: Uint8Array): Buffer {
  const value = BigInt(`0x${ORDER.toString('hex')}`) - BigInt(`0x${Buffer.from(scalar).toString('hex')}`);
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
}

describe.skipIf(!native)('native curve operations against the other backends', () => {
  const reference: EcdsaBackend = bindingEcdsa ?? twinEcdsa;

  it('makes the same keys, signatures and recoveries', () => {
    const random = new Random(100);
    const ecdsa: EcdsaBackend = addon().ecdsa;
    for (let i = 0; i < 60; i++) {
      const key = random.bytes(32);
      const hash = random.bytes(32);
      const entropy = random.chance(2) ? random.bytes(32) : null;
      for (const compressed of [true, false]) {
        const publicKey = ecdsa.publicKeyOf(key, compressed);
        expect(publicKey).toEqual(reference.publicKeyOf(key, compressed));
        expect(ecdsa.convertPublicKey(publicKey, !compressed)).toEqual(
          reference.convertPublicKey(publicKey, !compressed),
        );
      }
      const signature = ecdsa.sign(hash, key, entropy);
      const expected = reference.sign(hash, key, entropy);
      expect(Buffer.compare(signature.compact, expected.compact)).toBe(0);
      expect(signature.recoveryId).toBe(expected.recoveryId);
      const recovered = ecdsa.recover(hash, signature.compact, signature.recoveryId, true);
      expect(recovered).toEqual(ecdsa.publicKeyOf(key, true));
      const id = random.below(4);
      expect(ecdsa.recover(hash, signature.compact, id, false)).toEqual(
        reference.recover(hash, signature.compact, id, false),
      );
      const tweak = random.bytes(32);
      expect(ecdsa.tweakPrivateKey(key, tweak)).toEqual(reference.tweakPrivateKey(key, tweak));
      const publicKey = ecdsa.publicKeyOf(key, true);
      expect(ecdsa.tweakPublicKey(publicKey, tweak)).toEqual(reference.tweakPublicKey(publicKey, tweak));
    }
  });

  it('refuses scalars out of range', () => {
    const { ecdsa } = addon();
    const key = Buffer.alloc(32, 7);
    for (const bad of [Buffer.alloc(32), ORDER, Buffer.alloc(32, 0xff)]) {
      expect(() => ecdsa.publicKeyOf(bad, true)).toThrow();
      expect(() => ecdsa.sign(key, bad, null)).toThrow();
    }
    expect(ecdsa.tweakPrivateKey(key, ORDER)).toBeNull();
    expect(ecdsa.tweakPrivateKey(key, negate(key))).toBeNull();
    expect(ecdsa.tweakPublicKey(ecdsa.publicKeyOf(key, true), negate(key))).toBeNull();
    expect(ecdsa.recover(key, Buffer.alloc(64), 0, true)).toBeNull();
    expect(() => ecdsa.recover(key, Buffer.alloc(64), 4, true)).toThrow(TypeError);
    expect(() => ecdsa.verify(Buffer.alloc(31), Buffer.alloc(70), key)).toThrow(TypeError);
  });

  it('verifies signatures whose S is a special number', () => {
    // The bundled library is compiled with an inverse of its own for S: aim at its corners.
    const random = new Random(102);
    const { ecdsa } = addon();
    const n = BigInt(`0x${ORDER.toString('hex')}`);
    const toBytes = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
    const toNumber = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
    const special = [
      1n,
      2n,
      3n,
      n / 2n,
      n / 2n - 1n,
      n / 3n,
      (1n << 128n) - 1n,
      (1n << 254n) + 1n,
      n - (1n << 255n),
    ];
    for (let bit = 2n; bit < 255n; bit++) special.push(1n << bit, (1n << bit) - 1n);
    const key = random.bytes(32);
    const nonce = random.bytes(32);
    const publicKey = ecdsa.publicKeyOf(key, true);
    const r = toNumber(ecdsa.publicKeyOf(nonce, true).subarray(1)) % n;
    for (const s of special) {
      // s = (hash + r key) / nonce, solved for the hash.
      const hash = (((s * toNumber(nonce) - r * toNumber(key)) % n) + n) % n;
      for (const signed of [s, n - s]) {
        const der = formatDer(Buffer.concat([toBytes(r), toBytes(signed)]));
        expect(ecdsa.verify(toBytes(hash), der, publicKey)).toBe(true);
        expect(ecdsa.verify(toBytes(hash ^ 1n), der, publicKey)).toBe(false);
      }
    }
  });

  it('verifies good, high, hybrid, lax and damaged signatures alike', () => {
    const random = new Random(101);
    const { ecdsa } = addon();
    let valid = 0;
    for (let i = 0; i < 1500; i++) {
      const key = random.bytes(32);
      const hash = random.bytes(32);
      let publicKey = ecdsa.publicKeyOf(key, random.chance(2));
      if (publicKey.length === 65 && random.chance(2)) {
        publicKey = Buffer.from(publicKey);
        publicKey[0] = random.chance(3) ? 6 + random.below(2) : 6 + (publicKey[64]! & 1);
      }
      const { compact } = ecdsa.sign(hash, key, null);
      if (random.chance(3)) compact.set(negate(compact.subarray(32)), 32);
      if (random.chance(10))
        compact.set(random.pick([ORDER, Buffer.alloc(32), Buffer.alloc(32, 0xff)]), 32 * random.below(2));
      let der = formatDer(compact);
      if (random.chance(4)) der = Buffer.concat([der, random.bytes(random.below(3))]);
      if (random.chance(4)) {
        // The length in the long form, with leading zeros.
        const zeros = Buffer.alloc(random.below(3));
        der = Buffer.concat([Buffer.of(0x30, 0x81 + zeros.length), zeros, der.subarray(1)]);
      }
      if (random.chance(4)) {
        const r = der.indexOf(0x02, 2);
        der = Buffer.concat([
          der.subarray(0, r + 1),
          Buffer.of(0x82, 0, der[r + 1]! + 1, 0),
          der.subarray(r + 2),
        ]);
      }
      if (random.chance(3)) der = mutate(random, der);
      if (random.chance(10)) publicKey = mutate(random, publicKey);
      const expected = reference.verify(hash, der, publicKey);
      // Twice: the second answer may come from the signature cache.
      expect(ecdsa.verify(hash, der, publicKey)).toBe(expected);
      expect(ecdsa.verify(hash, der, publicKey)).toBe(expected);
      expect(ecdsa.isFullyValidPublicKey(publicKey)).toBe(reference.isFullyValidPublicKey(publicKey));
      if (expected) valid++;
    }
    expect(valid).toBeGreaterThan(300);
    expect(valid).toBeLessThan(1400);
  });
});
