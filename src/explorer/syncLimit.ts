/**
 * Limits the work of the explorer while the node syncs, so that many requests do not take processor time from the threads that
 * connect and verify blocks. Requests wait in a fair queue: the visitor with the fewest recent answers is next.
 */
import { performance } from 'node:perf_hooks';
import { FairQueue } from '../scheduler/fairQueue.js';
import { Lru } from '../util/lru.js';
import { RateLimit } from './limits.js';
import { TimeBudget } from './timeBudget.js';

/** Share of one core that the explorer's thread may use during the sync, and its budget in milliseconds. */
const THREAD = { share: 0.05, burstMs: 200, debtMs: 100 } as const;
/** Share of the time of the node's thread that calls of pages may use during the sync, and its budget in milliseconds. */
const CALLS = { share: 0.03, burstMs: 300, debtMs: 150 } as const;
/**
 * Parts of the budgets that must be left for a request. Visitors with many requests leave half of the budgets to visitors with
 * few, and these leave the debt to responses that are in the cache.
 */
const LEFT = { many: 0.5, few: 0, cached: -0.5 } as const;
/** Rate of requests above which a visitor counts as one with many requests. An open page is loaded again about once a second. */
const FEW = { rate: 0.5, burst: 8 } as const;
const FEW_CACHED = { rate: 2, burst: 20 } as const;
/**
 * A request waits if at least this number of requests are being answered. The time of a page is known only after its end, so pages
 * that start together could exceed the budgets.
 */
const MAX_ANSWERING = { many: 1, few: 2, cached: 4 } as const;
/**
 * Time in ms after the start of the latest request at which a request of a visitor with few requests starts without a budget. On a
 * busy machine the measured time of the thread includes that of other programs, so the budget could stay used up.
 */
const LEAST_MS = 5000;
/** Maximum number of requests that wait. Above it, a request of the visitor with the most waiting requests is refused. */
const MAX_WAITING = 64;
/** Maximum time in milliseconds that a request waits. */
const WAIT_MS = 10_000;
/** Milliseconds in which the usage of a visitor decays to half. */
const HALF_LIFE_MS = 10_000;
/** Number of visitors whose usage is kept. */
const MAX_VISITORS = 1000;

/** Kind of a request, by which `LEFT` reserves parts of the budgets. */
type Kind = keyof typeof LEFT;
const KINDS: readonly Kind[] = ['cached', 'few', 'many'];

interface Waiting {
  readonly kind: Kind;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (isAllowed: boolean) => void;
}

export interface SyncLimitOptions {
  readonly nowMs: () => number;
  /** Returns the time in milliseconds that the thread has worked since its start. Tests replace it. */
  readonly workedMs?: (() => number) | undefined;
  /** Returns the time in milliseconds that calls of pages have taken in the node's thread. */
  readonly calledMs?: (() => number) | undefined;
}

export class SyncLimit {
  private readonly budgets: readonly { readonly burstMs: number; readonly budget: TimeBudget }[];
  private readonly queue: FairQueue<Waiting>;
  private readonly visitors = new Lru<string, object>(MAX_VISITORS);
  private readonly few: RateLimit;
  private readonly fewCached: RateLimit;
  private readonly nowMs: () => number;
  private answering = 0;
  /** Time at which the latest request began to be answered during the sync. */
  private begunMs = 0;
  private pause: NodeJS.Timeout | null = null;
  private isLimiting = false;

  constructor({
    nowMs,
    workedMs = () => performance.eventLoopUtilization().active,
    calledMs = () => 0,
  }: SyncLimitOptions) {
    this.budgets = [
      { burstMs: THREAD.burstMs, budget: new TimeBudget({ ...THREAD, nowMs, usedMs: workedMs }) },
      { burstMs: CALLS.burstMs, budget: new TimeBudget({ ...CALLS, nowMs, usedMs: calledMs }) },
    ];
    this.nowMs = nowMs;
    this.queue = new FairQueue({ nowMs, halfLifeMs: HALF_LIFE_MS });
    this.few = new RateLimit(FEW, nowMs);
    this.fewCached = new RateLimit(FEW_CACHED, nowMs);
  }

  /**
   * Waits until a request may be answered. `isCached`: whether its response is in the cache. Resolves to false if the request
   * must be refused, because too many requests wait or because it waited for `WAIT_MS`. After true, `leave` must be called when
   * the request was answered.
   */
  enter(visitor: string, isCached = false): Promise<boolean> {
    if (!this.isLimiting) {
      this.answering++;
      return Promise.resolve(true);
    }
    const isMany = (isCached ? this.fewCached : this.few).take(visitor) !== null;
    const kind = isMany ? 'many' : isCached ? 'cached' : 'few';
    return new Promise((resolve) => {
      const client = this.clientOf(visitor);
      const timer = setTimeout(() => {
        this.queue.remove(client, waiting);
        resolve(false);
      }, WAIT_MS);
      const waiting: Waiting = { kind, timer, resolve };
      this.queue.add(client, waiting);
      this.next();
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
    for (const { budget } of this.budgets) budget.reset();
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
    while (this.queue.size > 0) {
      const allowed = KINDS.filter((kind) => this.mayAnswer(kind));
      const found = this.queue.take(({ kind }) => allowed.includes(kind));
      if (found === undefined) return this.wait();
      this.queue.charge(found.client, 1);
      this.answering++;
      this.begunMs = this.nowMs();
      this.end(found.item, true);
    }
  }

  private mayAnswer(kind: Kind): boolean {
    return !this.isLimiting || (this.answering < MAX_ANSWERING[kind] && this.waitMs(kind) === 0);
  }

  /** Milliseconds until the budgets allow a request of this kind. */
  private waitMs(kind: Kind): number {
    const ms = Math.max(...this.budgets.map(({ burstMs, budget }) => budget.waitMs(LEFT[kind] * burstMs)));
    return kind === 'many' ? ms : Math.min(ms, Math.max(0, this.begunMs + LEAST_MS - this.nowMs()));
  }

  /** Sets a timer for the time at which the budgets allow one of the waiting requests. `leave` may start a request earlier. */
  private wait(): void {
    if (this.pause !== null) clearTimeout(this.pause);
    const kinds = new Set([...this.queue.items()].map(({ kind }) => kind));
    const waits = [...kinds].map((kind) => this.waitMs(kind)).filter((ms) => ms > 0);
    this.pause = waits.length === 0 ? null : setTimeout(() => this.next(), Math.min(...waits)).unref();
  }
}
