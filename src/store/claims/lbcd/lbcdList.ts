/**
 * One of the two lists that lbcd keeps for a name: its claims or its supports. New entries are appended. At the end of a
 * block, spent and expired entries are removed, and the last entry moves to the free position. Does not access the database.
 * Source: lbcd claimtrie/node/node.go `ApplyChange`, `handleExpiredAndActivated`.
 */
import type { Item } from '../../../claimtrie/item.js';

/** An item (claim or support) that lbcd lists under a name. */
export interface Listed {
  readonly item: Item;
  /**
   * Whether the normalization fork moved the item (claim or support) to this name. lbcd lists a moved item from its
   * creation, but counts it only from the fork on.
   */
  readonly moved: boolean;
}

export interface LbcdEntry {
  listed: Listed;
  /** Number of claims in the list when the first output of this entry was added. */
  readonly sequence: number;
}

export class LbcdList {
  private readonly list: LbcdEntry[] = [];
  /** Position of each entry in the list. */
  private readonly places = new Map<LbcdEntry, number>();
  private readonly byClaim = new Map<string, Set<LbcdEntry>>();
  /** Entries to remove, by the height of the block at whose end they are removed. */
  private readonly leaving = new Map<number, Set<LbcdEntry>>();

  get entries(): readonly LbcdEntry[] {
    return this.list;
  }

  add(listed: Listed): void {
    const entry = { listed, sequence: this.list.length };
    this.places.set(entry, this.list.length);
    this.list.push(entry);
    const { claimId, removed } = listed.item;
    const same = this.byClaim.get(claimId);
    if (same) same.add(entry);
    else this.byClaim.set(claimId, new Set([entry]));
    this.schedule(entry, removed);
  }

  /** The first entry in the list with this claim id. */
  find(claimId: string): LbcdEntry | undefined {
    let first: LbcdEntry | undefined;
    for (const entry of this.byClaim.get(claimId) ?? [])
      if (first === undefined || this.places.get(entry)! < this.places.get(first)!) first = entry;
    return first;
  }

  /** Replaces the output of an entry. */
  replace(entry: LbcdEntry, listed: Listed): void {
    this.leaving.get(entry.listed.item.removed)?.delete(entry);
    entry.listed = listed;
    this.schedule(entry, listed.item.removed);
  }

  /** Removes the entries that lbcd removes at the end of block `height`. `sweep` must have been called for all earlier blocks. */
  sweep(height: number): void {
    const leaving = this.leaving.get(height);
    if (!leaving) return;
    this.leaving.delete(height);
    for (const place of [...leaving].map((entry) => this.places.get(entry)!).sort((a, b) => a - b)) {
      // A position at or beyond the current end belongs to an entry that was already removed as the last one.
      while (place < this.list.length) {
        const last = this.list.pop()!;
        if (leaving.has(last)) {
          this.forget(last);
          continue;
        }
        this.forget(this.list[place]!);
        this.list[place] = last;
        this.places.set(last, place);
        break;
      }
    }
  }

  private schedule(entry: LbcdEntry, height: number): void {
    if (height === 0) return;
    const leaving = this.leaving.get(height);
    if (leaving) leaving.add(entry);
    else this.leaving.set(height, new Set([entry]));
  }

  private forget(entry: LbcdEntry): void {
    this.places.delete(entry);
    const { claimId } = entry.listed.item;
    const same = this.byClaim.get(claimId)!;
    same.delete(entry);
    if (same.size === 0) this.byClaim.delete(claimId);
  }
}
