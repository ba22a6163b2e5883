/**
 * The memory for keys of open wallets, with the figures for `getmemoryinfo`. A first arena exists from the start, as in the
 * reference. The memory is not locked against swapping, because JavaScript cannot do that.
 */
import { Slab } from '../../util/slab.js';

export interface KeyMemoryUsage {
  readonly usedBytes: number;
  readonly freeBytes: number;
  readonly totalBytes: number;
  readonly usedChunks: number;
  readonly freeChunks: number;
}

class KeyMemory {
  private readonly slabs = new Set<Slab>();
  private readonly first = Buffer.alloc(1 << 16);

  /** Allocates memory for the keys of one wallet, until it is released. */
  take(): Slab {
    const slab = new Slab();
    this.slabs.add(slab);
    return slab;
  }

  giveBack(slab: Slab): void {
    this.slabs.delete(slab);
  }

  get usage(): KeyMemoryUsage {
    let [totalBytes, usedBytes, usedChunks, freeChunks] = [this.first.length, 0, 0, 1];
    for (const { usage } of this.slabs) {
      totalBytes += usage.totalBytes;
      usedBytes += usage.usedBytes;
      usedChunks += usage.kept;
      freeChunks += usage.pieces;
    }
    return { usedBytes, freeBytes: totalBytes - usedBytes, totalBytes, usedChunks, freeChunks };
  }
}

/** Key memory of the process. */
export const keyMemory = new KeyMemory();
