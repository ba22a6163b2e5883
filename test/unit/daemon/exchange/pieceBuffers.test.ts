import { describe, expect, it } from 'vitest';
import { PieceBuffers } from '../../../../src/daemon/exchange/pieceBuffers.js';

const KIB = 1024;

describe('PieceBuffers', () => {
  it('creates smaller buffers for more transfers', () => {
    expect([1, 4, 5, 9, 17, 200].map((transfers) => PieceBuffers.pieceBytes(transfers) / KIB)).toEqual([
      128, 128, 64, 32, 16, 16,
    ]);
  });

  it('reuses a buffer of the same size, and keeps no more than 1 MiB', () => {
    const buffers = new PieceBuffers();
    const first = buffers.take(512 * KIB);
    buffers.giveBack(first);
    expect(buffers.take(64 * KIB)).not.toBe(first);
    expect(buffers.take(512 * KIB)).toBe(first);
    const many = Array.from({ length: 9 }, () => buffers.take(512 * KIB));
    for (const one of many) buffers.giveBack(one);
    const again = new Set(Array.from({ length: 9 }, () => buffers.take(512 * KIB)));
    expect(many.filter((one) => again.has(one))).toHaveLength(2);
  });

  it('keeps buffers of the last used size instead of those of other sizes', () => {
    const buffers = new PieceBuffers();
    const sizes = [128, 64, 16];
    for (const size of sizes) {
      const many = Array.from({ length: 1024 / size }, () => buffers.take(size * KIB));
      for (const one of many) buffers.giveBack(one);
      const again = new Set(many.map(() => buffers.take(size * KIB)));
      expect(many.filter((one) => again.has(one))).toHaveLength(many.length);
      for (const one of again) buffers.giveBack(one);
      expect(buffers.keptBytes).toBe(1024 * KIB);
    }
  });
});
