/**
 * Cache of the blocks and the confirmed transactions that were read last. Clients request the pages of a block one after the
 * other, and several paths of one transaction; transactions of one block often spend outputs of the same transaction.
 * Entries are identified by hashes, so a reorg does not invalidate them. The caller checks that the block of a transaction
 * is in the active chain.
 */
import type { LoadedBlock } from '../../chain/blocks/loadedBlock.js';
import type { FoundTransaction } from '../../rpc/lookup/blockLookup.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { BoundedMap } from '../../util/boundedMap.js';

/** Maximum sizes of the two caches in bytes. Arbitrary: a few large blocks. */
const BLOCK_BYTES = 24 << 20;
const TRANSACTION_BYTES = 8 << 20;
/** Estimated memory in bytes of a transaction, and of a parsed input or output, in addition to its serialized bytes. */
const ENTRY_BYTES = 400;
const PART_BYTES = 250;

export interface RecentBlockFacts {
  readonly block: LoadedBlock;
  /** The undo data of the block; null if it was not read. */
  undo: Buffer | null;
}

/** A transaction of a block, and the response that describes it. */
export interface RecentTransaction {
  readonly found: FoundTransaction;
  /** The response as JSON text; null if no path needed it. */
  readonly answer: RecentAnswer | null;
}

export interface RecentAnswer {
  readonly text: string;
  /** Whether names of claims in the text are normalized. */
  readonly isNormalized: boolean;
}

export class RecentReads {
  /** Cached blocks by header id. */
  private readonly blocks = new BoundedMap<number, RecentBlockFacts>(BLOCK_BYTES);
  private readonly transactions = new BoundedMap<string, RecentTransaction>(TRANSACTION_BYTES);

  /** Estimated memory in use, in bytes. */
  get sizeBytes(): number {
    return this.blocks.size + this.transactions.size;
  }

  get maxBytes(): number {
    return this.blocks.most + this.transactions.most;
  }

  block(id: number): RecentBlockFacts | undefined {
    return this.blocks.get(id);
  }

  keepBlock(id: number, block: LoadedBlock): RecentBlockFacts {
    const kept = { block, undo: null };
    const { packed, txs, inputs, outputs, txids, wtxids } = block.parsed;
    const tables = packed ? [packed] : [txs, inputs, outputs, txids, wtxids];
    const tablesBytes = tables.reduce((sum, { byteLength }) => sum + byteLength, 0);
    // The undo data is usually not larger than the block, whose size is counted twice.
    this.blocks.set(id, kept, 2 * block.raw.length + tablesBytes);
    return kept;
  }

  transaction(txid: Bytes): RecentTransaction | undefined {
    return this.transactions.get(toLatin1(txid));
  }

  /** Caches a transaction of a block, and the response that describes it if the caller has it. */
  keepTransaction(txid: Bytes, found: FoundTransaction, answer: RecentAnswer | null = null): void {
    const { stored } = found;
    if (stored === null) return;
    const { inputs, outputs } = stored.tx;
    // A text with characters beyond latin1 takes two bytes a character.
    const textBytes = answer === null ? 0 : 2 * answer.text.length;
    const size =
      ENTRY_BYTES + stored.bytes.length + textBytes + PART_BYTES * (inputs.length + outputs.length);
    this.transactions.set(toLatin1(txid), { found, answer }, size);
  }
}
