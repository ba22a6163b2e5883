import { describe, expect, it } from 'vitest';
import { hash160, sha256, sha256d, sha256dFallback } from '../../src/crypto/hash.js';
import { merklePathFallback, merkleRoot } from '../../src/crypto/merkle.js';
import { powHash } from '../../src/primitives/header.js';
import { Random, addon, native } from './support.js';

describe.skipIf(!native)('native hashing against the fallbacks', () => {
  it('hashes every length across three blocks alike', () => {
    const random = new Random(1);
    for (let length = 0; length < 200; length++) {
      const data = random.bytes(length);
      expect(addon().sha256(data).equals(sha256(data))).toBe(true);
      expect(addon().sha256d(data)).toEqual(sha256dFallback(data));
      expect(sha256d(data)).toEqual(sha256dFallback(data));
      expect(addon().hash160(data).equals(hash160(data))).toBe(true);
    }
    const long = random.bytes(100_003);
    expect(addon().sha256d(long)).toEqual(sha256dFallback(long));
    const target = Buffer.alloc(32);
    expect(addon().sha256d(long, target)).toBe(target);
    expect(target).toEqual(sha256dFallback(long));
    expect(() => addon().sha256d(long, Buffer.alloc(31))).toThrow(TypeError);
  });

  it('hashes many items of 64 bytes in one call', () => {
    const items = new Random(2).bytes(64 * 33);
    const expected = Array.from({ length: 33 }, (_, i) =>
      sha256dFallback(items.subarray(64 * i, 64 * i + 64)),
    );
    expect(addon().sha256dMany(items).equals(Buffer.concat(expected))).toBe(true);
    expect(addon().sha256dMany(Buffer.alloc(0)).length).toBe(0);
    expect(() => addon().sha256dMany(Buffer.alloc(63))).toThrow(TypeError);
  });

  it('computes the proof-of-work hash alike', () => {
    const random = new Random(3);
    for (let i = 0; i < 100; i++) {
      const header = random.bytes(112);
      expect(addon().powHash(header).equals(powHash(header))).toBe(true);
    }
    expect(() => addon().powHash(Buffer.alloc(111))).toThrow(TypeError);
  });

  it('computes merkle roots and detects mutations alike', () => {
    const random = new Random(4);
    for (let count = 0; count < 70; count++) {
      const leaves = Array.from({ length: count }, () => random.bytes(32));
      if (count > 1 && random.chance(2)) {
        const at = random.below(count - 1);
        leaves[at + 1] = leaves[at]!;
      }
      if (count > 4 && random.chance(3)) leaves.push(...leaves.slice(-2));
      const flat = Buffer.concat(leaves);
      const before = Buffer.from(flat);
      const { root, mutated } = addon().merkleRoot(flat);
      const fallback = merkleRoot(leaves);
      expect(root.equals(fallback.root)).toBe(true);
      expect(mutated).toBe(fallback.mutated);
      expect(flat.equals(before)).toBe(true);
    }
  });

  it('computes the same merkle path', () => {
    const random = new Random(6);
    for (let count = 1; count <= 70; count++) {
      const leaves = random.bytes(32 * count);
      const before = Buffer.from(leaves);
      for (const index of [0, count >> 1, count - 1]) {
        const [path, fallback] = [Buffer.alloc(32 * 8), Buffer.alloc(32 * 8)];
        const levels = addon().merklePath(leaves, index, path);
        expect([levels, path]).toEqual([merklePathFallback(leaves, index, fallback), fallback]);
      }
      expect(leaves.equals(before)).toBe(true);
    }
    expect(() => addon().merklePath(Buffer.alloc(64), 2, Buffer.alloc(64))).toThrow(TypeError);
    expect(() => addon().merklePath(Buffer.alloc(96), 0, Buffer.alloc(32))).toThrow(TypeError);
  });

  it('finds the first nonce that meets the target', () => {
    const random = new Random(5);
    const target = Buffer.alloc(32, 0xff);
    target[31] = 0x1f;
    for (let i = 0; i < 20; i++) {
      const header = random.bytes(112);
      const start = random.below(1 << 30);
      const found = addon().grind(header, target, start, 200);
      let expected = -1;
      for (let nonce = start; nonce < start + 200 && expected < 0; nonce++) {
        header.writeUInt32LE(nonce, 108);
        if (Buffer.from(powHash(header)).reverse().compare(Buffer.from(target).reverse()) <= 0)
          expected = nonce;
      }
      expect(found).toBe(expected);
    }
    expect(addon().grind(random.bytes(112), Buffer.alloc(32), 0, 50)).toBe(-1);
    // The search ends at the last nonce.
    expect(addon().grind(random.bytes(112), Buffer.alloc(32), 0xfffffff0, 1000)).toBe(-1);
  });
});
