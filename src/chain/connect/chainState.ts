/** The row that says what the database is about: its tip, and up to where the block files are known to it. */
import type { Bytes } from '../../util/bytes.js';

export interface ChainState {
  /** Printed block id, null before the genesis block. */
  tip: string | null;
  /** Headers in the table. */
  headerCount: number;
  /** Everything in the block files before this position is in the header table. */
  scannedFile: number;
  scannedBytes: number;
  /** Whether coins were ever written. */
  coinsOnDisk: boolean;
  /** Whether block files were ever deleted: then not every block can be had from the files. */
  pruned: boolean;
  /** Coins, claims and indexes are being dropped (`-reindex-chainstate`); what is left of them means nothing. */
  resetting: boolean;
  /** Everything is being computed from the block files (`-reindex`, `-reindex-chainstate`), which is not done yet. */
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
