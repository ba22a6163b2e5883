import { describe, expect, it } from 'vitest';
import { nodeHash, pairedHash } from '../../src/claimtrie/trieNode.js';
import { packSlots } from '../../src/claimtrie/slots.js';
import { Random, addon, native } from './support.js';

/** Slots in order, `count` at most 256; some edges so long that their length takes two or three bytes. */
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

describe.skipIf(!native)('native hash of a claim trie node against the fallback', () => {
  it('is the same for any number of children, with and without claims', () => {
    const random = new Random(6);
    for (const count of [...Array.from({ length: 40 }, (_, i) => i), 63, 64, 65, 255, 256]) {
      const slots = randomSlots(random, count);
      const before = Buffer.from(slots);
      for (const claimsHash of [null, random.bytes(32)]) {
        const fallback = pairedHash(slots, claimsHash);
        expect(Buffer.from(nodeHash({ slots, claimsHash }, true)).equals(fallback)).toBe(true);
      }
      expect(slots.equals(before)).toBe(true);
    }
  });

  it('refuses bytes that are no slots', () => {
    const random = new Random(7);
    const claims = random.bytes(32);
    const slots = randomSlots(random, 3);
    expect(addon().claimNodeHash(slots, claims).length).toBe(32);
    for (const bytes of [
      slots.subarray(0, -1),
      slots.subarray(0, 1),
      Buffer.from([0]),
      Buffer.alloc(40, 0xff),
    ])
      expect(() => addon().claimNodeHash(bytes, claims)).toThrow(TypeError);
    expect(() => addon().claimNodeHash(slots, claims.subarray(1))).toThrow(TypeError);
  });
});
