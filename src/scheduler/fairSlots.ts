/**
 * Runs tasks concurrently, limited by the number of slots (threads, connections). Other tasks wait in a bounded fair queue,
 * and waiting counts towards a task's timeout. Most tasks are short. A task that takes longer than `SHORT_MS` is stopped,
 * releases its slot and starts again later as a long task. Long tasks never occupy all slots.
 */
import { FairQueue } from './fairQueue.js';

/** Maximum number of waiting tasks. Above it, a task of the client with the most waiting tasks is rejected. Arbitrary. */
const MAX_WAITING = 1000;
/** Maximum time in ms of a short task. Arbitrary: many times the time of the slowest common searches. */
const SHORT_MS = 500;
/** Milliseconds in which a client's usage decays to half. */
const HALF_LIFE_MS = 10_000;

/** Creates the errors with which tasks reject that are not completed. */
export interface SlotErrors {
  closed(): Error;
  full(): Error;
  timeout(): Error;
  /** Whether the error means that a task exceeded its time. */
  isTimeout(error: Error): boolean;
}

export interface FairSlotsOptions {
  readonly timeoutMs: number;
  readonly shortMs?: number;
  readonly maxWaiting?: number;
  /** A monotonic clock in ms. */
  readonly nowMs?: () => number;
}

/** Numbers of running and waiting tasks. */
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

  /** Creates the queue. `run` executes a task in a slot and must end within the remaining time. */
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

  /** Runs a task of a client when a slot is free. Tasks of clients with less usage run first. */
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

  /** Rejects all waiting tasks and later calls. Running tasks continue. */
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
