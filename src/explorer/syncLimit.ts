/**
 * Limits the time of the explorer's thread while the node syncs, so that many requests do not take processor time from the
 * threads that verify blocks. Requests wait in a fair queue: the visitor with the fewest recent answers is next.
 */
import { performance } from 'node:perf_hooks';
import { FairQueue } from '../scheduler/fairQueue.js';
import { Lru } from '../util/lru.js';
import { TimeBudget } from './timeBudget.js';

/** Share of one core that the thread may use during the sync. */
const SHARE = 0.05;
/** Maximum time in milliseconds that the thread may use in one burst. Enough for some pages. */
const BURST_MS = 200;
/** Maximum number of requests that are answered at the same time during the sync. */
const MAX_ANSWERING = 4;
/** Maximum number of requests that wait. Above it, a request of the visitor with the most waiting requests is refused. */
const MAX_WAITING = 64;
/** Maximum time in milliseconds that a request waits. */
const WAIT_MS = 10_000;
/** Milliseconds in which the usage of a visitor decays to half. */
const HALF_LIFE_MS = 10_000;
/** Number of visitors whose usage is kept. */
const MAX_VISITORS = 1000;

interface Waiting {
  readonly timer: NodeJS.Timeout;
  readonly resolve: (isAllowed: boolean) => void;
}

export interface SyncLimitOptions {
  readonly nowMs: () => number;
  /** Returns the time in milliseconds that the thread has worked since its start. Tests replace it. */
  readonly workedMs?: (() => number) | undefined;
}

export class SyncLimit {
  private readonly readWorkedMs: () => number;
  private readonly budget: TimeBudget;
  private readonly queue: FairQueue<Waiting>;
  private readonly visitors = new Lru<string, object>(MAX_VISITORS);
  private answering = 0;
  private workedMs = 0;
  private pause: NodeJS.Timeout | null = null;
  private isLimiting = false;

  constructor({ nowMs, workedMs = () => performance.eventLoopUtilization().active }: SyncLimitOptions) {
    this.readWorkedMs = workedMs;
    this.budget = new TimeBudget(SHARE, BURST_MS, nowMs);
    this.queue = new FairQueue({ nowMs, halfLifeMs: HALF_LIFE_MS });
  }

  /**
   * Waits until a request may be answered. Resolves to false if the request must be refused, because too many requests wait or
   * because it waited for `WAIT_MS`. After true, `leave` must be called when the request was answered.
   */
  enter(visitor: string): Promise<boolean> {
    if (this.queue.size === 0 && this.mayAnswer()) {
      this.answering++;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const client = this.clientOf(visitor);
      const timer = setTimeout(() => {
        this.queue.remove(client, waiting);
        resolve(false);
      }, WAIT_MS);
      const waiting: Waiting = { timer, resolve };
      this.queue.add(client, waiting);
      if (this.queue.size > MAX_WAITING) this.end(this.queue.takeLast()!, false);
    });
  }

  leave(): void {
    this.answering--;
    this.next();
  }

  /** Whether the node is syncing. Otherwise no request waits. */
  get isSyncing(): boolean {
    return this.isLimiting;
  }

  set isSyncing(isSyncing: boolean) {
    if (isSyncing === this.isLimiting) return;
    this.isLimiting = isSyncing;
    this.workedMs = this.readWorkedMs();
    this.next();
  }

  private clientOf(visitor: string): object {
    const known = this.visitors.get(visitor);
    if (known !== undefined) return known;
    const client = {};
    this.visitors.set(visitor, client);
    return client;
  }

  private end({ timer, resolve }: Waiting, isAllowed: boolean): void {
    clearTimeout(timer);
    resolve(isAllowed);
  }

  private next(): void {
    while (this.queue.size > 0 && this.mayAnswer()) {
      const { client, item } = this.queue.take()!;
      this.queue.charge(client, 1);
      this.answering++;
      this.end(item, true);
    }
  }

  private mayAnswer(): boolean {
    if (!this.isLimiting) return true;
    const workedMs = this.readWorkedMs();
    this.budget.spend(workedMs - this.workedMs);
    this.workedMs = workedMs;
    if (this.answering >= MAX_ANSWERING || this.pause !== null) return false;
    const waitMs = this.budget.waitMs();
    if (waitMs === 0) return true;
    this.pause = setTimeout(() => {
      this.pause = null;
      this.next();
    }, waitMs).unref();
    return false;
  }
}
