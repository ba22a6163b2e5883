/**
 * Tasks that run at the same time, as many as there are slots (threads, connections), and tasks that wait for a slot in a
 * bounded fair queue. Waiting counts as time. Most tasks are short: one that takes longer gives its slot back and begins again
 * later as a long task. Long tasks never have all slots.
 */
import { FairQueue } from './fairQueue.js';

/** Tasks that wait; beyond it one of the client with most of them is refused. Arbitrary. */
const MAX_WAITING = 1000;
/** A task that takes longer is long. Arbitrary: many times what the slowest of common searches take. */
const SHORT_MS = 500;
/** After this time what a client used counts half. */
const HALF_LIFE_MS = 10_000;

/** The errors of tasks that do not run to their end. */
export interface SlotErrors {
  closed(): Error;
  full(): Error;
  timeout(): Error;
  /** Whether a task ended because its time was up. */
  isTimeout(error: Error): boolean;
}

export interface FairSlotsOptions {
  readonly timeoutMs: number;
  readonly shortMs?: number;
  readonly maxWaiting?: number;
  /** A clock that only goes forward. */
  readonly nowMs?: () => number;
}

/** Tasks that run, and tasks that wait. */
export interface SlotLoad {
  readonly running: number;
  readonly waiting: number;
}

interface Waiting<Task, Result> {
  readonly task: Task;
  readonly client: object;
  readonly untilMs: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
  readonly isLong: boolean;
  giveUp?: NodeJS.Timeout;
}

export class FairSlots<Slot, Task, Result> {
  private readonly slots: number;
  private readonly idle: Slot[];
  private readonly queue: FairQueue<Waiting<Task, Result>>;
  private readonly errors: SlotErrors;
  private readonly timeoutMs: number;
  private readonly shortMs: number;
  private readonly maxWaiting: number;
  private readonly nowMs: () => number;
  private readonly run: (slot: Slot, task: Task, leftMs: number) => Promise<Result>;
  private longRunning = 0;
  private isClosed = false;

  /** `run` carries a task out in the time that is left. */
  constructor(
    slots: readonly Slot[],
    { timeoutMs, shortMs = SHORT_MS, maxWaiting = MAX_WAITING, nowMs }: FairSlotsOptions,
    errors: SlotErrors,
    run: (slot: Slot, task: Task, leftMs: number) => Promise<Result>,
  ) {
    this.slots = slots.length;
    this.idle = [...slots];
    this.timeoutMs = timeoutMs;
    this.shortMs = shortMs;
    this.maxWaiting = maxWaiting;
    this.nowMs = nowMs ?? (() => performance.now());
    this.queue = new FairQueue({ nowMs: this.nowMs, halfLifeMs: HALF_LIFE_MS });
    this.errors = errors;
    this.run = run;
  }

  get load(): SlotLoad {
    return { running: this.slots - this.idle.length, waiting: this.queue.size };
  }

  /** Runs a task of a client: its tasks wait for those of clients that used less. */
  do(task: Task, client: object): Promise<Result> {
    if (this.isClosed) return Promise.reject(this.errors.closed());
    return new Promise((resolve, reject) => {
      const untilMs = this.nowMs() + this.timeoutMs;
      const entry = { task, client, untilMs, resolve, reject, isLong: this.slots === 1 };
      if (this.queue.size === 0 && this.idle.length > 0) return this.start(this.idle.pop()!, entry);
      this.put(entry);
      this.next();
      if (this.queue.size > this.maxWaiting) this.refuseOne();
    });
  }

  /** Rejects tasks that wait; tasks that run continue. */
  close(): void {
    this.isClosed = true;
    for (const entry of [...this.queue.items()]) {
      this.queue.remove(entry.client, entry);
      this.fail(entry, this.errors.closed());
    }
  }

  private put(entry: Waiting<Task, Result>): void {
    entry.giveUp = setTimeout(() => {
      this.queue.remove(entry.client, entry);
      entry.reject(this.errors.timeout());
    }, entry.untilMs - this.nowMs()).unref();
    this.queue.add(entry.client, entry);
  }

  private fail({ giveUp, reject }: Waiting<Task, Result>, error: Error): void {
    clearTimeout(giveUp);
    reject(error);
  }

  private refuseOne(): void {
    const last = this.queue.takeLast();
    if (last !== undefined) this.fail(last, this.errors.full());
  }

  private next(): void {
    while (this.idle.length > 0) {
      const mayBeLong = this.slots === 1 || this.longRunning < this.slots - 1;
      const taken = this.queue.take(({ isLong }) => mayBeLong || !isLong);
      if (taken === undefined) return;
      clearTimeout(taken.item.giveUp);
      this.start(this.idle.pop()!, taken.item);
    }
  }

  private start(slot: Slot, entry: Waiting<Task, Result>): void {
    const beganMs = this.nowMs();
    const leftMs = entry.untilMs - beganMs;
    if (leftMs <= 0) {
      this.idle.push(slot);
      entry.reject(this.errors.timeout());
      return;
    }
    const { isLong } = entry;
    if (isLong) this.longRunning++;
    void this.run(slot, entry.task, isLong ? leftMs : Math.min(leftMs, this.shortMs))
      .then(entry.resolve, (error: Error) => {
        const isTooLong = this.errors.isTimeout(error);
        if (isLong || !isTooLong || this.isClosed || entry.untilMs <= this.nowMs()) entry.reject(error);
        else this.put({ ...entry, isLong: true });
      })
      .finally(() => {
        if (isLong) this.longRunning--;
        this.queue.charge(entry.client, this.nowMs() - beganMs);
        this.idle.push(slot);
        this.next();
      });
  }
}
