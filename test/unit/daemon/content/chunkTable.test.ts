import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  CHUNK_BYTES,
  ChunkTable,
  chunkTableOf,
  ChunkTableMaker,
} from '../../../../src/daemon/content/chunkTable.js';
import { IncomingBlob, receivedBlob } from '../../../../src/daemon/content/incomingBlob.js';

const SIZES = [1, 16, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES, 200_000];

/** Whether each chunk matches on its own. */
function matchesAll(table: ChunkTable, blob: Uint8Array): boolean[] {
  const found: boolean[] = [];
  for (let at = 0; at < blob.length; at += CHUNK_BYTES)
    found.push(table.matches(at / CHUNK_BYTES, blob.subarray(at, at + CHUNK_BYTES)));
  return found;
}

function flipped(bytes: Uint8Array, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[bit >> 3]! ^= 1 << (bit & 7);
  return copy;
}

describe('a table of chunks', () => {
  it.each(SIZES)('matches the blob of %i bytes, in pieces of any size, and no flipped bit', (size) => {
    const blob = randomBytes(size);
    for (const pieceBytes of [size, 1000, CHUNK_BYTES]) {
      const maker = new ChunkTableMaker();
      for (let at = 0; at < size; at += pieceBytes) maker.add(blob.subarray(at, at + pieceBytes));
      const stored = maker.end();
      const table = ChunkTable.parse(stored, size)!;
      expect(table.matches(0, blob)).toBe(true);
      expect(matchesAll(table, blob)).not.toContain(false);
      for (let n = 0; n < 20; n++) {
        const bit = (n * 7919 * 8 + n) % (size * 8);
        const wrong = matchesAll(table, flipped(blob, bit)).flatMap((isRight, at) => (isRight ? [] : [at]));
        expect(wrong).toEqual([Math.floor((bit >> 3) / CHUNK_BYTES)]);
      }
      for (let bit = 0; bit < stored.length * 8; bit += 37)
        expect(ChunkTable.parse(flipped(stored, bit), size)!.matches(0, blob)).toBe(false);
    }
  });

  it('matches no chunk of another position, length or blob', () => {
    const blob = randomBytes(3 * CHUNK_BYTES);
    const table = ChunkTable.parse(chunkTableOf(blob), blob.length)!;
    const first = blob.subarray(0, CHUNK_BYTES);
    expect([table.matches(0, first), table.matches(1, first)]).toEqual([true, false]);
    expect(table.matches(0, first.subarray(1))).toBe(false);
    expect(table.matches(0, Buffer.concat([first.subarray(1), Buffer.alloc(1)]))).toBe(false);
    // Each table has its own random key.
    expect(chunkTableOf(blob)).not.toEqual(chunkTableOf(blob));
  });

  it('does not exist if its length does not match the blob', () => {
    const stored = chunkTableOf(randomBytes(100_000));
    expect(ChunkTable.parse(stored, 100_000)).not.toBeNull();
    for (const size of [0, 1, CHUNK_BYTES, 2 * CHUNK_BYTES + 1])
      expect(ChunkTable.parse(stored, size)).toBeNull();
    for (const bad of [null, Buffer.alloc(0), stored.subarray(1), Buffer.concat([stored, Buffer.alloc(1)])])
      expect(ChunkTable.parse(bad, 100_000)).toBeNull();
  });
});

describe('an incoming blob', () => {
  it('has its bytes, and accepts no more than its length', () => {
    const bytes = randomBytes(100_000);
    const blob = new IncomingBlob(bytes.length);
    expect(blob.add(bytes.subarray(0, 70_001))).toBe(70_001);
    expect([blob.count, blob.isFull]).toEqual([70_001, false]);
    expect(blob.add(Buffer.concat([bytes.subarray(70_001), randomBytes(10)]))).toBe(29_999);
    expect([blob.isFull, blob.add(randomBytes(1))]).toEqual([true, 0]);
    const found = blob.end();
    expect(found.bytes).toEqual(bytes);
    expect(receivedBlob(bytes).bytes).toEqual(bytes);
  });

  it('takes bytes that are in its buffer already', () => {
    const bytes = randomBytes(100_000);
    const blob = new IncomingBlob(bytes.length);
    for (let at = 0; at < bytes.length; at += 30_000) {
      const { unused } = blob;
      expect(unused.length).toBe(bytes.length - at);
      const count = bytes.copy(unused, 0, at, at + 30_000);
      expect(blob.add(unused.subarray(0, count))).toBe(count);
    }
    expect(blob.end().bytes).toEqual(bytes);
  });

  it('may be shorter than its limit', () => {
    const blob = new IncomingBlob(1000);
    blob.add(Buffer.from('short'));
    expect(blob.end()).toMatchObject({ bytes: Buffer.from('short') });
  });
});
