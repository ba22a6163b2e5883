/** Cache of block sizes. Responses include the size of a block, which is not in its header. */
import type { LoadedBlock } from '../../chain/blocks/loadedBlock.js';
import type { MaybePromise } from '../../util/maybePromise.js';

/** Maximum number of cached block sizes. Each entry uses less than 100 bytes. */
const MAX_KEPT = 20_000;

export interface BlockSize {
  readonly sizeBytes: number;
  readonly weight: number;
}

export class EsploraBlockSizes {
  /** Block sizes by header id. */
  private readonly sizes = new Map<number, BlockSize>();

  /** Size of block `id`. If the size is not cached, `read` is called to load the block. */
  of(id: number, read: () => Promise<LoadedBlock>): MaybePromise<BlockSize> {
    const known = this.sizes.get(id);
    if (known !== undefined) return known;
    return read().then(({ parsed: { sizeBytes, weight } }) => this.keep(id, { sizeBytes, weight }));
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
