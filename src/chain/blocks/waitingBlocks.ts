/** Accepted blocks cached in memory until they are connected; blocks that do not fit are read from disk again. */
import { NO_HEADER } from '../../store/files/headerTable.js';
import type { BlockIndex } from '../index/blockIndex.js';
import type { LoadedBlock } from './loadedBlock.js';

const WAITING_BYTES = 64 << 20;
/**
 * A cached block may be a view of a larger buffer. If the buffer is more than this many times as large, the block is copied,
 * so that the buffer can be freed.
 */
const MAX_VIEW_FACTOR = 2;

export class WaitingBlocks {
  private readonly index: BlockIndex;
  /** Blocks waiting to be connected, by id, in order of arrival. */
  private readonly blocks = new Map<number, LoadedBlock>();
  private bytes = 0;

  constructor(index: BlockIndex) {
    this.index = index;
  }

  get usageBytes(): number {
    return this.bytes;
  }

  add(id: number, block: LoadedBlock): void {
    const kept = ownBytes(block);
    if (this.bytes + sizeOf(kept) > WAITING_BYTES && this.isLinked(id)) this.dropUnlinked();
    if (this.bytes + sizeOf(kept) > WAITING_BYTES) return;
    this.blocks.set(id, kept);
    this.bytes += sizeOf(kept);
  }

  /** Removes a block from the cache and returns it. */
  take(id: number): LoadedBlock | undefined {
    const block = this.blocks.get(id);
    if (block) {
      this.blocks.delete(id);
      this.bytes -= sizeOf(block);
    }
    return block;
  }

  /** Drops blocks that cannot be connected next: they have no more work than the tip, or failed. */
  dropBeaten(): void {
    const { headers, active } = this.index;
    if (active.tip === NO_HEADER) return;
    for (const id of this.blocks.keys()) {
      if (headers.isFailed(id) || headers.compareWork(id, active.tip) <= 0) this.take(id);
    }
  }

  private isLinked(id: number): boolean {
    return this.index.headers.chainTxCount(id) > 0;
  }

  /** Drops blocks with missing ancestors, because blocks that can be connected have priority. */
  private dropUnlinked(): void {
    for (const id of this.blocks.keys()) if (!this.isLinked(id)) this.take(id);
  }
}

function ownBytes(block: LoadedBlock): LoadedBlock {
  if (block.raw.buffer.byteLength <= block.raw.length * MAX_VIEW_FACTOR) return block;
  return { ...block, raw: Buffer.from(block.raw) };
}

function sizeOf({ raw, parsed }: LoadedBlock): number {
  return raw.length + parsed.txs.byteLength + parsed.inputs.byteLength + parsed.outputs.byteLength;
}
