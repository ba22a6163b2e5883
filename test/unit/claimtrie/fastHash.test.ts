/** The trie's hashes are the same with the addon as with the fallbacks. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { rootOf } from '../../../src/claimtrie/fastHash.js';
import { hash160, hash160Fallback, sha256d, sha256dFallback } from '../../../src/crypto/hash.js';
import { merkleRoot } from '../../../src/crypto/merkle.js';
import { toHex } from '../../../src/util/bytes.js';

describe('hashes of the trie', () => {
  it('equal their fallbacks', () => {
    for (const size of [0, 8, 32, 33, 36, 96, 1000]) {
      const message = randomBytes(size);
      expect(toHex(sha256d(message))).toBe(toHex(sha256dFallback(message)));
      expect(toHex(hash160(message))).toBe(toHex(hash160Fallback(message)));
    }
  });

  it('combine any number of leaves, without changing them', () => {
    for (const count of [1, 2, 3, 4, 5, 7, 36, 255, 256, 257, 1000]) {
      const leaves = Array.from({ length: count }, () => randomBytes(32));
      const copy = leaves.map(toHex);
      expect(toHex(rootOf(leaves))).toBe(toHex(merkleRoot(leaves).root));
      expect(leaves.map(toHex)).toEqual(copy);
    }
  });
});
