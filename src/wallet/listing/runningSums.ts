/**
 * Sums over the confirmed transactions of a wallet that are kept up to date: each that has changed since the last question is
 * taken out as it was and put in as it is. So a question costs what has changed, and not what has ever been. The first one
 * looks at all.
 */
import { LOCKTIME_THRESHOLD } from '../../script/script.js';
import type { Slices } from '../../util/slices.js';
import type { Entry } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';

/** Entries looked at between two pauses. */
const STEP = 256;

export abstract class RunningSums<Part> {
  protected readonly wallet: Wallet;
  /** What is in the sums. */
  private readonly parts = new Map<Entry, Part>();
  private readonly touched = new Set<Entry>();
  /** In a block, and yet not final by the clock, which may have been set back. */
  private readonly untimely = new Set<Entry>();
  /** The latest time that an entry waited for that counts as final. */
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

  /** What an entry, which is in a block, adds to the sums; null for nothing. */
  protected abstract partOf(entry: Entry): Part | null;
  protected abstract put(part: Part): void;
  /** The opposite of `put`. */
  protected abstract take(part: Part): void;

  /** Brings the sums up to date; they are that until something else has a turn. */
  *refresh(): Slices<void> {
    const nowSec = this.wallet.node.nowSec();
    if (nowSec <= this.latestLockSec) {
      this.latestLockSec = 0;
      this.touchAll();
    }
    for (const entry of this.untimely) this.touched.add(entry);
    let count = 0;
    // What is touched during a pause has its turn, too.
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

  /** All that is in no sum: what is in no block, what conflicts, and what is not final. */
  protected *rest(): Generator<Entry> {
    yield* this.wallet.ledger.unsettled();
    yield* this.untimely;
  }

  /** The height up to which blocks have this many confirmations. */
  protected heightOfDepth(depth: number): number {
    return this.wallet.followedHeight + 1 - depth;
  }
}
