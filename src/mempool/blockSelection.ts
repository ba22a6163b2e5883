/**
 * Chooses the transactions of a block: repeatedly the one that pays best together with its unconfirmed ancestors that are
 * not chosen yet. The same mempool gives the same block, whatever was chosen before: between two blocks only the order of
 * the packages is kept (`packageOrder.ts`). Source: lbrycrd miner.cpp `addPackageTxs`.
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

/** Number of consecutive packages that do not fit after which the search ends, if the block is nearly full. */
const MAX_CONSECUTIVE_FAILURES = 1000;
/** Remaining weight below which a block counts as nearly full. */
const NEARLY_FULL_WEIGHT = 4000;
/** Packages processed between two possible pauses: a fraction of a millisecond. */
const PACKAGES_AT_ONCE = 16;
/** After this many interrupted attempts the selection runs without pauses. Arbitrary. */
const MAX_ATTEMPTS = 3;

/** An entry with the sums over its ancestors that are not chosen yet. */
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

/** The package without an ancestor that has been chosen. */
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

/** A heap of packages, the best on top. Outdated packages stay in the heap and are recognized by identity. */
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

  /** Removes the best package. */
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

class Selection {
  readonly chosen: PoolEntry[] = [];
  private readonly pool: TxPool;
  private readonly limits: BlockLimits;
  private readonly waiting: PackageWalk;
  private readonly included = new Set<PoolEntry>();
  /** The current packages of entries with some chosen ancestors. */
  private readonly modified = new Map<PoolEntry, Package>();
  private readonly heap = new PackageHeap();
  private weight = 0;
  private sigopsCost = 0;

  constructor(pool: TxPool, waiting: PackageWalk, limits: BlockLimits) {
    this.pool = pool;
    this.waiting = waiting;
    this.limits = limits;
  }

  /** Returns whether the choice is valid: it ends early when the pool has changed during a pause. */
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
    // The score is never higher than the package's fee rate, and much cheaper to compare.
    return score * 1000 < Number(minFeeRatePerKb) && feesSat < feeAtRate(minFeeRatePerKb, sizeBytes);
  }

  /** The best remaining package, from the order of all packages or from the modified ones. */
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

  /** Whether the block stays within the limits with this package. Source: `TestPackage`. */
  private fits(item: Package): boolean {
    return (
      this.weight + WITNESS_SCALE_FACTOR * item.sizeBytes < this.limits.maxWeight &&
      this.sigopsCost + item.sigopsCost < this.limits.maxSigopsCost
    );
  }

  /** The entry, after its ancestors that are not chosen yet. */
  private missingMembers(entry: PoolEntry): PoolEntry[] {
    if (entry.parents.length === 0) return [entry];
    const members = [...this.pool.ancestorsOf(entry)].filter((ancestor) => !this.included.has(ancestor));
    members.push(entry);
    // A transaction that spends another one has more ancestors.
    return members.sort((a, b) => a.ancestorCount - b.ancestorCount || compareByKey(a, b));
  }

  private mayBeIn({ lockTime, hasFinalSequences, hasWitness }: PoolEntry): boolean {
    if (hasWitness && !this.limits.includeWitness) return false;
    if (lockTime === 0 || hasFinalSequences) return true;
    const { height, lockTimeCutoffSec } = this.limits;
    return lockTime < (lockTime < LOCKTIME_THRESHOLD ? height : lockTimeCutoffSec);
  }

  /** Adds a package, ancestors first, and subtracts it from the sums of its descendants. */
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

  /** Does most of the preparation for `select` in advance, in slices. */
  prepare(): Promise<void> {
    return this.order.prepare();
  }

  /**
   * The best transactions within the limits, each after those that it spends, as of the pool at the end of the call. Works
   * in slices, and starts again when the pool changes between two.
   */
  async select(limits: BlockLimits): Promise<readonly PoolEntry[]> {
    for (let attempt = 1; ; attempt++) {
      const selection = new Selection(this.pool, this.order.walk(), limits);
      const work = selection.run();
      if (attempt < MAX_ATTEMPTS ? await inSlices(work) : atOnce(work)) return selection.chosen;
    }
  }
}
