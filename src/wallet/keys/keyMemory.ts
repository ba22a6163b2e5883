/**
 * Allocates the memory for keys of open wallets, and counts it for `getmemoryinfo`. As in the reference, one arena is
 * allocated at the start. The memory is not locked against swapping, because JavaScript cannot lock memory.
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

  /** Allocates memory for the keys of one wallet. The memory stays in use until it is released. */
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

/** The only instance of `KeyMemory` in the process. */
export const keyMemory = new KeyMemory();
