/**
 * The big coin cache: unspent outputs by outpoint, off the JavaScript heap, including changes that are not flushed yet
 * (dirty coins and tombstones). It has no disk access, and no rules except "spend, then create, in transaction order". The
 * caller reads the coins that `missing` returns, passes them to `load`, validates the block with the result of `resolve`,
 * and then calls `apply`. Source: Core's CCoinsViewCache (coins.cpp), UpdateCoins and DisconnectBlock (validation.cpp).
 */
import type { CoinValue, NativeCoinTable, ParsedBlock, ResolvedInputs } from '../../native/binding.js';

export type { CoinValue, ResolvedInputs } from '../../native/binding.js';

/** Key of a coin: txid in wire order, then the output number, little endian. */
export const OUTPOINT_SIZE_BYTES = 36;

/** Value length that stands for "delete" in the records of `takeDirty`. */
export const DELETED_VALUE = 0xffffffff;

export interface CoinTable extends NativeCoinTable {
  /** Memory used by the entries, their scripts and the index. */
  readonly usageBytes: number;
  /** Entries of every kind: coins, tombstones, outpoints known to be absent. */
  readonly entryCount: number;
  readonly dirtyCount: number;
  /** Total size of all records that `takeDirty` would return. */
  readonly dirtyBytes: number;

  /**
   * The outpoints (36 bytes each, each once, in block order) that must be read from the database: prevouts neither in
   * the table nor created earlier in the block, and with `checkOutputs` the created outpoints too (BIP30, `revert`).
   */
  missing(block: Uint8Array, parsed: ParsedBlock, checkOutputs: boolean): Buffer;

  /**
   * Inserts the database rows of `outpoints`, in order: rows as `formatCoinRow` writes them, or nothing for
   * an outpoint without a coin (remembered as absent). Entries that exist already stay as they are.
   */
  load(outpoints: Uint8Array, values: readonly (Uint8Array | null | undefined)[]): void;

  /**
   * Returns the coin of every input, without changing the table. An outpoint that is not in the table counts as missing, so
   * call `missing` and `load` first. `duplicates` is empty with `checkOutputs` false (it is true when left out).
   */
  resolve(block: Uint8Array, parsed: ParsedBlock, height: number, checkOutputs?: boolean): ResolvedInputs;

  /** Spends and creates coins. Throws on a coin which `resolve` would not have found; the table is then half changed. */
  apply(block: Uint8Array, parsed: ParsedBlock, height: number): void;

  /**
   * Disconnects the block of `height`: removes its outputs, restores its inputs from the blob of `buildUndo`.
   * `unclean`: a removed output differs from the one in the block, or a restored coin already existed. Needs every outpoint
   * of `missing(block, parsed, true)` loaded. Throws when the blob does not fit the block.
   */
  revert(block: Uint8Array, parsed: ParsedBlock, undo: Uint8Array, height: number): 'ok' | 'unclean';

  /** The coin; `null` when known to be spent or absent; `undefined` when it is not in the table. The script is a copy. */
  get(outpoint: Uint8Array): CoinValue | null | undefined;

  /** Source: `AddCoin`. Unspendable scripts are ignored. Throws on an unspent coin unless `possibleOverwrite`. */
  add(outpoint: Uint8Array, value: CoinValue, possibleOverwrite: boolean): void;

  /** Source: `SpendCoin`. Returns whether there was an unspent coin. An outpoint that is not in the table is not added. */
  spend(outpoint: Uint8Array): boolean;

  /**
   * At least one and at most `maxBytes` of dirty entries as records (36-byte key, u32 LE value length or
   * `DELETED_VALUE`, value), which become clean; tombstones leave the table. `null` when nothing is dirty. Until the
   * records are written, the caller must neither `trim` nor read the database for `load`.
   */
  takeDirty(maxBytes: number): Buffer | null;

  /**
   * Evicts clean entries, those not used recently first, until `usageBytes` is at most `targetBytes` or nothing clean is
   * left, looking at `maxVisits` entries at most (no bound when left out).
   */
  trim(targetBytes: number, maxVisits?: number): void;

  /** Forgets everything, dirty entries too. */
  clear(): void;
}
