/**
 * All row prefixes of the database, except those of the claim trie (see claims/rows/claimKeys.ts). A key is a
 * latin1 string, one character for each byte. Numbers in keys are big endian, so that keys sort by number.
 */
import { toLatin1, type Bytes } from '../../util/bytes.js';

export const PREFIX = {
  /** `C` ‖ txid ‖ output number (u32 LE) → coin (height code u32, amount i64, script). */
  coin: 'C',
  /**
   * `H` ‖ 0 or 1 ‖ chunk number u32 → fields of 512 headers: those that stay in memory (hot), or those that are read on
   * demand (cold).
   */
  headerChunk: 'H',
  /** `T` → state of the chain: tip, positions in block files, counters. */
  tip: 'T',
  /** `M` ‖ name → properties of the data folder: schema, network, support delay, window options. */
  meta: 'M',
  /** `X` ‖ first bytes of a txid ‖ height ‖ offset → first bytes of the wtxid (transaction index, verified on read). */
  txIndex: 'X',
  /**
   * `P` ‖ first bytes of a txid ‖ output number ‖ height ‖ offset of the spender → first bytes of the spender's txid (spend
   * index).
   */
  spend: 'P',
  /** `A` ‖ key of a script (16 bytes) ‖ height ‖ transaction number → txid, received, spent (address index). */
  addressHistory: 'A',
  /** `U` ‖ key of a script ‖ height ‖ outpoint → amount of an unspent output. */
  addressUnspent: 'U',
  /** `S` ‖ key of a script → received, spent, number of transactions. */
  addressTotals: 'S',
  /** `I` ‖ name of an index → version of its rows, id of the last indexed block. */
  indexPosition: 'I',
  /** `F` ‖ height u32 → compact filter of the block of the active chain (filter index). */
  blockFilter: 'F',
  /** `G` ‖ height u32 → hash of the block's compact filter, and the filter header. */
  filterHeader: 'G',
  /** `L` ‖ row type ‖ … → rows of the claim index (index/claims/claimIndexKeys.ts). */
  claimIndex: 'L',
  /** `~` ‖ key → staged write of a large transaction: 0 for a deletion, 1 ‖ value for a put. */
  stage: '~',
} as const;

export function u32Key(value: number): string {
  return String.fromCharCode(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255);
}

/** Reads the u32 at an offset of a key. */
export function readU32(key: string, at: number): number {
  return (
    ((key.charCodeAt(at) << 24) |
      (key.charCodeAt(at + 1) << 16) |
      (key.charCodeAt(at + 2) << 8) |
      key.charCodeAt(at + 3)) >>>
    0
  );
}

export function coinKey(outPoint: Bytes): string {
  return PREFIX.coin + toLatin1(outPoint);
}
