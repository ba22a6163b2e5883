/** A packed set of blob hashes, compared with a set of texts. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { BlobHashes } from '../../../../src/daemon/content/blobHashes.js';

const hashOf = (n: number): string => createHash('sha384').update(String(n)).digest('hex');
const sorted = (hashes: Iterable<string>): string[] => [...hashes].sort();

describe('a packed set of hashes', () => {
  it.each<[string, (n: number) => string]>([
    ['of blobs', hashOf],
    // The search for each of these hashes begins at the same slot and wraps around the end of the table.
    ['that begin alike', (n) => 'ff'.repeat(5) + hashOf(n).slice(10)],
    ['that begin with zeros', (n) => '00'.repeat(5) + hashOf(n).slice(10)],
  ])('answers as a set of texts does, with hashes %s', (_what, of) => {
    const [packed, texts] = [new BlobHashes(), new Set<string>()];
    let state = 1;
    for (let step = 0; step < 6000; step++) {
      state = (state * 1103515245 + 12345) % 2147483648;
      const hash = of(state % 700);
      const adds = (state >> 12) % 3 > 0;
      if (adds) {
        expect(packed.add(hash)).toBe(!texts.has(hash));
        texts.add(hash);
      } else expect(packed.delete(hash)).toBe(texts.delete(hash));
      if (step % 500 === 0) expect(sorted(packed)).toEqual(sorted(texts));
    }
    for (let n = 0; n < 700; n++) expect(packed.has(of(n))).toBe(texts.has(of(n)));
    expect([packed.size, sorted(packed)]).toEqual([texts.size, sorted(texts)]);
  });

  it('takes nothing that is not a hash', () => {
    const packed = new BlobHashes();
    for (const text of ['', 'ab', hashOf(1).toUpperCase(), `${hashOf(1)}00`, 'g'.repeat(96), 'é'.repeat(96)])
      expect([packed.add(text), packed.has(text), packed.delete(text)]).toEqual([false, false, false]);
    expect(packed.size).toBe(0);
  });

  it('can be sent to another thread', () => {
    const [from, to] = [new BlobHashes(), new BlobHashes()];
    const hashes = Array.from({ length: 500 }, (_, n) => hashOf(n));
    for (const hash of hashes) from.add(hash);
    const { packed, buffers } = from.pack();
    to.take(structuredClone(packed, { transfer: buffers }));
    expect(buffers.every(({ byteLength }) => byteLength === 0)).toBe(true);
    expect([to.size, sorted(to)]).toEqual([500, hashes.toSorted()]);
    expect([to.delete(hashes[7]!), to.add(hashOf(1000)), to.size]).toEqual([true, true, 500]);
  });
});
