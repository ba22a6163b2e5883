/** Interface by which an index adds rows to the commit of a block, and the row that stores the index's last block. */
import { PREFIX } from '../../store/rows/keys.js';
import type { TrieChanges } from '../../store/claims/claimStore.js';
import type { RowTransaction } from '../../store/rows/rows.js';
import type { RowStore } from '../../store/rows/rowStore.js';
import type { LoadedBlock } from '../blocks/loadedBlock.js';
import type { ResolvedInputs } from '../../native/binding.js';
import type { Bytes } from '../../util/bytes.js';

/** Work of an index on a block while the block's scripts are verified, before the block is known to be valid. */
export interface BegunBlock {
  /** Adds the rows of the index for the block, with the same contract as `connect`. */
  finish(claims?: TrieChanges): Promise<void>;
  /** Resolves when no work is pending, whether it succeeded or failed. */
  readonly settled: Promise<void>;
}

export interface BlockContributor {
  /** Whether `connect` needs the changes of the claim trie. */
  readonly usesClaims?: boolean;
  /**
   * Starts the work of `connect` on other threads while the block is being checked. The work may build the block's rows and
   * read the index's rows in their state before the block. Returns null if there is nothing to start.
   */
  begin?(
    rows: RowTransaction,
    block: LoadedBlock,
    height: number,
    resolved: ResolvedInputs,
  ): BegunBlock | null;
  /**
   * Adds the index's rows for a block that is about to be committed. May fail only because of the environment, such as the
   * disk. `claims` are the changes of the claim trie; absent for a block that was connected before. `ahead` is the number of
   * blocks that will be connected next; 0 if unknown. If it is not 0, the contributor may keep the block and add its rows
   * together with those of a later block.
   */
  connect(
    rows: RowTransaction,
    block: LoadedBlock,
    height: number,
    resolved: ResolvedInputs,
    claims?: TrieChanges,
    ahead?: number,
  ): Promise<void> | void;
  /** Whether the contributor keeps connected blocks whose rows are not added yet. */
  readonly isWaiting?: boolean;
  /** Adds the rows of all blocks that the contributor keeps. */
  settle?(rows: RowTransaction): Promise<void>;
  /** Called at the end of a run of blocks, also if fewer blocks followed than `ahead`. The contributor keeps no block then. */
  endRun?(): void;
  /** Removes the block's rows. `undo` has the spent coins in the format of the undo file. */
  disconnect(rows: RowTransaction, block: LoadedBlock, height: number, undo: Buffer): Promise<void> | void;
}

/** A contributor that reads its position before the first block is connected. */
export interface OpenedContributor extends BlockContributor {
  open(store: RowStore): Promise<void>;
}

export const indexPositionKey = (name: string): string => PREFIX.indexPosition + name;

/** The position of an index: the version of its rows, and the id of the last block in them, in wire order. */
export function formatIndexPosition(version: number, hash: Bytes): Buffer {
  const row = Buffer.allocUnsafe(1 + hash.length);
  row[0] = version;
  row.set(hash, 1);
  return row;
}
