/**
 * Signatures verified side by side against the backends that verify one at a time, aimed at what the lanes leave out: sums
 * of equal and opposite points, and the corners of scalars and keys. Without the instructions the same questions go to the
 * library, and only what is about lanes alone is skipped.
 */
import { describe, expect, it } from 'vitest';
import { bindingEcdsa, type EcdsaBackend } from '../../src/crypto/ecdsa.js';
import { formatDer } from '../../src/crypto/ecdsaEncoding.js';
import { fallbackEcdsa } from '../../src/crypto/ecdsaFallback.js';
import type { SignatureItem } from '../../src/native/binding.js';
import { Random, addon, mutate, native } from './support.js';

const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const P = 2n ** 256n - 0x1000003d1n;
/** Multiplying a point by it multiplies its x by a cube root of one. */
const LAMBDA = 0x5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72n;

const toBytes = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
const toNumber = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
const modN = (value: bigint): bigint => ((value % N) + N) % N;

function invert(value: bigint): bigint {
  let [a, b, x, y] = [modN(value), N, 1n, 0n];
  while (a > 0n) {
    const q = b / a;
    [a, b, x, y] = [b - q * a, a, y - q * x, x];
  }
  return modN(y);
}

/** An item whose verification computes u1 G + u2 Q and looks for x coordinate `r`. */
function itemFor(u1: bigint, u2: bigint, publicKey: Uint8Array, r: bigint): SignatureItem {
  const s = modN(r * invert(u2));
  const signature = formatDer(Buffer.concat([toBytes(r), toBytes(s)]));
  return { hash: toBytes(modN(u1 * s)), signature, publicKey };
}

const INVALID = 0;
const VALID = 1;
const VALID_IN_LANES = 2;

describe.skipIf(!native)('signatures verified side by side', () => {
  const reference: EcdsaBackend = bindingEcdsa ?? fallbackEcdsa;
  const hasLanes = native !== null && native.ecdsa.lanes > 0;

  /** Asks for all at once and holds each answer against the reference. */
  function answersTo(items: readonly SignatureItem[]): Buffer {
    const answers = addon().ecdsa.verifyMany(items);
    items.forEach(({ hash, signature, publicKey }, i) => {
      if ((answers[i] !== INVALID) !== reference.verify(hash, signature, publicKey)) {
        const shown = [hash, signature, publicKey].map((bytes) => Buffer.from(bytes).toString('hex'));
        expect.fail(`item ${i} is answered with ${answers[i]}: ${shown.join(' ')}`);
      }
    });
    return answers;
  }

  function signed(random: Random): SignatureItem {
    const key = random.bytes(32);
    const hash = random.bytes(32);
    const { compact } = addon().ecdsa.sign(hash, key, null);
    if (random.chance(3)) compact.set(toBytes(N - toNumber(compact.subarray(32))), 32);
    return {
      hash,
      signature: formatDer(compact),
      publicKey: addon().ecdsa.publicKeyOf(key, !random.chance(4)),
    };
  }

  it('answers any number of good ones, all in lanes but a last single one', () => {
    const random = new Random(300);
    for (let count = 0; count <= 35; count++) {
      const answers = answersTo(Array.from({ length: count }, () => signed(random)));
      const inLanes = hasLanes ? (count % 8 === 1 ? count - 1 : count) : 0;
      expect([...answers]).toEqual(
        Array.from({ length: count }, (_, i) => (i < inLanes ? VALID_IN_LANES : VALID)),
      );
    }
  });

  it('answers damaged ones like the reference, whatever stands beside them', () => {
    const random = new Random(301);
    let valid = 0;
    for (let round = 0; round < 150; round++) {
      const items = Array.from({ length: 2 + random.below(15) }, () => {
        const item = signed(random);
        const part = random.pick(['hash', 'signature', 'publicKey', null] as const);
        if (part !== null)
          item[part] = part === 'hash' ? random.bytes(32) : mutate(random, Buffer.from(item[part]));
        return item;
      });
      const answers = answersTo(items);
      valid += answers.filter((answer) => answer !== INVALID).length;
      if (hasLanes) expect(answers.includes(VALID)).toBe(items.length % 8 === 1 && answers.at(-1) === VALID);
    }
    expect(valid).toBeGreaterThan(200);
  });

  it('finds the right sum for scalars at the corners of digits, halves and order', () => {
    const random = new Random(302);
    const corners = [1n, 2n, N - 1n, N - 2n, N / 2n, N / 2n + 1n, LAMBDA, N - LAMBDA, LAMBDA + 1n];
    for (const bit of [3n, 4n, 7n, 8n, 63n, 64n, 65n, 127n, 128n, 129n, 191n, 255n]) {
      for (const offset of [-1n, 0n, 1n]) corners.push(modN((1n << bit) + offset));
    }
    const items: SignatureItem[] = [];
    for (const u1 of [0n, ...corners]) {
      for (let i = 0; i < 12; i++) {
        const u2 = random.pick(corners);
        const key = random.chance(2) ? toNumber(random.bytes(32)) % N : random.pick(corners);
        const sum = modN(u1 + u2 * key);
        if (sum === 0n || key === 0n) continue;
        const r = toNumber(reference.publicKeyOf(toBytes(sum), true).subarray(1)) % N;
        const publicKey = reference.publicKeyOf(toBytes(key), random.chance(2));
        items.push(itemFor(u1, u2, publicKey, r), itemFor(modN(u1 + 1n), u2, publicKey, r));
      }
    }
    const answers = answersTo(items);
    items.forEach((_, i) => expect(answers[i] === INVALID).toBe(i % 2 === 1));
    // Some of these lead through sums of equal or opposite points.
    if (hasLanes) expect(answers.includes(VALID)).toBe(true);
    if (hasLanes) expect(answers.filter((answer) => answer === VALID_IN_LANES).length).toBeGreaterThan(300);
  });

  it('accepts nothing where the sum is no point, or comes about by way of none', () => {
    const random = new Random(303);
    const items: SignatureItem[] = [];
    const keys = [
      1n,
      2n,
      8n,
      16n,
      127n,
      N - 1n,
      N - 8n,
      LAMBDA,
      N - LAMBDA,
      1n << 128n,
      toNumber(random.bytes(32)) % N,
    ];
    for (const key of keys) {
      const publicKey = reference.publicKeyOf(toBytes(key), true);
      for (const u2 of [1n, 2n, 8n, LAMBDA, N - 1n, 1n << 64n, toNumber(random.bytes(32)) % N]) {
        // Opposite: at infinity x is nothing, not even zero. Whatever is claimed of it must be refused.
        for (const r of [1n, 2n, 7n, N - 1n, toNumber(random.bytes(32)) % N])
          items.push(itemFor(modN(-u2 * key), u2, publicKey, r));
      }
    }
    expect(answersTo(items).every((answer) => answer === INVALID)).toBe(true);
  });

  it('leaves an x coordinate above the order to the library, which knows it', () => {
    const { ecdsa } = addon();
    const hash = new Random(304).bytes(32);
    const items: SignatureItem[] = [];
    // Keys for which R has the x coordinate r + n, which is less than p.
    for (let r = 1n; items.length < 8; r++) {
      const compact = Buffer.concat([toBytes(r), toBytes(12345n)]);
      const publicKey = ecdsa.recover(hash, compact, 2, true);
      if (publicKey) items.push({ hash, signature: formatDer(compact), publicKey });
    }
    expect([...answersTo(items)]).toEqual(items.map(() => VALID));
  });

  it('takes and refuses keys like the reference', () => {
    const random = new Random(305);
    const items: SignatureItem[] = [];
    const add = (publicKey: Buffer): void => {
      if (reference.isFullyValidPublicKey(publicKey)) {
        // With u2 = 1 the sum is the key plus u1 G, which the backends can compute for any point.
        const u1 = toNumber(random.bytes(32)) % N;
        const sum = reference.tweakPublicKey(publicKey, toBytes(u1))!;
        items.push(itemFor(u1, 1n, publicKey, toNumber(sum.subarray(1)) % N));
      } else {
        // The sum is the key itself: were it a point, of this curve or of another, the signature would be good.
        const x = modN(toNumber(Buffer.concat([Buffer.alloc(1), publicKey.subarray(1, 33)])));
        items.push(itemFor(0n, 1n, publicKey, x === 0n ? 1n : x));
      }
    };
    // Coordinates at the ends of the field, on the curve and off it; from p on they are none, whatever their remainder.
    for (let offset = 0n; offset < 40n; offset++) {
      for (const x of [offset, P - 1n - offset, P + offset, 2n ** 256n - 1n - offset, 1n << (offset * 6n)]) {
        for (const prefix of [2, 3]) add(Buffer.concat([Buffer.of(prefix), toBytes(x)]));
      }
    }
    for (let i = 0; i < 60; i++) {
      const whole = reference.publicKeyOf(random.bytes(32), false);
      for (const prefix of [4, 5, 6, 7]) add(Buffer.concat([Buffer.of(prefix), whole.subarray(1)]));
      const off = Buffer.from(whole);
      off[64]! ^= 1 + random.below(255);
      add(off);
      add(whole.subarray(0, 33));
      add(whole.subarray(0, random.below(65)));
    }
    const answers = answersTo(items);
    expect(answers.filter((answer) => answer !== INVALID).length).toBeGreaterThan(150);
    expect(answers.filter((answer) => answer === INVALID).length).toBeGreaterThan(150);
  });

  it('refuses R and S out of range', () => {
    const random = new Random(306);
    const items = Array.from({ length: 60 }, () => {
      const item = signed(random);
      const parts = [toNumber(random.bytes(32)) % N, toNumber(random.bytes(32)) % N];
      parts[random.below(2)] = random.pick([0n, N, N + 1n, 2n ** 256n - 1n]);
      return { ...item, signature: formatDer(Buffer.concat(parts.map(toBytes))) };
    });
    expect(answersTo(items).every((answer) => answer === INVALID)).toBe(true);
  });

  it('answers the same on other threads, several calls at a time, whatever becomes of the items', async () => {
    const random = new Random(308);
    const lists = [0, 1, 7, 64, 100].map((count) => Array.from({ length: count }, () => signed(random)));
    for (const items of lists) for (const item of items) if (random.chance(4)) item.hash[0]! ^= 1;
    const expected = lists.map((items) => addon().ecdsa.verifyMany(items));
    const asked = lists.map((items) => addon().ecdsa.verifyManyAside(items));
    for (const { hash, signature, publicKey } of lists.flat())
      for (const bytes of [hash, signature, publicKey]) bytes.fill(0);
    expect(await Promise.all(asked)).toEqual(expected);
    expect(new Set(expected.flatMap((answers) => [...answers])).size).toBeGreaterThan(1);
  });

  it('refuses what are no items', () => {
    const item = signed(new Random(307));
    const { ecdsa } = addon();
    expect(() => ecdsa.verifyManyAside([{} as SignatureItem])).toThrow(TypeError);
    expect(() => ecdsa.verifyMany([{ ...item, hash: Buffer.alloc(31) }])).toThrow(TypeError);
    expect(() => ecdsa.verifyMany([{} as SignatureItem])).toThrow(TypeError);
    expect(() => ecdsa.verifyMany(item as unknown as SignatureItem[])).toThrow(TypeError);
  });
});
