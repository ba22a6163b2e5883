/**
 * The transactions of the mempool, indexed by id and by spent outpoints, linked to parents and children, with current sums
 * over ancestors and descendants. Other modules decide which transactions are accepted. Each change is synchronous and
 * leaves a consistent state. Source: Core txmempool.cpp `CTxMemPool`.
 */
import { assert } from '../util/assert.js';
import { toLatin1 } from '../util/bytes.js';
import { sortedInSlices, type Slices } from '../util/slices.js';
import { EvictionQueue } from './evictionQueue.js';
import { compareByKey, LINK_USAGE_BYTES, txKeyOf, type PoolEntry } from './poolEntry.js';

/** Reason for the removal of a transaction. Source: `MemPoolRemovalReason`. */
export type RemovalReason = 'expiry' | 'sizelimit' | 'reorg' | 'block' | 'conflict' | 'replaced';

/** Number of bytes of memory that a stored fee delta uses. */
const DELTA_USAGE_BYTES = 150;
/** Number of entries that are sorted without yielding to the event loop, which takes a few milliseconds. */
const SORTED_AT_ONCE = 2000;

export class TxPool {
  private readonly byKey = new Map<string, PoolEntry>();
  /** Entries that spend an outpoint, by outpoint key. */
  private readonly spenders = new Map<string, PoolEntry>();
  private readonly deltas = new Map<string, bigint>();
  private readonly eviction = new EvictionQueue();
  private readonly onRemoved: (entry: PoolEntry, reason: RemovalReason) => void;
  private entryUsageBytes = 0;
  private links = 0;
  /** Lower bound of the arrival times of all entries, so that `expire` need not search them each time. */
  private oldestTimeSec = Infinity;
  /** Cached result of `inMiningOrder`. It is deleted at the next change, because it would keep removed entries in memory. */
  private ordered: readonly PoolEntry[] | null = null;
  /** Sum of the virtual sizes of all entries. */
  totalSizeBytes = 0;
  totalFeeSat = 0n;
  private changes = 0;

  constructor(onRemoved: (entry: PoolEntry, reason: RemovalReason) => void) {
    this.onRemoved = onRemoved;
  }

  get size(): number {
    return this.byKey.size;
  }

  /** Source: `nTransactionsUpdated`. */
  get changeCount(): number {
    return this.changes;
  }

  private noteChange(): void {
    this.changes++;
    this.ordered = null;
  }

  /** Whether the mempool has neither transactions nor fee deltas, so that connecting a block cannot change it. */
  get isIdle(): boolean {
    return this.byKey.size === 0 && this.deltas.size === 0;
  }

  get usageBytes(): number {
    return this.entryUsageBytes + this.links * LINK_USAGE_BYTES + this.deltaUsageBytes;
  }

  /** Memory used by fee deltas, in bytes. */
  get deltaUsageBytes(): number {
    return this.deltas.size * DELTA_USAGE_BYTES;
  }

  get(key: string): PoolEntry | undefined {
    return this.byKey.get(key);
  }

  has(key: string): boolean {
    return this.byKey.has(key);
  }

  entries(): IterableIterator<PoolEntry> {
    return this.byKey.values();
  }

  /** All entries, sorted by number of ancestors, then by fee rate, the highest first. Source: `GetSortedDepthAndScore`. */
  inMiningOrder(): readonly PoolEntry[] {
    return (this.ordered ??= [...this.byKey.values()].sort(compareDepthAndScore));
  }

  /**
   * Like `inMiningOrder`, but yields to the event loop while it sorts. The result contains the entries that exist at the
   * start. An entry that changes during the sort may be at a wrong position.
   */
  *inMiningOrderInSlices(): Slices<readonly PoolEntry[]> {
    if (this.ordered !== null || this.byKey.size <= SORTED_AT_ONCE) return this.inMiningOrder();
    const { changes } = this;
    const sorted = yield* sortedInSlices([...this.byKey.values()], compareDepthAndScore);
    if (this.changes === changes) this.ordered = sorted;
    return sorted;
  }

  spenderOf(outPointKey: string): PoolEntry | undefined {
    return this.spenders.get(outPointKey);
  }

  spentOutPoints(): IterableIterator<[string, PoolEntry]> {
    return this.spenders.entries();
  }

  /**
   * Entries that spend outputs of a transaction, without duplicates. `outputCount` is its number of outputs. The transaction
   * need not be in the mempool.
   */
  spendersOf(key: string, outputCount: number): Set<PoolEntry> {
    const found = new Set<PoolEntry>();
    const index = Buffer.alloc(4);
    for (let n = 0; n < outputCount; n++) {
      index.writeUInt32LE(n, 0);
      const spender = this.spenders.get(key + toLatin1(index));
      if (spender) found.add(spender);
    }
    return found;
  }

  /** Unconfirmed transactions that created the spent outputs, without duplicates. */
  parentsOf(spentKeys: readonly string[]): PoolEntry[] {
    const parents: PoolEntry[] = [];
    for (const outPoint of spentKeys) {
      const parent = this.byKey.get(txKeyOf(outPoint));
      if (parent && !parents.includes(parent)) parents.push(parent);
    }
    return parents;
  }

  /** All unconfirmed ancestors of the entry, without the entry itself. */
  ancestorsOf(entry: PoolEntry): Set<PoolEntry> {
    return closure(entry.parents, (next) => next.parents);
  }

  /** The entries and all their unconfirmed descendants. Source: `CalculateDescendants`. */
  withDescendants(entries: Iterable<PoolEntry>): Set<PoolEntry> {
    return closure(entries, (next) => next.children);
  }

  /**
   * Adds an entry whose ancestors are known. Entries that already spend its outputs are linked later by `linkChildren`.
   * Source: `addUnchecked`.
   */
  add(entry: PoolEntry, ancestors: ReadonlySet<PoolEntry>): void {
    assert(!this.byKey.has(entry.key), 'a transaction enters the mempool twice');
    this.byKey.set(entry.key, entry);
    const delta = this.deltas.get(entry.key);
    if (delta !== undefined) this.setDelta(entry, delta);
    const spentKeys = entry.spentKeys();
    for (const outPoint of spentKeys) {
      assert(!this.spenders.has(outPoint), 'two transactions of the mempool spend one output');
      this.spenders.set(outPoint, entry);
    }
    for (const parent of this.parentsOf(spentKeys)) this.link(parent, entry);
    for (const ancestor of ancestors) {
      this.growDescendants(ancestor, entry.sizeBytes, entry.modifiedFeeSat, 1);
      entry.changeAncestors(ancestor.sizeBytes, ancestor.modifiedFeeSat, 1, ancestor.sigopsCost);
    }
    this.entryUsageBytes += entry.usageBytes;
    this.totalSizeBytes += entry.sizeBytes;
    this.totalFeeSat += entry.feeSat;
    this.oldestTimeSec = Math.min(this.oldestTimeSec, entry.timeSec);
    this.noteChange();
    this.eviction.add(entry);
  }

  /**
   * Removes a set of entries. Without `keepsDescendants`, the set must contain all descendants of its members. With it, the
   * entries were confirmed, and their remaining descendants lose an ancestor. Source: `RemoveStaged`.
   */
  remove(entries: ReadonlySet<PoolEntry>, reason: RemovalReason, keepsDescendants = false): void {
    if (keepsDescendants) {
      for (const entry of entries) {
        for (const below of this.withDescendants(entry.children)) {
          below.changeAncestors(-entry.sizeBytes, -entry.modifiedFeeSat, -1, -entry.sigopsCost);
        }
      }
    }
    for (const entry of entries) {
      // The ancestors are found by the links, because during a reorg not all children are linked, and only linked
      // ancestors include the entry in their sums.
      for (const ancestor of this.ancestorsOf(entry)) {
        this.growDescendants(ancestor, -entry.sizeBytes, -entry.modifiedFeeSat, -1);
      }
      for (const parent of entry.parents) {
        parent.children = without(parent.children, entry);
        this.links--;
      }
    }
    for (const entry of entries) {
      for (const child of entry.children) {
        child.parents = without(child.parents, entry);
        this.links--;
      }
    }
    for (const entry of entries) this.drop(entry, reason);
  }

  private drop(entry: PoolEntry, reason: RemovalReason): void {
    for (const outPoint of entry.spentKeys()) this.spenders.delete(outPoint);
    this.links -= entry.parents.length + entry.children.length;
    this.byKey.delete(entry.key);
    this.eviction.remove(entry);
    entry.package = null;
    this.entryUsageBytes -= entry.usageBytes;
    this.totalSizeBytes -= entry.sizeBytes;
    this.totalFeeSat -= entry.feeSat;
    if (this.byKey.size === 0) this.oldestTimeSec = Infinity;
    this.noteChange();
    this.onRemoved(entry, reason);
  }

  private link(parent: PoolEntry, child: PoolEntry): void {
    parent.children = [...parent.children, child];
    child.parents = [...child.parents, parent];
    this.links += 2;
  }

  private growDescendants(entry: PoolEntry, sizeBytes: number, feesSat: bigint, count: number): void {
    entry.changeDescendants(sizeBytes, feesSat, count);
    this.eviction.update(entry);
  }

  /**
   * Completes the links of entries that returned from disconnected blocks: entries that were in the mempool before may spend
   * their outputs. `returned` is in the order of addition. Source: `UpdateTransactionsFromBlock`.
   */
  linkChildren(returned: readonly PoolEntry[], outputCountOf: (entry: PoolEntry) => number): void {
    const counted = new Set(returned);
    // The order is reversed, so that the descendants of an entry are processed before the entry.
    for (const entry of returned.toReversed()) {
      for (const child of this.spendersOf(entry.key, outputCountOf(entry))) {
        if (!counted.has(child)) this.link(entry, child);
      }
      for (const below of this.withDescendants(entry.children)) {
        if (counted.has(below)) continue;
        below.changeAncestors(entry.sizeBytes, entry.modifiedFeeSat, 1, entry.sigopsCost);
        this.growDescendants(entry, below.sizeBytes, below.modifiedFeeSat, 1);
      }
    }
    this.ordered = null;
  }

  /** Fee delta of a transaction, which need not be in the pool; 0 if there is none. */
  deltaOf(key: string): bigint {
    return this.deltas.get(key) ?? 0n;
  }

  feeDeltas(): IterableIterator<[string, bigint]> {
    return this.deltas.entries();
  }

  /**
   * Adds a fee delta, positive or negative, to a transaction. The sum of its deltas stays within 64 bits, the size in
   * `mempool.dat`. Source: `PrioritiseTransaction`.
   */
  prioritise(key: string, deltaSat: bigint): void {
    const before = this.deltaOf(key);
    const total = withinInt64(before + deltaSat);
    this.deltas.set(key, total);
    const entry = this.byKey.get(key);
    if (!entry) return;
    const changeSat = total - before;
    this.setDelta(entry, total);
    for (const ancestor of this.ancestorsOf(entry)) this.growDescendants(ancestor, 0, changeSat, 0);
    for (const below of this.withDescendants(entry.children)) below.changeAncestors(0, changeSat, 0, 0);
    this.noteChange();
  }

  clearDelta(key: string): void {
    this.deltas.delete(key);
  }

  private setDelta(entry: PoolEntry, deltaSat: bigint): void {
    const change = deltaSat - entry.feeDeltaSat;
    entry.feeDeltaSat = deltaSat;
    entry.changeDescendants(0, change, 0);
    entry.changeAncestors(0, change, 0, 0);
    this.eviction.update(entry);
  }

  /** Entry to evict first when the mempool is full; undefined if it is empty. */
  firstToEvict(): PoolEntry | undefined {
    return this.eviction.first(this.byKey.values());
  }

  /** Removes entries older than a time and their descendants. Returns the number of removed entries. Source: `Expire`. */
  expire(beforeSec: number): number {
    if (this.oldestTimeSec >= beforeSec) return 0;
    const expired: PoolEntry[] = [];
    this.oldestTimeSec = Infinity;
    for (const entry of this.byKey.values()) {
      if (entry.timeSec < beforeSec) expired.push(entry);
      else this.oldestTimeSec = Math.min(this.oldestTimeSec, entry.timeSec);
    }
    const all = this.withDescendants(expired);
    this.remove(all, 'expiry');
    return all.size;
  }
}

/**
 * Comparison by the number of ancestors, then by fee rate without fee deltas, then by txid. QUIRK: txids are compared like
 * the reference's `uint256`, whose bytes are in wire order, and the higher one comes first.
 */
export function compareDepthAndScore(a: Scored, b: Scored): number {
  if (a.ancestorCount !== b.ancestorCount) return a.ancestorCount - b.ancestorCount;
  const difference = Number(b.feeSat) * a.sizeBytes - Number(a.feeSat) * b.sizeBytes;
  return difference !== 0 ? difference : compareByKey(b, a);
}

type Scored = Pick<PoolEntry, 'key' | 'ancestorCount' | 'feeSat' | 'sizeBytes'>;

const MAX_INT64 = 2n ** 63n - 1n;

function withinInt64(sat: bigint): bigint {
  if (sat > MAX_INT64) return MAX_INT64;
  return sat < -MAX_INT64 ? -MAX_INT64 : sat;
}

function without(entries: readonly PoolEntry[], gone: PoolEntry): readonly PoolEntry[] {
  return entries.filter((entry) => entry !== gone);
}

function closure(
  start: Iterable<PoolEntry>,
  next: (entry: PoolEntry) => readonly PoolEntry[],
): Set<PoolEntry> {
  const seen = new Set(start);
  // The iteration over a set also reaches entries that are added during the iteration.
  for (const entry of seen) for (const other of next(entry)) seen.add(other);
  return seen;
}
