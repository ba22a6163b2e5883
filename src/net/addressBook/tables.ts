/**
 * Data structure of the address book: every entry is in a shuffled list, in a map by IP address, and in slots of the new or
 * the tried table. Invariant: an entry has either one tried slot, or one to eight new slots. This class does not judge
 * addresses by time or reachability. Source: Core addrman.cpp `Create`, `Delete`, `ClearNew`, `MakeTried`; addrman.h
 * `Unserialize`.
 */
import { makeEntry, type PeerBookEntry, type StoredEntry } from './entry.js';
import { BUCKET_SIZE, NEW_BUCKETS, NEW_PLACES_PER_ADDRESS, TRIED_BUCKETS } from './limits.js';
import { Placement } from './placement.js';
import { SlotTable } from './slotTable.js';

/** State of the address book that is stored across restarts. */
export interface BookSnapshot {
  /** Secret key of the slot computation, 32 bytes. */
  readonly key: Buffer;
  readonly fresh: readonly StoredEntry[];
  readonly tried: readonly StoredEntry[];
  /** For each bucket of the new table, the indexes of its entries in `fresh`; null if the slots must be computed again. */
  readonly newBuckets: readonly (readonly number[])[] | null;
}

export class BookTables {
  readonly placement: Placement;
  /** All entries. Drawing random entries changes their order. */
  readonly list: PeerBookEntry[] = [];
  readonly fresh = new SlotTable<PeerBookEntry>(NEW_BUCKETS * BUCKET_SIZE);
  readonly tried = new SlotTable<PeerBookEntry>(TRIED_BUCKETS * BUCKET_SIZE);
  private readonly byIp = new Map<string, PeerBookEntry>();

  constructor(key: Buffer) {
    this.placement = new Placement(key);
  }

  get(ip: string): PeerBookEntry | null {
    return this.byIp.get(ip) ?? null;
  }

  has(entry: PeerBookEntry): boolean {
    return this.byIp.get(entry.ip) === entry;
  }

  /** Adds an entry to the list. Its IP address must not be in the list. The caller must give the entry a slot or remove it. */
  enlist(stored: StoredEntry): PeerBookEntry {
    const entry = makeEntry(stored);
    this.byIp.set(entry.ip, entry);
    entry.listIndex = this.list.length;
    this.list.push(entry);
    return entry;
  }

  /** Removes an entry without slots from the list. */
  forget(entry: PeerBookEntry): void {
    this.swapListed(entry.listIndex, this.list.length - 1);
    this.list.pop();
    this.byIp.delete(entry.ip);
  }

  swapListed(a: number, b: number): void {
    if (a === b) return;
    const first = this.list[a]!;
    const second = this.list[b]!;
    this.list[a] = second;
    this.list[b] = first;
    second.listIndex = a;
    first.listIndex = b;
  }

  /**
   * Puts the entry into a slot of the new table. The former entry of the slot is removed from the address book if it has no
   * other slot.
   */
  placeNew(slot: number, entry: PeerBookEntry): void {
    const present = this.fresh.get(slot);
    if (present !== null) {
      this.fresh.clear(slot);
      present.newSlots = present.newSlots.filter((other) => other !== slot);
      if (present.newSlots.length === 0) this.forget(present);
    }
    this.fresh.set(slot, entry);
    entry.newSlots.push(slot);
  }

  /**
   * Moves an entry to the table of tried addresses. An entry that occupies its slot there moves back to the table of new
   * addresses.
   */
  makeTried(entry: PeerBookEntry): void {
    for (const slot of entry.newSlots) this.fresh.clear(slot);
    entry.newSlots = [];
    const slot = this.placement.triedSlot(entry);
    const evicted = this.tried.get(slot);
    if (evicted !== null) {
      this.tried.clear(slot);
      evicted.isTried = false;
      this.placeNew(this.placement.newSlot(evicted, evicted.source), evicted);
    }
    this.tried.set(slot, entry);
    entry.isTried = true;
  }

  snapshot(): BookSnapshot {
    const fresh = this.list.filter((entry) => !entry.isTried);
    const tried = this.list.filter((entry) => entry.isTried);
    const newBuckets: number[][] = Array.from({ length: NEW_BUCKETS }, () => []);
    fresh.forEach(({ newSlots }, index) => {
      for (const slot of newSlots) newBuckets[Math.floor(slot / BUCKET_SIZE)]!.push(index);
    });
    return { key: this.placement.key, fresh, tried, newBuckets };
  }

  /** Creates tables from stored entries. Duplicates and entries without a free slot are omitted. */
  static restore({ key, fresh, tried, newBuckets }: BookSnapshot): BookTables {
    const tables = new BookTables(key);
    const entries = fresh.map((stored) => (tables.get(stored.ip) === null ? tables.enlist(stored) : null));
    if (newBuckets === null) tables.placeInNewSlots(entries);
    else tables.placeAsKept(entries, newBuckets);
    for (const entry of entries) if (entry !== null && entry.newSlots.length === 0) tables.forget(entry);
    for (const stored of tried) tables.restoreTried(stored);
    return tables;
  }

  private placeInNewSlots(entries: readonly (PeerBookEntry | null)[]): void {
    for (const entry of entries) {
      if (entry !== null) this.placeIfFree(this.placement.newSlot(entry, entry.source), entry);
    }
  }

  private placeAsKept(
    entries: readonly (PeerBookEntry | null)[],
    newBuckets: readonly (readonly number[])[],
  ): void {
    newBuckets.forEach((indices, bucket) => {
      for (const index of indices) {
        const entry = entries[index];
        if (entry) this.placeIfFree(this.placement.slotInNewBucket(entry, bucket), entry);
      }
    });
  }

  private placeIfFree(slot: number, entry: PeerBookEntry): void {
    if (this.fresh.get(slot) === null && entry.newSlots.length < NEW_PLACES_PER_ADDRESS)
      this.placeNew(slot, entry);
  }

  private restoreTried(stored: StoredEntry): void {
    const slot = this.placement.triedSlot(stored);
    if (this.get(stored.ip) !== null || this.tried.get(slot) !== null) return;
    const entry = this.enlist(stored);
    this.tried.set(slot, entry);
    entry.isTried = true;
  }
}
