import { describe, expect, it } from 'vitest';
import { valueHashFallback } from '../../src/claimtrie/claimsHash.js';
import { claimIdAtPoint } from '../../src/claimtrie/item.js';
import {
  hashIntoParent,
  hashIntoParentFallback,
  nodeHash,
  nodeHashFallback,
} from '../../src/claimtrie/trieNode.js';
import { packSlots, slotEdges } from '../../src/claimtrie/slots.js';
import { hash160Fallback } from '../../src/crypto/hash.js';
import { Random, addon, native } from './support.js';

/** Slots in order; `count` is at most 256. Some edges are so long that their length takes two or three bytes. */
function randomSlots(random: Random, count: number): Buffer {
  const firsts = Array.from({ length: 256 }, (_, i) => i);
  for (let i = firsts.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [firsts[i], firsts[j]] = [firsts[j]!, firsts[i]!];
  }
  return packSlots(
    firsts
      .slice(0, count)
      .sort((a, b) => a - b)
      .map((first) => ({
        edge:
          String.fromCharCode(first) +
          random.bytes(random.chance(10) ? 60 + random.below(9000) : random.below(9)).toString('latin1'),
        hash: random.bytes(32),
        leaf: random.chance(2),
      })),
  );
}

describe.skipIf(!native)('native hashes of the claim trie against the fallback', () => {
  it('is the same for any number of children, with and without claims', () => {
    const random = new Random(6);
    for (const count of [...Array.from({ length: 40 }, (_, i) => i), 63, 64, 65, 255, 256]) {
      const slots = randomSlots(random, count);
      const before = Buffer.from(slots);
      for (const claimsHash of [null, random.bytes(32)])
        for (const allClaims of [true, false]) {
          const fallback = nodeHashFallback(slots, claimsHash, allClaims);
          expect(Buffer.from(nodeHash({ slots, claimsHash }, allClaims)).equals(fallback)).toBe(true);
        }
      expect(slots.equals(before)).toBe(true);
    }
  });

  it('refuses bytes that are not slots', () => {
    const random = new Random(7);
    const claims = random.bytes(32);
    const slots = randomSlots(random, 3);
    for (const allClaims of [true, false]) {
      expect(addon().claimNodeHash(slots, claims, allClaims).length).toBe(32);
      for (const bytes of [
        slots.subarray(0, -1),
        slots.subarray(0, 1),
        Buffer.from([0]),
        Buffer.alloc(40, 0xff),
      ]) {
        expect(() => addon().claimNodeHash(bytes, claims, allClaims)).toThrow(TypeError);
        const last = slotEdges(slots)[2]!.charCodeAt(0);
        expect(() => addon().claimNodeHashInto(bytes, claims, allClaims, slots, last)).toThrow(TypeError);
        expect(() => addon().claimNodeHashInto(slots, claims, allClaims, bytes, 256)).toThrow(TypeError);
      }
      expect(() => addon().claimNodeHash(slots, claims.subarray(1), allClaims)).toThrow(TypeError);
    }
  });

  it('writes the hash of a child to the slot of its parent', () => {
    const random = new Random(8);
    for (const count of [1, 2, 3, 17, 200]) {
      const parent = randomSlots(random, count);
      const firsts = slotEdges(parent).map((edge) => edge.charCodeAt(0));
      const absent = Array.from({ length: 257 }, (_, i) => i).find((code) => !firsts.includes(code))!;
      for (const first of [firsts[0]!, firsts[count - 1]!, absent])
        for (const allClaims of [true, false])
          for (const slots of [randomSlots(random, 0), randomSlots(random, 4)]) {
            const node = { slots, claimsHash: slots.length === 0 ? random.bytes(32) : null };
            const expected = Buffer.from(parent);
            const isThere = hashIntoParentFallback(node, allClaims, expected, first);
            expect(isThere).toBe(first !== absent);
            const changed = Buffer.from(parent);
            expect(hashIntoParent(node, allClaims, changed, first)).toBe(isThere);
            expect(changed.equals(expected)).toBe(true);
          }
    }
  });

  it('hashes claims and outpoints like the fallback', () => {
    const random = new Random(9);
    for (const n of [0, 1, 9, 10, 255, 65_536, 0x7fffffff, 0xffffffff])
      for (const takeover of [0, 1, 255, 1_000_000, 0xffffffff]) {
        const bytes = Buffer.concat([random.bytes(32), Buffer.alloc(4)]);
        bytes.writeUInt32BE(n, 32);
        const point = bytes.toString('latin1');
        const hash = addon().claimValueHash(point, takeover);
        expect(Buffer.from(hash).equals(valueHashFallback(point, takeover))).toBe(true);
        expect(claimIdAtPoint(point)).toBe(hash160Fallback(bytes).toString('latin1'));
      }
    const slots = randomSlots(random, 5);
    expect(() => addon().claimNodeNote(slots, slots.subarray(1), 0, Buffer.alloc(20_000))).toThrow(TypeError);
    expect(() => addon().claimNodeNote(slots, slots, 0, Buffer.alloc(9))).toThrow(TypeError);
    expect(() => addon().claimValueHash('short', 1)).toThrow(TypeError);
    expect(() => addon().claimIdAtPoint('a'.repeat(37))).toThrow(TypeError);
  });
});
