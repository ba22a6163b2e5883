/**
 * Blocks that were read last, and transactions whose outputs were spent by those shown last. The pages of a block are asked for
 * one after the other, and transactions of one block often spend outputs of the same transaction. Both are named by their
 * hash, so that they stay valid in a reorg.
 */
import type { LoadedBlock } from '../../chain/blocks/loadedBlock.js';
import type { Transaction } from '../../primitives/transaction.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { BoundedMap } from '../../util/boundedMap.js';

/** Bounds of the two caches. Arbitrary: some large blocks. */
const BLOCK_BYTES = 24 << 20;
const TRANSACTION_BYTES = 8 << 20;
/** Memory of a parsed input or output beside its bytes, about. */
const PART_BYTES = 250;

export interface RecentBlock {
  readonly block: LoadedBlock;
  /** The undo data, if it was read. */
  undo: Buffer | null;
}

export class RecentReads {
  /** By header id. */
  private readonly blocks = new BoundedMap<number, RecentBlock>(BLOCK_BYTES);
  private readonly transactions = new BoundedMap<string, Transaction>(TRANSACTION_BYTES);

  /** Memory in use, about. */
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
    // The undo data is at most about as large as the block.
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
