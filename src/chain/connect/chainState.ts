/** The row that describes the database: its tip, and the position up to which the block files are indexed. */
import type { Bytes } from '../../util/bytes.js';

export interface ChainState {
  /** Block id of the tip in the hex form that programs print; null before the genesis block. */
  tip: string | null;
  /** Number of headers in the header table. */
  headerCount: number;
  /** Position in the block files up to which all blocks are in the header table. */
  scannedFile: number;
  scannedBytes: number;
  /** Whether coins were ever written to the database. */
  coinsOnDisk: boolean;
  /** Whether block files were ever deleted by pruning. If so, not all blocks can be read from the files. */
  pruned: boolean;
  /** Whether coins, claims and indexes are being deleted (`-reindex-chainstate`). Their remaining rows are then invalid. */
  resetting: boolean;
  /**
   * Whether the chain state is being computed from the block files (`-reindex`, `-reindex-chainstate`) and the computation
   * has not finished.
   */
  rebuilding: boolean;
}

export const FRESH_STATE: ChainState = {
  tip: null,
  headerCount: 0,
  scannedFile: 0,
  scannedBytes: 0,
  coinsOnDisk: false,
  pruned: false,
  resetting: false,
  rebuilding: false,
};

export function formatChainState(state: ChainState): Buffer {
  return Buffer.from(JSON.stringify(state));
}

export function parseChainState(row: Bytes | undefined): ChainState {
  return row ? { ...FRESH_STATE, ...(JSON.parse(Buffer.from(row).toString()) as ChainState) } : FRESH_STATE;
}
