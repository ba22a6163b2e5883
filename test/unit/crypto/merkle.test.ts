import { describe, expect, it } from 'vitest';
import { sha256d } from '../../../src/crypto/hash.js';
import { merklePath, merkleRoot, rootFromPath } from '../../../src/crypto/merkle.js';
import { hashFromHex, hashToHex, toHex } from '../../../src/util/bytes.js';

function leaves(count: number): Buffer[] {
  return Array.from({ length: count }, (_, i) => sha256d(Buffer.of(i & 0xff, i >> 8)));
}

/** The merkle root computed by its definition, level by level. */
function plainRoot(hashes: Buffer[]): Buffer {
  if (hashes.length === 1) return hashes[0]!;
  const next: Buffer[] = [];
  for (let i = 0; i < hashes.length; i += 2) {
    next.push(sha256d(Buffer.concat([hashes[i]!, hashes[i + 1] ?? hashes[i]!])));
  }
  return plainRoot(next);
}

describe('merkleRoot', () => {
  it('is zero for no leaves and the leaf itself for one', () => {
    expect(toHex(merkleRoot([]).root)).toBe('00'.repeat(32));
    const [leaf] = leaves(1);
    const { root } = merkleRoot([leaf!]);
    expect(root.equals(leaf!)).toBe(true);
    root.fill(0);
    expect(leaf!.equals(leaves(1)[0]!)).toBe(true);
  });

  it('computes the root of a block of Bitcoin (100,000)', () => {
    const txids = [
      '8c14f0db3df150123e6f3dbbf30f8b955a8249b62ac1d1ff16284aefa3d06d87',
      'fff2525b8931402dd09222c50775608f75787bd2b87e56995a7bdd30f79702c4',
      '6359f0868171b1d194cbee1af2f16ea598ae8fad666d9b012c8ed2b79a236ec4',
      'e9a66845e05d5abc0ad04ec80f774a7e585c6e8db975962d069a522137b80c1d',
    ].map(hashFromHex);
    const { root, mutated } = merkleRoot(txids);
    expect(hashToHex(root)).toBe('f3e94742aca4b5ef85488dc37c06c3282295ffec960994b2c0d5ac2a25a95766');
    expect(mutated).toBe(false);
  });

  it('equals the definition for every small size', () => {
    for (let count = 1; count <= 40; count++) {
      const hashes = leaves(count);
      const { root, mutated } = merkleRoot(hashes);
      expect(root.equals(plainRoot(hashes)), `${count} leaves`).toBe(true);
      expect(mutated).toBe(false);
    }
  });

  it('does not change its leaves', () => {
    const hashes = leaves(7);
    merkleRoot(hashes);
    const flat = Buffer.concat(hashes);
    merklePath(flat, 3);
    expect(flat.equals(Buffer.concat(leaves(7)))).toBe(true);
    expect(hashes.map(toHex)).toEqual(leaves(7).map(toHex));
  });

  it('distinguishes the lists of CVE-2012-2459 with the same root', () => {
    const [a, b, c, d, e, f] = leaves(6) as [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer];
    for (const [honest, forged] of [
      [
        [a, b, c],
        [a, b, c, c],
      ],
      [
        [a, b, c, d, e, f],
        [a, b, c, d, e, f, e, f],
      ],
      [[a], [a, a]],
    ]) {
      const one = merkleRoot(honest!);
      const two = merkleRoot(forged!);
      expect(two.root.equals(one.root)).toBe(honest!.length > 1);
      expect([one.mutated, two.mutated]).toEqual([false, true]);
    }
    // Equal leaves that are not a pair do not count as a mutation.
    expect(merkleRoot([a, b, b, c]).mutated).toBe(false);
  });
});

describe('merklePath and rootFromPath', () => {
  it('lead from every leaf to the root', () => {
    for (let count = 1; count <= 20; count++) {
      const hashes = leaves(count);
      const { root } = merkleRoot(hashes);
      for (let index = 0; index < count; index++) {
        const path = merklePath(Buffer.concat(hashes), index);
        expect(path.length).toBe(Math.ceil(Math.log2(count)));
        expect(rootFromPath(hashes[index]!, path, index).equals(root)).toBe(true);
        if (count > 1)
          expect(rootFromPath(hashes[index]!, path, index ^ 1).equals(root)).toBe(isLastOfOdd(count, index));
      }
    }
  });

  it('refuses a leaf that does not exist', () => {
    expect(() => merklePath(Buffer.concat(leaves(3)), 3)).toThrow('does not exist');
    expect(() => merklePath(Buffer.alloc(0), 0)).toThrow('does not exist');
  });
});

/** The repeated last hash of an odd level is both its own left and right neighbour. */
function isLastOfOdd(count: number, index: number): boolean {
  return count % 2 === 1 && index === count - 1;
}
