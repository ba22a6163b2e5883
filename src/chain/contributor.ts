/** The port by which an index writes inside a block's commit. Its rows live and die with the block. */
import type { RowTransaction } from '../store/rows.js';
import type { LoadedBlock } from './loadedBlock.js';
import type { ResolvedInputs } from '../native/binding.js';

export interface BlockContributor {
  /** Adds the index's rows for a block about to be committed. Must not fail but for the environment. */
  connect(
    rows: RowTransaction,
    block: LoadedBlock,
    height: number,
    resolved: ResolvedInputs,
  ): Promise<void> | void;
  /** Takes them back. `undo` holds the spent coins as the undo file does. */
  disconnect(rows: RowTransaction, block: LoadedBlock, height: number, undo: Buffer): Promise<void> | void;
}
