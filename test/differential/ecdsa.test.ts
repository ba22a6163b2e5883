import { describe, expect, it } from 'vitest';
import type { EcdsaBackend } from '../../src/crypto/ecdsa.js';
import { formatDer } from '../../src/crypto/ecdsaEncoding.js';
import { fallbackEcdsa } from '../../src/crypto/ecdsaFallback.js';
import { fuzz } from '../fuzz/support/campaign.js';
import { ORDER, ecdsaTarget, inverse, modulo, toBytes, toNumber } from '../fuzz/targets/ecdsa.js';
import { Random, addon, native } from './support.js';

/** The group order minus a 32-byte number. */
const negate = (scalar: Uint8Array): Buffer => toBytes(ORDER - toNumber(scalar));

describe.skipIf(!native)('native curve operations against the other backends', () => {
  const reference: EcdsaBackend = fallbackEcdsa;

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

  it('verifies with keys that share an x coordinate or a place of the key cache', () => {
    const random = new Random(101);
    const { ecdsa } = addon();
    const hash = random.bytes(32);
    const secret = random.bytes(32);
    const key = ecdsa.publicKeyOf(secret, true);
    const signature = formatDer(ecdsa.sign(hash, secret, null).compact);
    const opposite = ecdsa.publicKeyOf(negate(secret), true);
    expect(opposite.subarray(1)).toEqual(key.subarray(1));
    for (let i = 0; i < 3; i++) {
      expect(ecdsa.verify(hash, signature, opposite)).toBe(false);
      expect(ecdsa.verify(hash, signature, key)).toBe(true);
      // The first four bytes of the x coordinate select the place. Half of these keys are not on the curve.
      for (let n = 0; n < 8; n++) {
        const other = Buffer.concat([key.subarray(0, 5), Buffer.alloc(28, n + 8 * i)]);
        expect(ecdsa.verify(hash, signature, other)).toBe(reference.verify(hash, signature, other));
      }
    }
    expect(ecdsa.verify(hash, signature, key)).toBe(true);
  });

  it('refuses scalars out of range', () => {
    const { ecdsa } = addon();
    const key = Buffer.alloc(32, 7);
    for (const bad of [Buffer.alloc(32), toBytes(ORDER), Buffer.alloc(32, 0xff)]) {
      expect(() => ecdsa.publicKeyOf(bad, true)).toThrow();
      expect(() => ecdsa.sign(key, bad, null)).toThrow();
    }
    expect(ecdsa.tweakPrivateKey(key, toBytes(ORDER))).toBeNull();
    expect(ecdsa.tweakPrivateKey(key, negate(key))).toBeNull();
    expect(ecdsa.tweakPublicKey(ecdsa.publicKeyOf(key, true), negate(key))).toBeNull();
    expect(ecdsa.recover(key, Buffer.alloc(64), 0, true)).toBeNull();
    expect(() => ecdsa.recover(key, Buffer.alloc(64), 4, true)).toThrow(TypeError);
    expect(() => ecdsa.verify(Buffer.alloc(31), Buffer.alloc(70), key)).toThrow(TypeError);
  });

  it('verifies signatures with special values of S', () => {
    const random = new Random(102);
    const { ecdsa } = addon();
    const special = [1n, 2n, 3n, ORDER / 2n, ORDER / 2n - 1n, ORDER / 3n];
    special.push((1n << 128n) - 1n, (1n << 254n) + 1n, ORDER - (1n << 255n));
    for (let bit = 2n; bit < 255n; bit++) special.push(1n << bit, (1n << bit) - 1n);
    const key = random.bytes(32);
    const nonce = random.bytes(32);
    const publicKey = ecdsa.publicKeyOf(key, true);
    const r = toNumber(ecdsa.publicKeyOf(nonce, true).subarray(1)) % ORDER;
    for (const s of special) {
      // The equation s = (hash + r key) / nonce, solved for the hash.
      const hash = modulo(s * toNumber(nonce) - r * toNumber(key));
      for (const signed of [s, ORDER - s]) {
        const der = formatDer(Buffer.concat([toBytes(r), toBytes(signed)]));
        expect(ecdsa.verify(toBytes(hash), der, publicKey)).toBe(true);
        expect(ecdsa.verify(toBytes(hash ^ 1n), der, publicKey)).toBe(false);
      }
    }
  });

  it('verifies any signature alike', async () => {
    const { outcomes } = await fuzz(ecdsaTarget(addon().ecdsa), 300);
    expect(outcomes.get('valid')).toBeGreaterThan(80);
    expect(outcomes.get('invalid')).toBeGreaterThan(40);
  });

  it('accepts an x above the order for R, but no R or S above the order', () => {
    const random = new Random(104);
    const { ecdsa } = addon();
    const expectVerdict = (
      valid: boolean,
      hash: bigint,
      r: bigint,
      s: bigint,
      publicKey: Uint8Array,
    ): void => {
      const signature = formatDer(Buffer.concat([toBytes(r), toBytes(s)]));
      expect(reference.verify(toBytes(hash), signature, publicKey)).toBe(valid);
      expect(ecdsa.verify(toBytes(hash), signature, publicKey), `R ${r}, S ${s}`).toBe(valid);
    };
    const P = (1n << 256n) - (1n << 32n) - 977n;
    for (const isBeyond of [false, true]) {
      let found = 0;
      for (let r = 1n; found < 5; r++) {
        const [hash, s] = [toNumber(random.bytes(32)) % ORDER, BigInt(1 + random.below(1000))];
        // Bit 1 of the recovery id: the x coordinate of the point is R plus the group order.
        const id = (isBeyond ? 2 : 0) + random.below(2);
        const publicKey = ecdsa.recover(toBytes(hash), Buffer.concat([toBytes(r), toBytes(s)]), id, true);
        if (!publicKey) continue;
        found++;
        expectVerdict(true, hash, r, s, publicKey);
        expectVerdict(false, hash ^ 1n, r, s, publicKey);
        expectVerdict(false, hash, r + ORDER, s, publicKey);
        expectVerdict(false, hash, r, s + ORDER, publicKey);
        if (isBeyond) continue;
        // The reverse of the first case: an R that equals the x coordinate of the same point only modulo the field prime.
        const past = r + P - ORDER;
        const factor = modulo(past * inverse(r));
        expectVerdict(false, modulo(hash * factor), past, modulo(s * factor), publicKey);
      }
    }
  });
});
