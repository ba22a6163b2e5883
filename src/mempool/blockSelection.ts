/**
 * Chooses the transactions of a block: repeatedly the one that pays best together with its unconfirmed ancestors that are
 * not chosen yet. The result depends only on the mempool, not on earlier selections: between two selections only the order
 * of the packages is cached (`packageOrder.ts`). Source: lbrycrd miner.cpp `addPackageTxs`.
 *
 * Difference: for the second and later chosen ancestors, the reference subtracts the fee from a package without the delta of
 * `prioritise`, so the delta still counts for their descendants (or is missing there).
 */
import { WITNESS_SCALE_FACTOR } from '../consensus/limits.js';
import { LOCKTIME_THRESHOLD } from '../script/script.js';
import { inSlices } from '../scheduler/slices.js';
import { atOnce, type Slices } from '../util/slices.js';
import { feeAtRate } from './feeRate.js';
import type { BlockLimits } from './mempoolReader.js';
import {
  comparePackages,
  PackageOrder,
  packageScore,
  type PackageWalk,
  type Scored,
} from './packageOrder.js';
import { compareByKey, type PoolEntry } from './poolEntry.js';
import type { TxPool } from './txPool.js';

/** Number of consecutive packages that do not fit into a nearly full block after which the search ends. */
const MAX_CONSECUTIVE_FAILURES = 1000;
/** Remaining weight below which a block counts as nearly full. */
const NEARLY_FULL_WEIGHT = 4000;
/**
 * Number of packages that are processed between two checks whether to yield to the event loop, which takes a fraction of a
 * millisecond.
 */
const PACKAGES_AT_ONCE = 16;
/** Number of attempts that a change of the mempool may abort. A further attempt runs without yielding. Arbitrary. */
const MAX_ATTEMPTS = 3;

/** A package: an entry, with the sums over the entry and its ancestors that are not chosen yet. */
interface Package extends Scored {
  readonly sizeBytes: number;
  readonly feesSat: bigint;
  readonly sigopsCost: number;
}

function wholePackage(entry: PoolEntry): Package {
  return {
    entry,
    sizeBytes: entry.ancestorSizeBytes,
    feesSat: entry.ancestorFeesSat,
    sigopsCost: entry.ancestorSigopsCost,
    score: entry.package!.score,
  };
}

/** Returns a package after one of its ancestors was chosen: the chosen entry is subtracted from the sums. */
function without(item: Package, chosen: PoolEntry): Package {
  const sizeBytes = item.sizeBytes - chosen.sizeBytes;
  const feesSat = item.feesSat - chosen.modifiedFeeSat;
  return {
    entry: item.entry,
    sizeBytes,
    feesSat,
    sigopsCost: item.sigopsCost - chosen.sigopsCost,
    score: packageScore(item.entry, sizeBytes, feesSat),
  };
}

/**
 * Binary heap of packages with the best package first. Outdated packages stay in the heap; they are recognized because
 * `modified` has another object.
 */
class PackageHeap {
  private readonly items: Package[] = [];

  get best(): Package | undefined {
    return this.items[0];
  }

  push(item: Package): void {
    const { items } = this;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (comparePackages(item, items[up]!) > 0) break;
      items[at] = items[up]!;
      at = up;
    }
    items[at] = item;
  }

  /** Removes the best package from the heap. */
  drop(): void {
    const last = this.items.pop();
    if (last === undefined || this.items.length === 0) return;
    this.items[0] = last;
    this.sink();
  }

  private sink(): void {
    const { items } = this;
    const item = items[0]!;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= items.length) break;
      if (down + 1 < items.length && comparePackages(items[down + 1]!, items[down]!) < 0) down++;
      if (comparePackages(items[down]!, item) > 0) break;
      items[at] = items[down]!;
      at = down;
    }
    items[at] = item;
  }
}

class BlockSelection {
  readonly chosen: PoolEntry[] = [];
  private readonly pool: TxPool;
  private readonly limits: BlockLimits;
  private readonly waiting: PackageWalk;
  private readonly included = new Set<PoolEntry>();
  /** Packages of those entries that have chosen ancestors, with current sums. */
  private readonly modified = new Map<PoolEntry, Package>();
  private readonly heap = new PackageHeap();
  private weight = 0;
  private sigopsCost = 0;

  constructor(pool: TxPool, waiting: PackageWalk, limits: BlockLimits) {
    this.pool = pool;
    this.waiting = waiting;
    this.limits = limits;
  }

  /** Runs the selection. Returns false if it ended early because the mempool changed during a yield. */
  *run(): Slices<boolean> {
    const { changeCount } = this.pool;
    let failures = 0;
    let looked = 0;
    for (let best = this.takeBest(); best; best = this.takeBest()) {
      if (++looked % PACKAGES_AT_ONCE === 0) {
        yield;
        if (this.pool.changeCount !== changeCount) return false;
      }
      if (this.paysTooLittle(best)) return true;
      if (!this.fits(best)) {
        failures++;
        const nearlyFull = this.weight > this.limits.maxWeight - NEARLY_FULL_WEIGHT;
        if (failures > MAX_CONSECUTIVE_FAILURES && nearlyFull) return true;
        continue;
      }
      const members = this.missingMembers(best.entry);
      if (!members.every((member) => this.mayBeIn(member))) continue;
      failures = 0;
      this.include(members);
    }
    return true;
  }

  private paysTooLittle({ score, feesSat, sizeBytes }: Package): boolean {
    const { minFeeRatePerKb } = this.limits;
    // The cheap comparison comes first: the score is never higher than the fee rate of the package.
    return score * 1000 < Number(minFeeRatePerKb) && feesSat < feeAtRate(minFeeRatePerKb, sizeBytes);
  }

  /**
   * Returns the best remaining package: either the first of the ordered packages without chosen ancestors, or the best of
   * the packages that lost ancestors to the block.
   */
  private takeBest(): Package | undefined {
    const { waiting, heap, modified, included } = this;
    while (waiting.best && (included.has(waiting.best.entry) || modified.has(waiting.best.entry))) {
      waiting.drop();
    }
    while (heap.best && (included.has(heap.best.entry) || modified.get(heap.best.entry) !== heap.best)) {
      heap.drop();
    }
    const changed = heap.best;
    const whole = waiting.best;
    if (changed && (!whole || comparePackages(changed, whole) < 0)) {
      heap.drop();
      return changed;
    }
    if (!whole) return undefined;
    waiting.drop();
    return wholePackage(whole.entry);
  }

  /** Whether the block stays within its limits if the package is added. Source: `TestPackage`. */
  private fits(item: Package): boolean {
    return (
      this.weight + WITNESS_SCALE_FACTOR * item.sizeBytes < this.limits.maxWeight &&
      this.sigopsCost + item.sigopsCost < this.limits.maxSigopsCost
    );
  }

  /** Ancestors of the entry that are not chosen yet, and finally the entry itself. */
  private missingMembers(entry: PoolEntry): PoolEntry[] {
    if (entry.parents.length === 0) return [entry];
    const members = [...this.pool.ancestorsOf(entry)].filter((ancestor) => !this.included.has(ancestor));
    members.push(entry);
    // The number of ancestors puts each transaction after those that it spends, because these have fewer ancestors.
    return members.sort((a, b) => a.ancestorCount - b.ancestorCount || compareByKey(a, b));
  }

  private mayBeIn({ lockTime, hasFinalSequences, hasWitness }: PoolEntry): boolean {
    if (hasWitness && !this.limits.includeWitness) return false;
    if (lockTime === 0 || hasFinalSequences) return true;
    const { height, lockTimeCutoffSec } = this.limits;
    return lockTime < (lockTime < LOCKTIME_THRESHOLD ? height : lockTimeCutoffSec);
  }

  /** Adds the members of a package to the block, ancestors first, and subtracts them from the packages of their descendants. */
  private include(members: readonly PoolEntry[]): void {
    for (const member of members) {
      this.chosen.push(member);
      this.included.add(member);
      this.weight += member.weight;
      this.sigopsCost += member.sigopsCost;
    }
    const touched = new Set<PoolEntry>();
    for (const member of members) {
      if (member.children.length === 0) continue;
      for (const below of this.pool.withDescendants(member.children)) {
        if (this.included.has(below)) continue;
        this.modified.set(below, without(this.modified.get(below) ?? wholePackage(below), member));
        touched.add(below);
      }
    }
    for (const below of touched) this.heap.push(this.modified.get(below)!);
  }
}

export class BlockSelector {
  private readonly pool: TxPool;
  private readonly order: PackageOrder;

  constructor(pool: TxPool) {
    this.pool = pool;
    this.order = new PackageOrder(pool);
  }

  /** Sorts the packages before `select` is called. The sorting is most of the work of `select`, and yields to the event loop. */
  prepare(): Promise<void> {
    return this.order.prepare();
  }

  /**
   * Selects the best transactions within the limits, each after those that it spends. The result matches the mempool at the
   * end of the call: the work is done in slices, and starts over if the mempool changes between two slices.
   */
  async select(limits: BlockLimits): Promise<readonly PoolEntry[]> {
    for (let attempt = 1; ; attempt++) {
      const selection = new BlockSelection(this.pool, this.order.walk(), limits);
      const work = selection.run();
      if (attempt < MAX_ATTEMPTS ? await inSlices(work) : atOnce(work)) return selection.chosen;
    }
  }
}
