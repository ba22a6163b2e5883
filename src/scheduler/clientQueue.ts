/**
 * Shares a thread's time among clients. A few clients work at a time, each in a slot; the others wait in a fair queue, in
 * which a client's usage is multiplied by the number of its open requests. A client with few requests is therefore hardly
 * delayed by many clients with heavy requests. Long work yields regularly, and a client that waits for another thread
 * occupies no slot. In each round of the event loop, all clients together work for some milliseconds; the rest of the
 * process gets the same time.
 */
import type { Slices } from '../util/slices.js';
import { FairQueue } from './fairQueue.js';
import { nextRound } from './rounds.js';
import { runSlices } from './slices.js';

/** Number of clients that may work at a time. More than one, because most clients wait for other threads most of the time. */
const SLOTS = 4;
/**
 * Time in ms after which a client yields to others. After this time in a round of the event loop, no work starts or
 * continues in that round.
 */
const SLICE_MS = 4;
/** Minimum time in ms charged for a turn. It makes clients with equal usage alternate. */
const LEAST_COST_MS = 0.01;
/** Half-life in ms of a client's usage. Arbitrary: an active wallet needs some milliseconds of work in this time. */
const HALF_LIFE_MS = 10_000;
/**
 * Initial usage in ms of a new client: more than that of a light client, so that reconnecting gives no advantage, but so low
 * that the new client is served before heavy clients. Arbitrary.
 */
const ENTRY_MS = 10;

export class ClientQueue {
  private readonly nowMs: () => number;
  private readonly slots: number;
  private readonly queue: FairQueue<() => void>;
  private working = 0;
  /** Time at which work started in the current round of the event loop; null if none has started. */
  private roundSinceMs: number | null = null;
  /** Monotonic time in ms up to which work has been charged to clients. */
  private lapMs: number;

  /** Creates the queue. `nowMs` must return the time of a monotonic clock. */
  constructor(nowMs: () => number = () => performance.now(), slots = SLOTS) {
    this.nowMs = nowMs;
    this.slots = slots;
    this.queue = new FairQueue({ nowMs, halfLifeMs: HALF_LIFE_MS, entryMs: ENTRY_MS });
    this.lapMs = nowMs();
  }

  /**
   * Returns the time since the last call, limited to one slice. This time is charged to the client whose call is running,
   * because only this client can have used time since the last call. Must be called before another client may work. Time
   * beyond a slice was other work of the process.
   */
  lap(): number {
    const now = this.nowMs();
    const ms = Math.min(now - this.lapMs, SLICE_MS);
    this.lapMs = now;
    return ms;
  }

  get workingCount(): number {
    return this.working;
  }

  get waitingCount(): number {
    return this.queue.size;
  }

  /**
   * Waits for a turn of a client. `Turn.leave` ends the turn. `weight` is approximately the number of the client's open
   * requests.
   */
  async enter(client: object, weight = 1): Promise<Turn> {
    await this.takeSlot(client, weight);
    return new Turn(this, client, weight, this.nowMs);
  }

  /** Whether the time for clients in this round of the event loop is used up. The first call in a round starts this time. */
  isRoundOver(): boolean {
    if (this.roundSinceMs === null) {
      this.roundSinceMs = this.nowMs();
      setImmediate(() => {
        this.roundSinceMs = null;
        this.lap();
        this.serve();
      });
      return false;
    }
    return this.nowMs() - this.roundSinceMs >= SLICE_MS;
  }

  /** Waits for a slot. Resolves when the client has one. */
  takeSlot(client: object, weight: number): Promise<void> {
    if (this.working < this.slots && this.queue.size === 0 && !this.isRoundOver()) {
      this.lap();
      this.working++;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.queue.add(client, resolve, weight));
  }

  /** Frees a client's slot and adds `usedMs` milliseconds to the client's usage. */
  giveSlot(client: object, usedMs: number): void {
    this.queue.charge(client, Math.max(usedMs, LEAST_COST_MS));
    this.working--;
    this.serve();
  }

  /** Charges a client for time that other threads spent on its work. */
  charge(client: object, usedMs: number): void {
    this.queue.charge(client, usedMs);
  }

  private serve(): void {
    while (this.working < this.slots && this.queue.size > 0 && !this.isRoundOver()) {
      const { client, item: wake } = this.queue.take()!;
      this.working++;
      // The length of a turn is known only at its end. Until then the minimum is charged, so that the client's other
      // requests rank behind those of equal clients.
      this.queue.charge(client, LEAST_COST_MS);
      wake();
    }
  }
}

/** A turn of one client. Concurrent parts of the client's work share its single slot. */
export class Turn {
  /** Approximate number of requests of the client that are not answered yet. */
  readonly weight: number;
  /** Time in ms that the client has worked in this turn, up to the last release of its slot. */
  workedMs = 0;
  private readonly queue: ClientQueue;
  private readonly client: object;
  private readonly nowMs: () => number;
  private sinceMs: number;
  /** Milliseconds of work since the slot was taken. */
  private usedMs = 0;
  private hasSlot = true;
  private isOver = false;

  constructor(queue: ClientQueue, client: object, weight: number, nowMs: () => number) {
    this.queue = queue;
    this.client = client;
    this.weight = weight;
    this.nowMs = nowMs;
    this.sinceMs = nowMs();
  }

  /**
   * Returns null if the work may continue, otherwise a promise that resolves when it may continue. Must be called often
   * during long work.
   */
  yieldIfDue(): Promise<void> | null {
    if (this.hasSlot) this.usedMs += this.queue.lap();
    const mayGoOn = this.nowMs() - this.sinceMs < SLICE_MS && !this.queue.isRoundOver();
    return mayGoOn ? null : this.outside(() => nextRound());
  }

  /** Waits for other work, such as another thread, without occupying the slot. */
  async outside<T>(wait: () => Promise<T>): Promise<T> {
    const hadSlot = this.hasSlot;
    this.release();
    try {
      return await wait();
    } finally {
      if (hadSlot) await this.takeSlot();
      this.sinceMs = this.nowMs();
    }
  }

  private async takeSlot(): Promise<void> {
    await this.queue.takeSlot(this.client, this.weight);
    if (this.isOver) {
      this.queue.giveSlot(this.client, 0);
      return;
    }
    this.hasSlot = true;
    this.sinceMs = this.nowMs();
  }

  private release(): void {
    if (!this.hasSlot) return;
    this.hasSlot = false;
    const usedMs = this.usedMs + this.queue.lap();
    this.usedMs = 0;
    this.workedMs += usedMs;
    this.queue.giveSlot(this.client, usedMs);
  }

  /** Ends the turn and frees its slot. */
  leave(): void {
    this.isOver = true;
    this.release();
  }
}

/** Runs work in slices, with yields when the turn requires them. */
export function inTurn<T>(turn: Turn, work: Slices<T>): Promise<T> {
  return runSlices(work, () => turn.yieldIfDue());
}
