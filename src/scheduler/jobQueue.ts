/**
 * A queue of asynchronous jobs with a bound on how many run and on how many wait. Jobs that take long yield: those that
 * have had no turn go first, for a slice of time, and then the long one that came first. So what is short waits for one
 * slice, and long jobs end in the order in which they came.
 */
import { SLICE_MS } from '../util/slices.js';
import { isSliceOverdue, nextSlice } from './yield.js';

/** What a queue asks of the event loop, so that tests can hold it in their hands. */
export interface LoopSlices {
  nowMs(): number;
  /** See `isSliceOverdue`. */
  isOverdue(): boolean;
  /** See `nextSlice`. */
  next(): Promise<number>;
}

const PROCESS_LOOP: LoopSlices = {
  nowMs: () => performance.now(),
  isOverdue: isSliceOverdue,
  next: nextSlice,
};

/** A long job that waits to continue. */
interface Yielding {
  readonly arrival: number;
  readonly go: () => void;
}

/** Jobs that wait under a bound of their own beside the others. */
export class QueueShare {
  /** At most this many wait. */
  readonly depth: number;
  /** How many do; the queue's to change. */
  waiting = 0;

  constructor(depth: number) {
    this.depth = depth;
  }
}

export class JobQueue {
  private readonly concurrency: number;
  private readonly common: QueueShare;
  private readonly loop: LoopSlices;
  private arrivals = 0;
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  /** Calls that had a turn before. */
  private readonly returning: (() => void)[] = [];
  /** Calls that yielded, in order of arrival. */
  private readonly yielding: Yielding[] = [];
  /** Since when newcomers have gone before jobs that gave way; null if one of these came last. */
  private newcomersSinceMs: number | null = null;
  private isFilling = false;

  /** At most `concurrency` jobs run; at most `depth` more wait for their turn, first come first served. */
  constructor(concurrency: number, depth: number, loop: LoopSlices = PROCESS_LOOP) {
    this.concurrency = concurrency;
    this.common = new QueueShare(depth);
    this.loop = loop;
  }

  /** How many run now. */
  get runningCount(): number {
    return this.running;
  }

  /** How many wait for a turn, those that had one before included. */
  get waitingCount(): number {
    return this.waiting.length + this.returning.length + this.yielding.length;
  }

  /** A job's place among all that come. */
  nextArrival(): number {
    return this.arrivals++;
  }

  /**
   * Takes a turn if one is free now; each one taken ends with one call of `leave`. None is while long work of the process
   * waits for a slice that newcomers have used up.
   */
  tryEnter(): boolean {
    if (this.waiting.length > 0 || this.loop.isOverdue()) return false;
    return this.takeFree();
  }

  private takeFree(): boolean {
    if (this.running >= this.concurrency) return false;
    this.running++;
    return true;
  }

  /**
   * Waits for a turn, which ends with one call of `leave`; null at once when as many wait as may. Calls of a share do not
   * count against the others, which have the whole depth of the queue.
   */
  enter(share: QueueShare = this.common): Promise<void> | null {
    if (this.tryEnter()) return Promise.resolve();
    if (share.waiting >= share.depth) return null;
    share.waiting++;
    return new Promise((resolve) => {
      this.waiting.push(() => {
        share.waiting--;
        resolve();
      });
      if (this.running < this.concurrency && !this.isFilling) void this.fill();
    });
  }

  /** Gives free turns to those that wait, as many in a slice as it holds. */
  private async fill(): Promise<void> {
    this.isFilling = true;
    while (this.waiting.length > 0 && this.running < this.concurrency) {
      const sinceMs = await this.loop.next();
      while (this.waiting.length > 0 && this.loop.nowMs() - sinceMs < SLICE_MS && this.takeFree()) {
        this.waiting.shift()!();
        // Until it has done what it does at once.
        await new Promise<void>((resolve) => process.nextTick(resolve));
      }
    }
    this.isFilling = false;
  }

  /** Waits for another turn, before those that have had none, however many wait. */
  reenter(): Promise<void> {
    if (this.takeFree()) return Promise.resolve();
    return new Promise((resolve) => this.returning.push(resolve));
  }

  /** The same for a job that takes long: it continues after those of its kind that came before. */
  reenterLong(arrival: number): Promise<void> {
    if (this.takeFree()) return Promise.resolve();
    return this.yield(arrival);
  }

  /**
   * Gives a turn to one that waits and waits for another; null if the job, which came at `arrival`, may continue at once.
   * Jobs that take long are to call it after each slice.
   */
  giveWay(arrival: number): Promise<void> | null {
    const next = this.returning.shift() ?? this.newcomer() ?? this.older(arrival);
    if (next === undefined) {
      // The slice that follows is that of one which yields.
      this.newcomersSinceMs = null;
      return null;
    }
    const turn = this.yield(arrival);
    // The place goes from one to the other.
    next();
    return turn;
  }

  /** Ends a turn. */
  leave(): void {
    const isOverdue = this.loop.isOverdue();
    const next =
      this.returning.shift() ??
      (isOverdue ? undefined : this.newcomer()) ??
      this.older(Infinity) ??
      (isOverdue ? undefined : this.waiting.shift());
    // The next job takes over the place of this one.
    if (next !== undefined) next();
    else {
      this.running--;
      if (this.waiting.length > 0 && !this.isFilling) void this.fill();
    }
  }

  private yield(arrival: number): Promise<void> {
    return new Promise((go) => {
      let at = this.yielding.length;
      while (at > 0 && this.yielding[at - 1]!.arrival > arrival) at--;
      this.yielding.splice(at, 0, { arrival, go });
    });
  }

  /** The next that has had no turn, unless such have had a slice since one of the others had. */
  private newcomer(): (() => void) | undefined {
    if (this.waiting.length === 0) return undefined;
    const now = this.loop.nowMs();
    this.newcomersSinceMs ??= now;
    return now - this.newcomersSinceMs < SLICE_MS ? this.waiting.shift() : undefined;
  }

  /** The first that gave way, if it came before. */
  private older(arrival: number): (() => void) | undefined {
    const first = this.yielding[0];
    if (first === undefined || first.arrival >= arrival) return undefined;
    this.newcomersSinceMs = null;
    return this.yielding.shift()!.go;
  }
}
