/**
 * Sums over the confirmed transactions of a wallet, updated incrementally. For each transaction that changed since the last
 * query, its old amounts are subtracted and its new amounts added. So the cost of a query depends on the changes, not on the
 * history. The first query processes all transactions.
 */
import { LOCKTIME_THRESHOLD } from '../../script/script.js';
import type { Slices } from '../../util/slices.js';
import type { Entry } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';

/** Number of transactions that are processed between two yields to the event loop. */
const STEP = 256;

export abstract class RunningSums<Part> {
  protected readonly wallet: Wallet;
  /** Transactions that are included in the sums, each with the part that it added. */
  private readonly parts = new Map<Entry, Part>();
  private readonly touched = new Set<Entry>();
  /** Confirmed transactions that are not final at the time of the node's clock, since the clock may have been set back. */
  private readonly untimely = new Set<Entry>();
  /** The latest lock time (in seconds) of a transaction that counts as final. */
  private latestLockSec = 0;

  constructor(wallet: Wallet) {
    this.wallet = wallet;
    const { ledger, book } = wallet;
    ledger.watch((entry) => {
      if (entry === null) this.touchAll();
      else this.touched.add(entry);
    });
    book.watch((destination) => this.touchDestination(destination));
  }

  protected touchDestination(destination: string): void {
    for (const entry of this.wallet.ledger.payingTo(destination)) this.touched.add(entry);
  }

  protected touchAll(): void {
    for (const entry of this.parts.keys()) this.touched.add(entry);
    for (const entry of this.wallet.ledger.all()) this.touched.add(entry);
  }

  /** Returns the amounts that a confirmed transaction adds to the sums; null if it adds nothing. */
  protected abstract partOf(entry: Entry): Part | null;
  protected abstract put(part: Part): void;
  /** Subtracts amounts that `put` has added to the sums. */
  protected abstract take(part: Part): void;

  /** Updates the sums. They are valid until other code runs. */
  *refresh(): Slices<void> {
    const nowSec = this.wallet.node.nowSec();
    if (nowSec <= this.latestLockSec) {
      this.latestLockSec = 0;
      this.touchAll();
    }
    for (const entry of this.untimely) this.touched.add(entry);
    let count = 0;
    // Transactions that are added to the set during a yield are processed by this loop, too.
    for (const entry of this.touched) {
      this.touched.delete(entry);
      this.renew(entry, nowSec);
      if (++count % STEP === 0) yield;
    }
  }

  private renew(entry: Entry, nowSec: number): void {
    const known = this.parts.get(entry);
    if (known !== undefined) this.take(known);
    this.parts.delete(entry);
    this.untimely.delete(entry);
    if (this.wallet.ledger.entry(entry.key) !== entry || entry.state !== 'confirmed') return;
    if (entry.lockTime >= LOCKTIME_THRESHOLD) {
      if (entry.lockTime >= nowSec) {
        this.untimely.add(entry);
        return;
      }
      this.latestLockSec = Math.max(this.latestLockSec, entry.lockTime);
    }
    const part = this.partOf(entry);
    if (part === null) return;
    this.put(part);
    this.parts.set(entry, part);
  }

  /** Transactions that are not included in the sums: unconfirmed, conflicting and non-final transactions. */
  protected *rest(): Generator<Entry> {
    yield* this.wallet.ledger.unsettled();
    yield* this.untimely;
  }

  /** Maximum height of blocks that have at least `depth` confirmations. */
  protected heightOfDepth(depth: number): number {
    return this.wallet.followedHeight + 1 - depth;
  }
}
