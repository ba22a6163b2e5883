import { describe, expect, it } from 'vitest';
import { bindingEcdsa, type EcdsaBackend } from '../../src/crypto/ecdsa.js';
import { formatDer } from '../../src/crypto/ecdsaEncoding.js';
import { fallbackEcdsa } from '../../src/crypto/ecdsaFallback.js';
import { Random, addon, mutate, native } from './support.js';

const ORDER = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex');

const toBytes = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
const toNumber = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
const N = toNumber(ORDER);
const modulo = (value: bigint): bigint => ((value % N) + N) % N;

/** ORDER minus a 32-byte number. */
const negate = (scalar: Uint8Array): Buffer => toBytes(N - toNumber(scalar));

/** By Fermat's theorem. */
function inverse(value: bigint): bigint {
  let [result, base] = [1n, modulo(value)];
  for (let exponent = N - 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = modulo(result * base);
    base = modulo(base * base);
  }
  return result;
}

describe.skipIf(!native)('native curve operations against the other backends', () => {
  const reference: EcdsaBackend = bindingEcdsa ?? fallbackEcdsa;

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
    const special = [1n, 2n, 3n, N / 2n, N / 2n - 1n, N / 3n];
    special.push((1n << 128n) - 1n, (1n << 254n) + 1n, N - (1n << 255n));
    for (let bit = 2n; bit < 255n; bit++) special.push(1n << bit, (1n << bit) - 1n);
    const key = random.bytes(32);
    const nonce = random.bytes(32);
    const publicKey = ecdsa.publicKeyOf(key, true);
    const r = toNumber(ecdsa.publicKeyOf(nonce, true).subarray(1)) % N;
    for (const s of special) {
      // s = (hash + r key) / nonce, solved for the hash.
      const hash = modulo(s * toNumber(nonce) - r * toNumber(key));
      for (const signed of [s, N - s]) {
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

  describe('with a key that comes up again and again, whose multiples are prepared', () => {
    const { ecdsa } = native ?? {};
    /** Past the signature cache, and one at a time: not side by side. */
    const verify = (hash: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean =>
      ecdsa!.verifyMany([{ hash, signature, publicKey }])[0] !== 0;

    it('answers alike whatever it multiplies the generator and the key by', () => {
      const random = new Random(103);
      // Corners of the digits, of the spans of 32 bits and of the order: there the sums meet themselves and their negatives.
      const scalars = [1n, 2n, 15n, 16n, 17n, 31n, 33n, 511n, 513n, N / 2n, N / 2n + 1n, N / 3n];
      for (const bit of [31n, 32n, 33n, 64n, 128n, 223n, 224n, 255n])
        scalars.push(1n << bit, (1n << bit) - 1n, (1n << bit) + 1n);
      scalars.push(...scalars.map((scalar) => N - scalar), toNumber(random.bytes(32)) % N);
      const privateKeys = [1n, 2n, 3n, N - 1n, N - 2n, 1n << 32n, N - (1n << 224n), N / 2n];
      privateKeys.push(toNumber(random.bytes(32)) % N);
      let infinite = 0;
      for (const privateKey of privateKeys) {
        const publicKey = ecdsa!.publicKeyOf(toBytes(privateKey), true);
        for (const keyScalar of scalars) {
          const unit = inverse(keyScalar);
          const generatorScalars = [0n, keyScalar, N - modulo(keyScalar * privateKey), random.pick(scalars)];
          for (const generatorScalar of [...generatorScalars, random.pick(scalars), random.pick(scalars)]) {
            const sum = modulo(generatorScalar + keyScalar * privateKey);
            if (sum === 0n) infinite++;
            // R is the x of the sum; where there is none, of what was last added to it, and the signature is not valid.
            const point = sum === 0n ? modulo(keyScalar * privateKey) : sum;
            const r = toNumber(ecdsa!.publicKeyOf(toBytes(point), true).subarray(1)) % N;
            const s = modulo(r * unit);
            const hash = toBytes(modulo(generatorScalar * s));
            const what = `${privateKey}: ${generatorScalar} and ${keyScalar}`;
            const signature = formatDer(Buffer.concat([toBytes(r), toBytes(s)]));
            expect(verify(hash, signature, publicKey), what).toBe(sum !== 0n);
            expect(reference.verify(hash, signature, publicKey), what).toBe(sum !== 0n);
            const other = formatDer(Buffer.concat([toBytes(modulo(r + 1n)), toBytes(s)]));
            expect(verify(hash, other, publicKey), what).toBe(reference.verify(hash, other, publicKey));
          }
        }
      }
      expect(infinite).toBeGreaterThan(400);
    });

    /** Asks often enough for the multiples, and the other backend too. */
    const expectAlways = (
      valid: boolean,
      hash: bigint,
      r: bigint,
      s: bigint,
      publicKey: Uint8Array,
    ): void => {
      const signature = formatDer(Buffer.concat([toBytes(r), toBytes(s)]));
      expect(reference.verify(toBytes(hash), signature, publicKey)).toBe(valid);
      for (let again = 0; again < 12; again++)
        expect(verify(toBytes(hash), signature, publicKey), `R ${r}, S ${s}`).toBe(valid);
    };

    it('takes an x that was beyond the order, and no R or S beyond it', () => {
      const random = new Random(104);
      const P = (1n << 256n) - (1n << 32n) - 977n;
      for (const isBeyond of [false, true]) {
        let found = 0;
        for (let r = 1n; found < 5; r++) {
          const [hash, s] = [toNumber(random.bytes(32)) % N, BigInt(1 + random.below(1000))];
          // Bit 1 of the id says that the point's x is R plus the order.
          const id = (isBeyond ? 2 : 0) + random.below(2);
          const publicKey = ecdsa!.recover(toBytes(hash), Buffer.concat([toBytes(r), toBytes(s)]), id, true);
          if (!publicKey) continue;
          found++;
          expectAlways(true, hash, r, s, publicKey);
          expectAlways(false, hash ^ 1n, r, s, publicKey);
          expectAlways(false, hash, r + N, s, publicKey);
          expectAlways(false, hash, r, s + N, publicKey);
          if (isBeyond) continue;
          // The same point, and an R that leads to its x only past the modulus of the field: the reverse of the first case.
          const past = r + P - N;
          const factor = modulo(past * inverse(r));
          expectAlways(false, modulo(hash * factor), past, modulo(s * factor), publicKey);
        }
      }
    });

    it('answers alike for good, high, lax and damaged signatures', () => {
      const random = new Random(105);
      let valid = 0;
      for (let k = 0; k < 20; k++) {
        const key = random.bytes(32);
        const publicKey = ecdsa!.publicKeyOf(key, true);
        for (let i = 0; i < 100; i++) {
          const hash = random.bytes(32);
          const { compact } = ecdsa!.sign(hash, key, null);
          if (random.chance(3)) compact.set(negate(compact.subarray(32)), 32);
          if (random.chance(6))
            compact.set(random.pick([ORDER, Buffer.alloc(32), Buffer.alloc(32, 0xff)]), 32 * random.below(2));
          let der: Buffer = formatDer(compact);
          if (random.chance(4)) der = Buffer.concat([der, random.bytes(random.below(3))]);
          if (random.chance(3)) der = mutate(random, der);
          const expected = reference.verify(hash, der, publicKey);
          expect(verify(hash, der, publicKey)).toBe(expected);
          if (expected) valid++;
        }
      }
      expect(valid).toBeGreaterThan(800);
      expect(valid).toBeLessThan(1800);
    });
  });
});
