/**
 * Interface of the coin cache: unspent outputs by outpoint, outside the JavaScript heap. Includes changes that are not
 * flushed yet: dirty coins, and tombstones (markers for spent coins that the database still has). The table does not access
 * the disk. It checks no rules except the order "spend, then create, transaction by transaction". The caller reads the coins
 * that `missing` returns, passes them to `load`, validates the block with the result of `resolve`, and then calls `apply`.
 * Source: Core's CCoinsViewCache (coins.cpp), UpdateCoins and DisconnectBlock (validation.cpp).
 */
import type { CoinValue, NativeCoinTable, ParsedBlock, ResolvedInputs } from '../../native/binding.js';

export type { CoinValue, ResolvedInputs } from '../../native/binding.js';

/** Size of a coin's key: txid in wire order, then the output number (u32, little endian). */
export const OUTPOINT_SIZE_BYTES = 36;

export interface CoinTable
  extends Omit<NativeCoinTable, 'loadFrom'>, Partial<Pick<NativeCoinTable, 'loadFrom'>> {
  /** Memory in bytes used by the entries, their scripts and the index. */
  readonly usageBytes: number;
  /** Number of all entries: coins, tombstones, and outpoints that are known to have no coin. */
  readonly entryCount: number;
  readonly dirtyCount: number;
  /** Total size in bytes of all records that `takeDirty` would return. */
  readonly dirtyBytes: number;

  /**
   * Returns the outpoints that must be read from the database, 36 bytes each, without duplicates, in block order. These are
   * the prevouts that are neither in the table nor created earlier in the block. With `checkOutputs` the created outpoints
   * are included (for BIP30 and `revert`).
   */
  missing(block: Uint8Array, parsed: ParsedBlock, checkOutputs: boolean): Buffer;

  /**
   * Inserts the database rows of `outpoints`, in the same order. A row has the format of `formatCoinRow`. A null value means
   * that the database has no coin, which the table remembers. Existing entries are not changed.
   */
  load(outpoints: Uint8Array, values: readonly (Uint8Array | null | undefined)[]): void;

  /**
   * Returns the coin of every input, without changing the table. An outpoint that is not in the table counts as missing, so
   * call `missing` and `load` first. If `checkOutputs` is false, `duplicates` is empty. The default of `checkOutputs` is
   * true.
   */
  resolve(block: Uint8Array, parsed: ParsedBlock, height: number, checkOutputs?: boolean): ResolvedInputs;

  /** Applies a block: spends and creates coins. Throws if `resolve` would not find a coin; the table is then partly changed. */
  apply(block: Uint8Array, parsed: ParsedBlock, height: number): void;

  /**
   * Disconnects the block at `height`: removes the created coins, and restores the spent coins from the undo blob of
   * `buildUndo`. Returns `unclean` if a removed coin differs from the output in the block, or if a restored coin already
   * existed. All outpoints of `missing(block, parsed, true)` must be loaded before. Throws if the blob does not fit the
   * block.
   */
  revert(block: Uint8Array, parsed: ParsedBlock, undo: Uint8Array, height: number): 'ok' | 'unclean';

  /**
   * Returns the coin; `null` if it is known to be spent or absent; `undefined` if the outpoint is not in the table. The
   * script is a copy.
   */
  get(outpoint: Uint8Array): CoinValue | null | undefined;

  /**
   * Adds a coin. Unspendable scripts are ignored. Throws if an unspent coin exists, unless `possibleOverwrite` is set.
   * Source: `AddCoin`.
   */
  add(outpoint: Uint8Array, value: CoinValue, possibleOverwrite: boolean): void;

  /**
   * Spends a coin. Returns whether an unspent coin existed. An outpoint that is not in the table is not added. Source:
   * `SpendCoin`.
   */
  spend(outpoint: Uint8Array): boolean;

  /**
   * Returns the rows of dirty entries as records of the database (`store/rows/rowRecords.ts`): at most `maxBytes`, but at
   * least one record. The returned entries become clean, and tombstones leave the table. Returns `null` if no entry is dirty.
   * Until the records are written, the caller must neither call `trim` nor read the database for `load`.
   */
  takeDirty(maxBytes: number): Buffer | null;

  /**
   * Evicts clean entries until `usageBytes` is at most `targetBytes` or no clean entry is left. Entries that were not used
   * recently are evicted first. Visits at most `maxVisits` entries; without `maxVisits` the number is unlimited.
   */
  trim(targetBytes: number, maxVisits?: number): void;

  /** Removes all entries, including dirty ones. */
  clear(): void;
}
