/**
 * Names with many claims and supports as they stand after the latest block, kept from one question to the next: reading all
 * that is filed under such a name takes milliseconds, and most questions about it show one claim. Bounded; all are forgotten
 * when the tip moves.
 */
import type { NameInfo } from '../store/claims/claimQueries.js';
import type { NameHead } from '../store/claims/nameRow.js';

/** Names with fewer are read again: their rows are in memory. Arbitrary. */
const LEAST_ITEMS = 64;
/** Claims and supports that are kept, of all names together. One takes about 250 bytes. */
const MOST_ITEMS = 65_536;

/** Which block is the latest. `disconnects` grows with every block that is taken back. */
export interface TipMarks {
  readonly tip: number;
  readonly disconnects: number;
}

function itemsOf({ claims, supportsWithoutClaim }: NameInfo): number {
  let items = claims.length + supportsWithoutClaim.length;
  for (const { supports } of claims) items += supports.length;
  return items;
}

/** Names whose heads are kept. Arbitrary. */
const MOST_HEADS = 1024;

/** The infos that it hands out must not be changed. */
export class KeptNames {
  /** In the order of their last use. */
  private readonly names = new Map<string, { info: NameInfo; items: number }>();
  private readonly heads = new Map<string, NameHead>();
  private items = 0;
  private tip = -1;
  private disconnects = -1;

  /** Claims and supports that are kept. */
  get size(): number {
    return this.items;
  }

  find(key: string, marks: TipMarks): NameInfo | undefined {
    if (!this.isOf(marks)) return undefined;
    const kept = this.names.get(key);
    if (kept === undefined) return undefined;
    this.names.delete(key);
    this.names.set(key, kept);
    return kept.info;
  }

  /** `before` is where the tip was when the reading began. */
  keep(key: string, info: NameInfo, before: TipMarks, now: TipMarks): void {
    if (before.tip !== now.tip || before.disconnects !== now.disconnects) return;
    const items = itemsOf(info);
    if (items < LEAST_ITEMS || items > MOST_ITEMS) return;
    this.moveTo(now);
    this.drop(key);
    for (const [oldest] of this.names) {
      if (this.items + items <= MOST_ITEMS) break;
      this.drop(oldest);
    }
    this.names.set(key, { info, items });
    this.items += items;
  }

  findHead(name: string, marks: TipMarks): NameHead | undefined {
    return this.isOf(marks) ? this.heads.get(name) : undefined;
  }

  keepHead(name: string, head: NameHead, before: TipMarks, now: TipMarks): void {
    if (before.tip !== now.tip || before.disconnects !== now.disconnects) return;
    this.moveTo(now);
    if (this.heads.size >= MOST_HEADS) this.heads.clear();
    this.heads.set(name, head);
  }

  private moveTo(now: TipMarks): void {
    if (this.isOf(now)) return;
    this.names.clear();
    this.heads.clear();
    this.items = 0;
    this.tip = now.tip;
    this.disconnects = now.disconnects;
  }

  private isOf({ tip, disconnects }: TipMarks): boolean {
    return this.tip === tip && this.disconnects === disconnects;
  }

  private drop(key: string): void {
    this.items -= this.names.get(key)?.items ?? 0;
    this.names.delete(key);
  }
}
