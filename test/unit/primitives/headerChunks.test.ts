import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { mainParams } from '../../../src/params/main.js';
import { regtestParams } from '../../../src/params/regtest.js';
import { testParams } from '../../../src/params/test.js';
import { ChunkChecks, endsKnownChunk, isKnownChunk } from '../../../src/primitives/headerChunks.js';
import { hashToHex } from '../../../src/util/bytes.js';

const sha256 = (data: Buffer): Buffer => createHash('sha256').update(data).digest();
const headerOf = (height: number, branch = 0): Buffer => Buffer.alloc(112, `${branch}/${height};`);
const HEADERS = Array.from({ length: 3000 }, (_, height) => headerOf(height));
const chunkHash = (first: number): Buffer =>
  sha256(sha256(Buffer.concat(HEADERS.slice(first, first + 1000))));
/** The hashes of two of the three chunks are known. */
const CHUNKS = Buffer.concat([chunkHash(0), chunkHash(1000)]);

describe('known chunks of headers', () => {
  it('of the main network reach height 1,242,999, and other networks have none', () => {
    const chunks = mainParams.headerChunks();
    expect(chunks.length / 32).toBe(1243);
    // Source: lbry-sdk lbry/wallet/checkpoints.py, the first and the last row.
    expect(hashToHex(chunks.subarray(0, 32))).toBe(
      'bf3ff54138625c56737509f080e7e7f3c55972f0f80e684f8e25d2ad83bedbe2',
    );
    expect(hashToHex(chunks.subarray(-32))).toBe(
      'a74d7c0b104eaf76c53a3a31ce51b75bbd8e05b5e84c31f593f505a13d83634c',
    );
    expect(endsKnownChunk(chunks, 1_242_999)).toBe(true);
    expect(endsKnownChunk(chunks, 1_243_999)).toBe(false);
    expect([testParams, regtestParams].map((params) => params.headerChunks().length)).toEqual([0, 0]);
  });

  it('end at each thousandth header', () => {
    expect([0, 998, 999, 1000, 1999, 2999].map((height) => endsKnownChunk(CHUNKS, height))).toEqual([
      false,
      false,
      true,
      false,
      true,
      false,
    ]);
    expect(isKnownChunk(CHUNKS, 1999, HEADERS.slice(1000, 2000))).toBe(true);
    expect(isKnownChunk(CHUNKS, 1999, HEADERS.slice(0, 1000))).toBe(false);
  });
});

describe('checks of headers on arrival', () => {
  /** Checks headers from a height on. The id of a header is its height. Returns the height of the first refused header. */
  function refusedAt(checks: ChunkChecks, from: number, header: (height: number) => Buffer): number | null {
    for (let height = from; height < HEADERS.length; height++) {
      if (!checks.allows(height - 1, height, header(height))) return height;
      checks.accepted(height, height - 1, height, header(height));
    }
    return null;
  }

  it('accept the right chain, also beyond the last chunk', () => {
    expect(refusedAt(new ChunkChecks(CHUNKS), 0, (height) => HEADERS[height]!)).toBeNull();
  });

  it.each([
    [0, 999],
    [500, 999],
    [999, 999],
    [1000, 1999],
    [1998, 1999],
  ])('refuse a chain that differs at height %i at height %i', (different, refused) => {
    const header = (height: number): Buffer =>
      height === different ? headerOf(height, 1) : HEADERS[height]!;
    expect(refusedAt(new ChunkChecks(CHUNKS), 0, header)).toBe(refused);
  });

  it('continue with the right header after a wrong one at the end of a chunk', () => {
    const checks = new ChunkChecks(CHUNKS);
    refusedAt(checks, 0, (height) => (height === 999 ? headerOf(999, 1) : HEADERS[height]!));
    expect(refusedAt(checks, 999, (height) => HEADERS[height]!)).toBeNull();
  });

  it('do not cover a chunk whose first header was not seen', () => {
    expect(refusedAt(new ChunkChecks(CHUNKS), 500, (height) => headerOf(height, 2))).toBe(1999);
  });
});
