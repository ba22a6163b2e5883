/** Sizes of blocks, which answers about a block show and headers do not tell: the latest ones asked for are kept. */
import type { LoadedBlock } from '../../chain/loadedBlock.js';

/** Blocks whose sizes are kept; each takes less than 100 bytes. */
const MAX_KEPT = 20_000;

export interface BlockSize {
  readonly sizeBytes: number;
  readonly weight: number;
}

export class BlockSizes {
  /** By the id of the header. */
  private readonly sizes = new Map<number, BlockSize>();

  /** The size of block `id`, which `read` reads when it is not known. */
  async of(id: number, read: () => Promise<LoadedBlock>): Promise<BlockSize> {
    const known = this.sizes.get(id);
    if (known !== undefined) return known;
    const { sizeBytes, weight } = (await read()).parsed;
    return this.keep(id, { sizeBytes, weight });
  }

  private keep(id: number, size: BlockSize): BlockSize {
    if (this.sizes.size >= MAX_KEPT) {
      const oldest = this.sizes.keys().next();
      if (!oldest.done) this.sizes.delete(oldest.value);
    }
    this.sizes.set(id, size);
    return size;
  }
}
