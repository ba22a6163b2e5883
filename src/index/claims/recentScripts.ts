/**
 * Scripts of outputs in the latest blocks, from the cached bytes of these blocks. Readers that follow the index request
 * nearly all values of a new block at once. Without this cache each request would read a file.
 */
import type { ConnectedBlock } from '../../chain/chainEvents.js';
import { pointIndex } from '../../claimtrie/item.js';
import { TX_FIRST_OUTPUT, TX_OUTPUT_COUNT, TX_STRIDE } from '../../primitives/blockLayout.js';
import { outputScriptAt } from '../../primitives/blockView.js';
import type { Bytes } from '../../util/bytes.js';

const TXID_BYTES = 32;
/** Limits of the cache: total size and number of blocks. Arbitrary: more blocks than readers process at once. */
const KEPT_BYTES = 8 << 20;
const KEPT_BLOCKS = 256;

type KeptBlock = Pick<ConnectedBlock, 'id' | 'raw' | 'parsed'>;

export class RecentScripts {
  /** Cached blocks by height, sorted from the oldest. */
  private readonly blocks = new Map<number, KeptBlock>();
  private bytes = 0;

  add({ id, raw, parsed }: KeptBlock): void {
    this.drop(id);
    this.blocks.set(id, { id, raw, parsed });
    this.bytes += raw.length;
    for (const oldest of this.blocks.keys()) {
      if (this.bytes <= KEPT_BYTES && this.blocks.size <= KEPT_BLOCKS) break;
      this.drop(oldest);
    }
  }

  private drop(id: number): void {
    this.bytes -= this.blocks.get(id)?.raw.length ?? 0;
    this.blocks.delete(id);
  }

  /**
   * Script of the output `point` of block `id`; null if the block is not cached. `position` is the index of its transaction
   * in the block.
   */
  find(id: number, position: number, point: string): Bytes | null {
    const block = this.blocks.get(id);
    if (block === undefined || position >= block.parsed.txCount) return null;
    const { raw, parsed } = block;
    const row = position * TX_STRIDE;
    const nout = pointIndex(point);
    if (nout >= parsed.txs[row + TX_OUTPUT_COUNT]!) return null;
    if (!isOf(parsed.txids, position, point)) return null;
    return outputScriptAt(raw, parsed, parsed.txs[row + TX_FIRST_OUTPUT]! + nout);
  }
}

/**
 * Whether the outpoint belongs to the transaction at this index. The bytes are compared without creating a string, because a
 * block may have very many transactions.
 */
function isOf(txids: Buffer, position: number, point: string): boolean {
  for (let i = 0; i < TXID_BYTES; i++)
    if (txids[position * TXID_BYTES + i] !== point.charCodeAt(i)) return false;
  return true;
}
