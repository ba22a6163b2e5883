import { sha1 as nobleSha1, ripemd160 as nobleRipemd160 } from '@noble/hashes/legacy.js';
import { sha256 as nobleSha256, sha512 as nobleSha512 } from '@noble/hashes/sha2.js';
import { describe, expect, it } from 'vitest';
import { hash160, ripemd160, sha1, sha256, sha256d, sha256dPair, sha512 } from '../../../src/crypto/hash.js';
import { toHex } from '../../../src/util/bytes.js';

/** Bytes of any length. Neighbouring bytes differ. */
function sample(length: number, seed: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, i) => (i * 37 + seed * 101 + (i >> 3)) & 0xff));
}

describe('hash functions', () => {
  it('agree with their readable fallbacks on lengths around the block sizes', () => {
    for (const length of [0, 1, 31, 32, 55, 56, 63, 64, 65, 111, 112, 119, 128, 1000]) {
      const data = sample(length, length);
      expect(toHex(sha256(data))).toBe(toHex(nobleSha256(data)));
      expect(toHex(sha512(data))).toBe(toHex(nobleSha512(data)));
      expect(toHex(sha1(data))).toBe(toHex(nobleSha1(data)));
      expect(toHex(ripemd160(data))).toBe(toHex(nobleRipemd160(data)));
      expect(toHex(sha256d(data))).toBe(toHex(nobleSha256(nobleSha256(data))));
      expect(toHex(hash160(data))).toBe(toHex(nobleRipemd160(nobleSha256(data))));
    }
  });

  it('hash only the viewed part of a buffer', () => {
    const whole = sample(100, 1);
    expect(toHex(sha256(whole.subarray(10, 20)))).toBe(toHex(nobleSha256(whole.slice(10, 20))));
    expect(toHex(sha256(new Uint8Array(whole).subarray(3, 50)))).toBe(toHex(nobleSha256(whole.slice(3, 50))));
  });

  it('have the published values', () => {
    expect(toHex(sha256(Buffer.from('abc')))).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
    expect(toHex(ripemd160(Buffer.from('abc')))).toBe('8eb208f7e05d987a9b044a8e98c6b087f15a0bfc');
    expect(toHex(sha1(Buffer.from('abc')))).toBe('a9993e364706816aba3e25717850c26c9cd0d89d');
  });
});

describe('sha256dPair', () => {
  it('hashes two parts of any length as their concatenation', () => {
    for (const [left, right] of [
      [32, 32],
      [0, 0],
      [1, 31],
      [64, 64],
      [32, 31],
    ] as const) {
      const a = sample(left, 1);
      const b = sample(right, 2);
      expect(toHex(sha256dPair(a, b))).toBe(toHex(sha256d(Buffer.concat([a, b]))));
    }
  });
});
