/**
 * One claim or support as stored in the trie: its contents, its heights, and its removal. Plain data and its sort orders.
 * `store/claims/rows/itemRow.ts` defines the bytes on disk.
 */
import { hash160 } from '../crypto/hash.js';
import { loadNative } from '../native/binding.js';
import { fromLatin1, toLatin1, type Bytes } from '../util/bytes.js';

export type ItemKind = 'claim' | 'update' | 'support';

/** Reasons why an item (claim or support) was removed from its name. */
export const REMOVAL = { spent: 1, expired: 2, refiled: 3 } as const;
export type Removal = (typeof REMOVAL)[keyof typeof REMOVAL];

export interface Item {
  /** Name under which the item (claim or support) is stored. For a pending item this is the name under which it is queued. */
  name: string;
  /**
   * Height of the block at whose end the item (claim or support) was first stored under this name: the block that created
   * it, or the block that moved it to its normalized name.
   */
  since: number;
  /**
   * Outpoint as latin1: txid in wire order and big-endian output number, 36 characters. The order of these texts is the
   * consensus order.
   */
  point: string;
  kind: ItemKind;
  /** Claim id: 20 characters, one for each byte, in wire order. For a support it is the id of the supported claim. */
  claimId: string;
  amount: bigint;
  /** The height of the block that contains the output. */
  height: number;
  /** Byte offset of the item's transaction in the block at `height`. */
  txOffset: number;
  /** Height of the block in which the pending item (claim or support) becomes active if nothing happens before. */
  dueHeight: number;
  /** Height of the block in which the item (claim or support) became active; 0 while it is pending. */
  activated: number;
  /** Height of the block that removed the item from this name; 0 while the item is stored under this name. */
  removed: number;
  removal: Removal | 0;
  /** The name as in the output script. */
  rawName: string;
  /** Number of this item (claim or support) among the items that were stored under the same name in the same block (`since`). */
  ordinal: number;
  /** Whether the current block created the item (claim or support). Such an item has no row in the database. */
  isNew: boolean;
}

export function pointKey(txid: Bytes, n: number): string {
  return toLatin1(txid) + String.fromCharCode(n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255);
}

export function pointTxid(point: string): Buffer {
  return fromLatin1(point.slice(0, 32));
}

export function pointIndex(point: string): number {
  return (
    ((point.charCodeAt(32) << 24) |
      (point.charCodeAt(33) << 16) |
      (point.charCodeAt(34) << 8) |
      point.charCodeAt(35)) >>>
    0
  );
}

/** Id of the claim created at an outpoint. Source: `ClaimIdHash`; the hashed bytes are those of the outpoint key used here. */
export function claimIdAtPoint(point: string): string {
  return loadNative()?.claimIdAtPoint(point) ?? toLatin1(hash160(fromLatin1(point)));
}

/** The order in which outputs were created: by block, transaction and output number. */
export function compareCreation(a: CreationOrder, b: CreationOrder): number {
  return a.height - b.height || a.txOffset - b.txOffset || pointIndex(a.point) - pointIndex(b.point);
}

/**
 * The order in which active supports were added to a name: by block. Within a block: first the supports that the
 * normalization fork moved to the name, name by name; then the due supports; then the supports activated by a takeover.
 */
export function compareJoining(a: Item, b: Item): number {
  const [movedA, movedB] = [a.since > a.activated, b.since > b.activated];
  return (
    Math.max(a.activated, a.since) - Math.max(b.activated, b.since) ||
    Number(movedB) - Number(movedA) ||
    (movedA ? compareText(a.rawName, b.rawName) || a.activated - b.activated : 0) ||
    Number(a.activated !== a.dueHeight) - Number(b.activated !== b.dueHeight) ||
    compareCreation(a, b)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export interface CreationOrder {
  height: number;
  txOffset: number;
  point: string;
}
