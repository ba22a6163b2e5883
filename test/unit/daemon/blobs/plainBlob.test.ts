/** Encrypted pieces of files. Only the part that is read is decrypted. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { encryptPiece } from '../../../../src/daemon/blobs/cipher.js';
import { bytesInMemory, decrypted, wholePlain } from '../../../../src/daemon/blobs/plainBlob.js';

const cipher = { key: randomBytes(16), iv: randomBytes(16) };
const blobOf = (piece: Uint8Array) => bytesInMemory(encryptPiece(piece, cipher.key, cipher.iv));

describe('a piece', () => {
  it.each([1, 15, 16, 17, 31, 32, 47, 63])('of %i bytes is read from and to each byte', async (size) => {
    const piece = randomBytes(size);
    const isFull = size % 16 === 15;
    for (const plain of [
      await decrypted(blobOf(piece), cipher),
      ...(isFull ? [await decrypted(blobOf(piece), cipher, true)] : []),
    ]) {
      expect(plain.lengthBytes).toBe(size);
      for (let from = 0; from < size; from++)
        for (let to = from; to <= size + 1; to++)
          expect(Buffer.from(await plain.read(from, to - from)).equals(piece.subarray(from, to))).toBe(true);
    }
  });

  it('of a full blob with more than one byte of padding is refused when its end is read', async () => {
    const plain = await decrypted(blobOf(randomBytes(40)), cipher, true);
    expect(plain.lengthBytes).toBe(47);
    expect(await plain.read(0, 30)).toHaveLength(30);
    await expect(plain.read(30, 17)).rejects.toThrow('padding');
  });

  it('is refused, and the blob is closed, if length or padding is wrong', async () => {
    // A block of zeros has no padding.
    const unpadded = encryptPiece(Buffer.alloc(16), cipher.key, cipher.iv).subarray(0, 16);
    for (const bytes of [Buffer.alloc(0), randomBytes(33), unpadded]) {
      let closed = 0;
      const blob = { ...bytesInMemory(bytes), close: () => Promise.resolve(void closed++) };
      await expect(decrypted(blob, cipher)).rejects.toThrow(/is wrong/);
      expect(closed).toBe(1);
    }
  });

  it('is read in order without reading a byte of the blob twice', async () => {
    const piece = randomBytes(100);
    const blob = blobOf(piece);
    const reads: [number, number][] = [];
    const read = (at: number, count: number) => {
      reads.push([at, count]);
      return blob.read(at, count);
    };
    const plain = await decrypted({ ...blob, read }, cipher);
    reads.length = 0;
    const parts = [await plain.read(20, 28), await plain.read(48, 16), await plain.read(64, 100)];
    expect(Buffer.concat(parts).equals(piece.subarray(20))).toBe(true);
    expect(reads).toEqual([
      [0, 48],
      [48, 16],
      [64, 48],
    ]);
  });

  it('is read whole', async () => {
    const piece = randomBytes(100_000);
    expect(Buffer.from(await wholePlain(await decrypted(blobOf(piece), cipher))).equals(piece)).toBe(true);
  });
});
