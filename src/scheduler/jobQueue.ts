/**
 * A queue of asynchronous jobs with limits for running and for waiting jobs. Long jobs yield: jobs that have not had a turn
 * yet are run first, for one slice of time, and then the long job that arrived first. So short jobs wait for one slice at
 * most, and long jobs finish in order of arrival.
 */
import { SLICE_MS } from '../util/slices.js';
import { isSliceOverdue, nextSlice } from './yield.js';

/** The queue's interface to the event loop, which tests replace. */
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

/** A long job waiting to continue. */
interface Yielding {
  readonly arrival: number;
  readonly go: () => void;
}

/** Jobs that wait under a separate limit. */
export class QueueShare {
  /** Maximum number of waiting jobs. */
  readonly depth: number;
  /** Number of waiting jobs; modified only by the queue. */
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
  /** Jobs that had a turn before. */
  private readonly returning: (() => void)[] = [];
  /** Calls that yielded, in order of arrival. */
  private readonly yielding: Yielding[] = [];
  /** Time since which new jobs have been run before yielding ones; null if a yielding job ran last. */
  private newcomersSinceMs: number | null = null;
  private isFilling = false;

  /** At most `concurrency` jobs run; at most `depth` more wait for a turn, in order of arrival. */
  constructor(concurrency: number, depth: number, loop: LoopSlices = PROCESS_LOOP) {
    this.concurrency = concurrency;
    this.common = new QueueShare(depth);
    this.loop = loop;
  }

  /** Number of running jobs. */
  get runningCount(): number {
    return this.running;
  }

  /** Number of jobs waiting for a turn, including those that had one before. */
  get waitingCount(): number {
    return this.waiting.length + this.returning.length + this.yielding.length;
  }

  /** Sequence number of a job in the order of arrival. */
  nextArrival(): number {
    return this.arrivals++;
  }

  /**
   * Takes a turn if one is free; each turn taken ends with one call of `leave`. No turn is free while long work of the
   * process waits for a slice that new jobs have used up.
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
   * Waits for a turn, which ends with one call of `leave`; null at once when the maximum number of jobs is waiting. Jobs of
   * a share do not count against the others, which have the whole depth of the queue.
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

  /** Gives free turns to waiting jobs, as many as fit in a slice. */
  private async fill(): Promise<void> {
    this.isFilling = true;
    while (this.waiting.length > 0 && this.running < this.concurrency) {
      const sinceMs = await this.loop.next();
      while (this.waiting.length > 0 && this.loop.nowMs() - sinceMs < SLICE_MS && this.takeFree()) {
        this.waiting.shift()!();
        // Waits until the job's synchronous part is done.
        await new Promise<void>((resolve) => process.nextTick(resolve));
      }
    }
    this.isFilling = false;
  }

  /** Waits for another turn, with priority over new jobs, however many wait. */
  reenter(): Promise<void> {
    if (this.takeFree()) return Promise.resolve();
    return new Promise((resolve) => this.returning.push(resolve));
  }

  /** The same for a long job: it continues after earlier long jobs. */
  reenterLong(arrival: number): Promise<void> {
    if (this.takeFree()) return Promise.resolve();
    return this.yield(arrival);
  }

  /**
   * Passes the turn to a waiting job and waits for another turn; null if the job, which has the arrival number `arrival`,
   * may continue at once. Long jobs should call it after each slice.
   */
  giveWay(arrival: number): Promise<void> | null {
    const next = this.returning.shift() ?? this.newcomer() ?? this.older(arrival);
    if (next === undefined) {
      // The next slice belongs to a yielding job.
      this.newcomersSinceMs = null;
      return null;
    }
    const turn = this.yield(arrival);
    // The slot passes directly to the other job.
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
    // The next job takes over this job's slot.
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

  /** The next new job, unless new jobs have used a slice since a yielding job ran. */
  private newcomer(): (() => void) | undefined {
    if (this.waiting.length === 0) return undefined;
    const now = this.loop.nowMs();
    this.newcomersSinceMs ??= now;
    return now - this.newcomersSinceMs < SLICE_MS ? this.waiting.shift() : undefined;
  }

  /** The first yielding job, if it arrived earlier. */
  private older(arrival: number): (() => void) | undefined {
    const first = this.yielding[0];
    if (first === undefined || first.arrival >= arrival) return undefined;
    this.newcomersSinceMs = null;
    return this.yielding.shift()!.go;
  }
}
