/**
 * Cache of the blocks that were read last, and of the transactions whose outputs are spent by transactions of recent
 * responses. Clients request the pages of a block one after the other, and transactions of one block often spend outputs of
 * the same transaction. Entries are identified by hashes, so a reorg does not invalidate them.
 */
import type { LoadedBlock } from '../../chain/blocks/loadedBlock.js';
import type { Transaction } from '../../primitives/transaction.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { BoundedMap } from '../../util/boundedMap.js';

/** Maximum sizes of the two caches in bytes. Arbitrary: a few large blocks. */
const BLOCK_BYTES = 24 << 20;
const TRANSACTION_BYTES = 8 << 20;
/** Estimated memory in bytes of a parsed input or output in addition to its serialized bytes. */
const PART_BYTES = 250;

export interface RecentBlock {
  readonly block: LoadedBlock;
  /** The undo data of the block; null if it was not read. */
  undo: Buffer | null;
}

export class RecentReads {
  /** Cached blocks by header id. */
  private readonly blocks = new BoundedMap<number, RecentBlock>(BLOCK_BYTES);
  private readonly transactions = new BoundedMap<string, Transaction>(TRANSACTION_BYTES);

  /** Estimated memory in use, in bytes. */
  get sizeBytes(): number {
    return this.blocks.size + this.transactions.size;
  }

  get maxBytes(): number {
    return this.blocks.most + this.transactions.most;
  }

  block(id: number): RecentBlock | undefined {
    return this.blocks.get(id);
  }

  keepBlock(id: number, block: LoadedBlock): RecentBlock {
    const kept = { block, undo: null };
    const { packed, txs, inputs, outputs, txids, wtxids } = block.parsed;
    const tables = packed ? [packed] : [txs, inputs, outputs, txids, wtxids];
    const tablesBytes = tables.reduce((sum, { byteLength }) => sum + byteLength, 0);
    // The undo data is usually not larger than the block, whose size is counted twice.
    this.blocks.set(id, kept, 2 * block.raw.length + tablesBytes);
    return kept;
  }

  transaction(txid: Bytes): Transaction | undefined {
    return this.transactions.get(toLatin1(txid));
  }

  keepTransaction(txid: Bytes, tx: Transaction, lengthBytes: number): void {
    const size = lengthBytes + PART_BYTES * (tx.inputs.length + tx.outputs.length);
    this.transactions.set(toLatin1(txid), tx, size);
  }
}
