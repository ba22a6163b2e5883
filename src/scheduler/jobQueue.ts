/**
 * A queue of asynchronous jobs that limits running and waiting jobs. A long job yields after each slice. Jobs that have not
 * had a turn yet are then run for up to one slice, and then the long job that arrived first. Short jobs therefore wait for
 * one slice at most, and long jobs finish in order of arrival.
 */
import { SLICE_MS } from '../util/slices.js';
import { isSliceOverdue, nextSlice } from './yield.js';

/** Interface of the queue to the event loop. Tests replace it. */
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

/** A long job that has yielded and waits to continue. */
interface Yielding {
  readonly arrival: number;
  readonly go: () => void;
}

/** A group of waiting jobs with a separate limit. */
export class QueueShare {
  /** Maximum number of waiting jobs of the group. */
  readonly depth: number;
  /** Number of waiting jobs of the group; modified only by the queue. */
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
  /** Jobs that wait for another turn after an earlier one. */
  private readonly returning: (() => void)[] = [];
  /** Long jobs that have yielded, in order of arrival. */
  private readonly yielding: Yielding[] = [];
  /** Time since which new jobs have been run before yielded jobs; null if a yielded job ran last. */
  private newcomersSinceMs: number | null = null;
  private isFilling = false;

  /** Creates the queue. At most `concurrency` jobs run, and at most `depth` more wait for a turn, in order of arrival. */
  constructor(concurrency: number, depth: number, loop: LoopSlices = PROCESS_LOOP) {
    this.concurrency = concurrency;
    this.common = new QueueShare(depth);
    this.loop = loop;
  }

  /** Number of running jobs. */
  get runningCount(): number {
    return this.running;
  }

  /** Number of jobs that wait for a turn, including jobs that had one before. */
  get waitingCount(): number {
    return this.waiting.length + this.returning.length + this.yielding.length;
  }

  /** Returns the next sequence number in the order of arrival. */
  nextArrival(): number {
    return this.arrivals++;
  }

  /**
   * Takes a turn if one is free; returns whether it was taken. Each turn must be ended by one call of `leave`. No turn is
   * free while jobs wait in this queue, or while other long work of the process is overdue (`isSliceOverdue`).
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
   * Waits for a turn, which must be ended by one call of `leave`. Returns null if the maximum number of jobs is waiting.
   * Jobs of a separate `share` do not count towards the common limit.
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

  /** Gives free turns to waiting jobs, as many as fit in one slice. */
  private async fill(): Promise<void> {
    this.isFilling = true;
    while (this.waiting.length > 0 && this.running < this.concurrency) {
      const sinceMs = await this.loop.next();
      while (this.waiting.length > 0 && this.loop.nowMs() - sinceMs < SLICE_MS && this.takeFree()) {
        this.waiting.shift()!();
        // Waits until the synchronous part of the job has run.
        await new Promise<void>((resolve) => process.nextTick(resolve));
      }
    }
    this.isFilling = false;
  }

  /** Waits for another turn, with priority over all new jobs. */
  reenter(): Promise<void> {
    if (this.takeFree()) return Promise.resolve();
    return new Promise((resolve) => this.returning.push(resolve));
  }

  /** Waits for another turn of a long job, which continues after long jobs that arrived earlier. */
  reenterLong(arrival: number): Promise<void> {
    if (this.takeFree()) return Promise.resolve();
    return this.yield(arrival);
  }

  /**
   * Passes the turn to a waiting job and returns a promise for another turn. Returns null if the job with the number
   * `arrival` may continue immediately. Long jobs should call it after each slice.
   */
  giveWay(arrival: number): Promise<void> | null {
    const next = this.returning.shift() ?? this.newcomer() ?? this.older(arrival);
    if (next === undefined) {
      // The next slice is used by a yielded job, so new jobs get a full slice after it.
      this.newcomersSinceMs = null;
      return null;
    }
    const turn = this.yield(arrival);
    // The slot is passed directly to the next job.
    next();
    return turn;
  }

  /** Ends a turn and starts the next waiting job. */
  leave(): void {
    if (this.waitingCount === 0) {
      this.running--;
      return;
    }
    const isOverdue = this.loop.isOverdue();
    const next =
      this.returning.shift() ??
      (isOverdue ? undefined : this.newcomer()) ??
      this.older(Infinity) ??
      (isOverdue ? undefined : this.waiting.shift());
    // The next job takes over the slot of the ended job.
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

  /** Returns the next new job, unless new jobs have used up a slice since a yielded job ran. */
  private newcomer(): (() => void) | undefined {
    if (this.waiting.length === 0) return undefined;
    const now = this.loop.nowMs();
    this.newcomersSinceMs ??= now;
    return now - this.newcomersSinceMs < SLICE_MS ? this.waiting.shift() : undefined;
  }

  /** Returns the first yielded job if it arrived earlier than `arrival`. */
  private older(arrival: number): (() => void) | undefined {
    const first = this.yielding[0];
    if (first === undefined || first.arrival >= arrival) return undefined;
    this.newcomersSinceMs = null;
    return this.yielding.shift()!.go;
  }
}
