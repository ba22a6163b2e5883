import { describe, expect, it } from 'vitest';
import { SipHash, sipHash } from '../../../src/crypto/sipHash.js';
import { hashFromHex } from '../../../src/util/bytes.js';
import { Random } from '../../differential/support.js';

/** SipHash-2-4 of the bytes 0, 1, 2 … of length 0 to 63 under the key 00 01 … 0f, from the authors' siphash24.c. */
const VECTORS = `
  726fdb47dd0e0e31 74f839c593dc67fd 0d6c8009d9a94f5a 85676696d7fb7e2d
  cf2794e0277187b7 18765564cd99a68d cbc9466e58fee3ce ab0200f58b01d137
  93f5f5799a932462 9e0082df0ba9e4b0 7a5dbbc594ddb9f3 f4b32f46226bada7
  751e8fbc860ee5fb 14ea5627c0843d90 f723ca908e7af2ee a129ca6149be45e5
  3f2acc7f57c29bdb 699ae9f52cbe4794 4bc1b3f0968dd39c bb6dc91da77961bd
  bed65cf21aa2ee98 d0f2cbb02e3b67c7 93536795e3a33e88 a80c038ccd5ccec8
  b8ad50c6f649af94 bce192de8a85b8ea 17d835b85bbb15f3 2f2e6163076bcfad
  de4daaaca71dc9a5 a6a2506687956571 ad87a3535c49ef28 32d892fad841c342
  7127512f72f27cce a7f32346f95978e3 12e0b01abb051238 15e034d40fa197ae
  314dffbe0815a3b4 027990f029623981 cadcd4e59ef40c4d 9abfd8766a33735c
  0e3ea96b5304a7d0 ad0c42d6fc585992 187306c89bc215a9 d4a60abcf3792b95
  f935451de4f21df2 a9538f0419755787 db9acddff56ca510 d06c98cd5c0975eb
  e612a3cb9ecba951 c766e62cfcadaf96 ee64435a9752fe72 a192d576b245165a
  0a8787bf8ecb74b2 81b3e73d20b49b6f 7fa8220ba3b2ecea 245731c13ca42499
  b78dbfaf3a8d83bd ea1ad565322a1a0b 60e61c23a3795013 6606d7e446282b93
  6ca4ecb15c5f91e1 9f626da15c9625f3 e51b38608ef25f57 958a324ceb064572
`;

const key = Buffer.from(Array.from({ length: 16 }, (_, i) => i));

/** SipHash-2-4 computed by its definition with 64-bit numbers. */
function reference(data: Buffer): bigint {
  const word = (value: bigint): bigint => BigInt.asUintN(64, value);
  const turn = (value: bigint, bits: bigint): bigint => word(value << bits) | (value >> (64n - bits));
  const [k0, k1] = [key.readBigUInt64LE(0), key.readBigUInt64LE(8)];
  let [a, b, c, d] = [
    k0 ^ 0x736f6d6570736575n,
    k1 ^ 0x646f72616e646f6dn,
    k0 ^ 0x6c7967656e657261n,
    k1 ^ 0x7465646279746573n,
  ];
  const round = (): void => {
    a = word(a + b);
    b = turn(b, 13n) ^ a;
    a = turn(a, 32n);
    c = word(c + d);
    d = turn(d, 16n) ^ c;
    a = word(a + d);
    d = turn(d, 21n) ^ a;
    c = word(c + b);
    b = turn(b, 17n) ^ c;
    c = turn(c, 32n);
  };
  const padded = Buffer.alloc((data.length >> 3) * 8 + 8);
  data.copy(padded);
  padded[padded.length - 1] = data.length;
  for (let at = 0; at < padded.length; at += 8) {
    const m = padded.readBigUInt64LE(at);
    d ^= m;
    round();
    round();
    a ^= m;
  }
  c ^= 0xffn;
  for (let i = 0; i < 4; i++) round();
  return a ^ b ^ c ^ d;
}

describe('SipHash-2-4', () => {
  it('agrees with its authors for every length', () => {
    const data = Buffer.from(Array.from({ length: 64 }, (_, i) => i));
    const hashes = VECTORS.trim().split(/\s+/);
    expect(hashes.length).toBe(64);
    for (const [length, hash] of hashes.entries()) {
      expect(sipHash(key, data.subarray(0, length)).toString(16).padStart(16, '0'), `${length} bytes`).toBe(
        hash,
      );
    }
  });

  it('agrees with the reference on ids (hash_tests.cpp)', () => {
    const id = hashFromHex('1f1e1d1c1b1a191817161514131211100f0e0d0c0b0a09080706050403020100');
    expect(sipHash(key, id)).toBe(0x7127512f72f27ccen);
  });

  it('agrees with its definition for any bytes, and does not change the halves', () => {
    const random = new Random(3);
    const sip = new SipHash(key);
    for (let i = 0; i < 300; i++) {
      const data = random.bytes(random.chance(2) ? 32 : random.below(300));
      const expected = reference(data);
      expect(sip.hash(data)).toBe(expected);
      expect((BigInt(sip.high) << 32n) | BigInt(sip.low)).toBe(expected);
    }
  });
});
