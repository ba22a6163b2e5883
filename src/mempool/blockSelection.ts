/**
 * Chooses the transactions of a block: again and again the one that pays best together with its unconfirmed ancestors
 * which are not chosen yet. The same mempool gives the same block. Source: lbrycrd miner.cpp `addPackageTxs`.
 *
 * Not taken over: the reference lets the second and later chosen ancestors out of a package's fees without what
 * `prioritise` added, so that a promised fee counts on for their descendants (or is missing there).
 */
import { WITNESS_SCALE_FACTOR } from '../consensus/limits.js';
import { LOCKTIME_THRESHOLD } from '../script/script.js';
import { feeAtRate } from './feeRate.js';
import type { BlockCandidate, BlockLimits } from './mempoolReader.js';
import { compareByKey, type PoolEntry } from './poolEntry.js';
import type { TxPool } from './txPool.js';

/** So many packages in a row that do not fit end the search when the block is nearly full. */
const MAX_CONSECUTIVE_FAILURES = 1000;
/** Weight that counts as nearly full. */
const NEARLY_FULL_WEIGHT = 4000;

/** An entry with the sums over its ancestors that are not chosen. */
interface Package {
  readonly entry: PoolEntry;
  sizeBytes: number;
  feesSat: bigint;
  sigopsCost: number;
  /** Fee rate of the entry alone or with those ancestors, whichever is lower. */
  score: number;
}

function packageOf(entry: PoolEntry): Package {
  const made = {
    entry,
    sizeBytes: entry.ancestorSizeBytes,
    feesSat: entry.ancestorFeesSat,
    sigopsCost: entry.ancestorSigopsCost,
    score: 0,
  };
  made.score = scoreOf(made);
  return made;
}

/** Source: `CompareTxMemPoolEntryByAncestorFee`. */
function scoreOf({ entry, sizeBytes, feesSat }: Package): number {
  const own = Number(entry.modifiedFeeSat) / entry.sizeBytes;
  return sizeBytes === entry.sizeBytes ? own : Math.min(own, Number(feesSat) / sizeBytes);
}

/** Whether `a` is to be looked at before `b`. */
function isBetter(a: Package, b: Package): boolean {
  return a.score !== b.score ? a.score > b.score : compareByKey(a.entry, b.entry) < 0;
}

/** A heap of packages, the best on top. What became stale is left in it and told by `Package` identity. */
class PackageHeap {
  private readonly items: Package[];

  constructor(items: Package[]) {
    this.items = items;
    for (let i = (items.length >> 1) - 1; i >= 0; i--) this.sink(i);
  }

  push(item: Package): void {
    const { items } = this;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (!isBetter(item, items[up]!)) break;
      items[at] = items[up]!;
      at = up;
    }
    items[at] = item;
  }

  pop(): Package | undefined {
    const { items } = this;
    const best = items[0];
    const last = items.pop();
    if (last !== undefined && last !== best) {
      items[0] = last;
      this.sink(0);
    }
    return best;
  }

  private sink(from: number): void {
    const { items } = this;
    const item = items[from]!;
    let at = from;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= items.length) break;
      if (down + 1 < items.length && isBetter(items[down + 1]!, items[down]!)) down++;
      if (!isBetter(items[down]!, item)) break;
      items[at] = items[down]!;
      at = down;
    }
    items[at] = item;
  }
}

class Selection {
  readonly chosen: PoolEntry[] = [];
  private readonly pool: TxPool;
  private readonly limits: BlockLimits;
  private readonly included = new Set<PoolEntry>();
  /** The package that counts of an entry some of whose ancestors are chosen. */
  private readonly modified = new Map<PoolEntry, Package>();
  private readonly heap: PackageHeap;
  private weight = 0;
  private sigopsCost = 0;

  constructor(pool: TxPool, limits: BlockLimits) {
    this.pool = pool;
    this.limits = limits;
    this.heap = new PackageHeap(Array.from(pool.entries(), packageOf));
  }

  run(): void {
    let failures = 0;
    for (let best = this.heap.pop(); best; best = this.heap.pop()) {
      const { entry } = best;
      if (this.included.has(entry) || (this.modified.get(entry) ?? best) !== best) continue;
      if (best.feesSat < feeAtRate(this.limits.minFeeRatePerKb, best.sizeBytes)) return;
      if (!this.fits(best)) {
        failures++;
        const nearlyFull = this.weight > this.limits.maxWeight - NEARLY_FULL_WEIGHT;
        if (failures > MAX_CONSECUTIVE_FAILURES && nearlyFull) return;
        continue;
      }
      const members = [...this.pool.ancestorsOf(entry)].filter((ancestor) => !this.included.has(ancestor));
      members.push(entry);
      if (!members.every((member) => this.mayBeIn(member))) continue;
      failures = 0;
      this.include(members);
    }
  }

  /** The block must stay below the bounds. Source: `TestPackage`. */
  private fits(item: Package): boolean {
    return (
      this.weight + WITNESS_SCALE_FACTOR * item.sizeBytes < this.limits.maxWeight &&
      this.sigopsCost + item.sigopsCost < this.limits.maxSigopsCost
    );
  }

  private mayBeIn({ lockTime, hasFinalSequences, hasWitness }: PoolEntry): boolean {
    if (hasWitness && !this.limits.includeWitness) return false;
    if (lockTime === 0 || hasFinalSequences) return true;
    const { height, lockTimeCutoffSec } = this.limits;
    return lockTime < (lockTime < LOCKTIME_THRESHOLD ? height : lockTimeCutoffSec);
  }

  /** Takes a package, ancestors first, and lets it out of the sums of what descends from it. */
  private include(members: PoolEntry[]): void {
    // Who spends another one has more ancestors.
    members.sort((a, b) => a.ancestorCount - b.ancestorCount || compareByKey(a, b));
    for (const member of members) {
      this.chosen.push(member);
      this.included.add(member);
      this.weight += member.weight;
      this.sigopsCost += member.sigopsCost;
    }
    const touched = new Set<PoolEntry>();
    for (const member of members) {
      for (const below of this.pool.withDescendants(member.children)) {
        if (this.included.has(below)) continue;
        const before = this.modified.get(below) ?? packageOf(below);
        this.modified.set(below, {
          entry: below,
          sizeBytes: before.sizeBytes - member.sizeBytes,
          feesSat: before.feesSat - member.modifiedFeeSat,
          sigopsCost: before.sigopsCost - member.sigopsCost,
          score: 0,
        });
        touched.add(below);
      }
    }
    for (const below of touched) {
      const item = this.modified.get(below)!;
      item.score = scoreOf(item);
      this.heap.push(item);
    }
  }
}

/** The best transactions within the limits, each after those that it spends. */
export function selectTransactions(pool: TxPool, limits: BlockLimits): BlockCandidate[] {
  const selection = new Selection(pool, limits);
  selection.run();
  return selection.chosen.map((entry) => ({
    txid: entry.txid,
    wtxid: entry.wtxid,
    bytes: entry.bytes,
    feeSat: entry.feeSat,
    modifiedFeeSat: entry.modifiedFeeSat,
    sizeBytes: entry.sizeBytes,
    sigopsCost: entry.sigopsCost,
    weight: entry.weight,
  }));
}
