/** The port by which an index writes inside a block's commit, and the row with the block that its rows belong to. */
import { PREFIX } from '../../store/rows/keys.js';
import type { ConnectedClaims } from '../../store/claims/claimStore.js';
import type { RowTransaction } from '../../store/rows/rows.js';
import type { RowStore } from '../../store/rows/rowStore.js';
import type { LoadedBlock } from '../blocks/loadedBlock.js';
import type { ResolvedInputs } from '../../native/binding.js';
import type { Bytes } from '../../util/bytes.js';

/** What an index does for a block beside its scripts, before it is known whether the block is right. */
export interface BegunBlock {
  /** Adds the rows, as `connect` does. */
  finish(claims?: ConnectedClaims): Promise<void>;
  /** Resolves once nothing of it is under way, whatever came of it. */
  readonly settled: Promise<void>;
}

export interface BlockContributor {
  /**
   * Begins on other threads what `connect` would do for a block that is being checked: its rows can be made, and rows of
   * its own read, as they are before the block. Null if there is nothing to begin.
   */
  begin?(
    rows: RowTransaction,
    block: LoadedBlock,
    height: number,
    resolved: ResolvedInputs,
  ): BegunBlock | null;
  /**
   * Adds the index's rows for a block about to be committed. Must not fail except for the environment. `claims` is what
   * connecting the block did to the claim trie; absent for one that was connected before.
   */
  connect(
    rows: RowTransaction,
    block: LoadedBlock,
    height: number,
    resolved: ResolvedInputs,
    claims?: ConnectedClaims,
  ): Promise<void> | void;
  /** Takes them back. `undo` holds the spent coins as the undo file does. */
  disconnect(rows: RowTransaction, block: LoadedBlock, height: number, undo: Buffer): Promise<void> | void;
}

/** A contributor that reads, before the first block is connected, where it stands. */
export interface OpenedContributor extends BlockContributor {
  open(store: RowStore): Promise<void>;
}

export const indexPositionKey = (name: string): string => PREFIX.indexPosition + name;

/** How far an index has come: version of its rows, id of the last block in them, in wire order. */
export function formatIndexPosition(version: number, hash: Bytes): Buffer {
  const row = Buffer.allocUnsafe(1 + hash.length);
  row[0] = version;
  row.set(hash, 1);
  return row;
}
