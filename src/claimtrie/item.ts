/**
 * One claim or support as the trie files it: what it is, since when, and what became of it. Plain data and its orders.
 * Its bytes on disk are `store/claims/rows/itemRow.ts`'s business.
 */
import { fromLatin1, toLatin1, type Bytes } from '../util/bytes.js';
import { hash160Of } from './fastHash.js';

export type ItemKind = 'claim' | 'update' | 'support';

/** Reasons why an item row was removed. */
export const REMOVAL = { spent: 1, expired: 2, refiled: 3 } as const;
export type Removal = (typeof REMOVAL)[keyof typeof REMOVAL];

export interface Item {
  /** Name under which it is filed: pending items under the name of their queue. */
  name: string;
  /** The block at whose end it was first filed there: its creation, or the block that refiled it. */
  since: number;
  /** Outpoint: txid in wire order and the output number, big endian, 36 code units; string order is consensus order. */
  point: string;
  kind: ItemKind;
  /** 20 code units, wire order. */
  claimId: string;
  amount: bigint;
  /** The height of the block that holds the output. */
  height: number;
  /** Offset of its transaction in that block. */
  txOffset: number;
  /** Height for which it was queued. */
  dueHeight: number;
  /** Block in which it entered the trie, 0 while pending. Its valid height from then on. */
  activated: number;
  /** Block that took it from here, 0 while it is filed here. */
  removed: number;
  removal: Removal | 0;
  /** The name as its script has it. */
  rawName: string;
  /** Number among the items with the same name and `since`. */
  ordinal: number;
  /** Made in the block in work: no row has it yet. */
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

/** Id of the claim made at an outpoint. Source: `ClaimIdHash`, whose message is the outpoint as we key it. */
export function claimIdAtPoint(point: string): string {
  return toLatin1(hash160Of(fromLatin1(point)));
}

/** The order in which outputs came into being: by block, transaction and output number. */
export function compareCreation(a: CreationOrder, b: CreationOrder): number {
  return a.height - b.height || a.txOffset - b.txOffset || pointIndex(a.point) - pointIndex(b.point);
}

/**
 * The order in which active supports joined a name: by block; in a block what the normalization fork moved there, name by
 * name, then those that were due, then those that a takeover brought in.
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
