/**
 * One of the two lists that lbcd keeps of a name: it grows at its end, and loses what is spent or expires at the end of a
 * block, the last one taking the empty place. Pure.
 * Source: lbcd claimtrie/node/node.go `ApplyChange`, `handleExpiredAndActivated`.
 */
import type { Item } from '../../../claimtrie/item.js';

/** An item that lbcd lists under a name. */
export interface Listed {
  readonly item: Item;
  /** Whether the normalization fork brought it: it is listed since it was made, and counts since the fork. */
  readonly moved: boolean;
}

export interface Entry {
  listed: Listed;
  /** How many claims were listed when the first of its outputs came. */
  readonly sequence: number;
}

export class LbcdList {
  private readonly list: Entry[] = [];
  /** Position of each entry. */
  private readonly places = new Map<Entry, number>();
  private readonly byClaim = new Map<string, Set<Entry>>();
  /** Leaving entries by the block at whose end they leave. */
  private readonly leaving = new Map<number, Set<Entry>>();

  get entries(): readonly Entry[] {
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

  /** The first in the list with this claim id. */
  find(claimId: string): Entry | undefined {
    let first: Entry | undefined;
    for (const entry of this.byClaim.get(claimId) ?? [])
      if (first === undefined || this.places.get(entry)! < this.places.get(first)!) first = entry;
    return first;
  }

  /** Puts another output in place of one. */
  replace(entry: Entry, listed: Listed): void {
    this.leaving.get(entry.listed.item.removed)?.delete(entry);
    entry.listed = listed;
    this.schedule(entry, listed.item.removed);
  }

  /** Takes out what leaves at the end of the block. What left before must have been taken out. */
  sweep(height: number): void {
    const leaving = this.leaving.get(height);
    if (!leaving) return;
    this.leaving.delete(height);
    for (const place of [...leaving].map((entry) => this.places.get(entry)!).sort((a, b) => a - b)) {
      // An entry behind the present end has left already, as the last one of that time.
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

  private schedule(entry: Entry, height: number): void {
    if (height === 0) return;
    const leaving = this.leaving.get(height);
    if (leaving) leaving.add(entry);
    else this.leaving.set(height, new Set([entry]));
  }

  private forget(entry: Entry): void {
    this.places.delete(entry);
    const { claimId } = entry.listed.item;
    const same = this.byClaim.get(claimId)!;
    same.delete(entry);
    if (same.size === 0) this.byClaim.delete(claimId);
  }
}
