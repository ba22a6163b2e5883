/**
 * Shares a thread's time among clients. A few clients work at a time, each in a slot; the others wait in a fair queue, in which
 * the use of a client is multiplied by the number of its open requests. So a client that asks for little is hardly held up by
 * many that ask for much. Long work yields now and then, and a client that waits for another thread has no slot meanwhile.
 * All clients together work for some milliseconds in each round of the event loop; the rest of the process has as long.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import type { Slices } from '../util/slices.js';
import { FairQueue } from './fairQueue.js';
import { runSlices } from './slices.js';

/** Slots: more than one, since most clients wait for other threads most of the time. */
const SLOTS = 4;
/** After this time other clients go first; after so long no work begins or continues in this round of the event loop. */
const SLICE_MS = 4;
/** The least that a turn counts, so that equal clients alternate. */
const LEAST_COST_MS = 0.01;
/** After this time what a client used counts half. Arbitrary: a wallet in use asks for some milliseconds meanwhile. */
const HALF_LIFE_MS = 10_000;
/**
 * The use of a new client: more than that of a client that asks for little, so that nothing is gained by connecting again,
 * and little enough to be served before clients that ask for much. Arbitrary.
 */
const ENTRY_MS = 10;

export class ClientQueue {
  private readonly nowMs: () => number;
  private readonly slots: number;
  private readonly queue: FairQueue<() => void>;
  private working = 0;
  /** When work began in this round of the event loop; null before. */
  private roundSinceMs: number | null = null;
  /** The time up to which work was charged. */
  private lapMs: number;

  /** `nowMs` is a clock that only goes forward. */
  constructor(nowMs: () => number = () => performance.now(), slots = SLOTS) {
    this.nowMs = nowMs;
    this.slots = slots;
    this.queue = new FairQueue({ nowMs, halfLifeMs: HALF_LIFE_MS, entryMs: ENTRY_MS });
    this.lapMs = nowMs();
  }

  /**
   * The time since the last lap. It belongs to the client that works now: no other can have worked since. Called whenever another
   * client may work next. A time longer than a slice was other work of the process.
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

  /** A turn for a client, which ends with `Turn.leave`. `weight` is about how many requests of the client are not answered. */
  async enter(client: object, weight = 1): Promise<Turn> {
    await this.takeSlot(client, weight);
    return new Turn(this, client, weight, this.nowMs);
  }

  /** Whether the time of one round of the event loop is used up. Begins that time. */
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

  /** Resolves when the client has a slot. */
  takeSlot(client: object, weight: number): Promise<void> {
    if (this.working < this.slots && this.queue.size === 0 && !this.isRoundOver()) {
      this.lap();
      this.working++;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.queue.add(client, resolve, weight));
  }

  /** Gives a client's slot back after so long. */
  giveSlot(client: object, usedMs: number): void {
    this.queue.charge(client, Math.max(usedMs, LEAST_COST_MS));
    this.working--;
    this.serve();
  }

  /** Counts time that other threads worked for a client. */
  charge(client: object, usedMs: number): void {
    this.queue.charge(client, usedMs);
  }

  private serve(): void {
    while (this.working < this.slots && this.queue.size > 0 && !this.isRoundOver()) {
      const { client, item: wake } = this.queue.take()!;
      this.working++;
      // The length of a turn is known when it ends. Until then other requests of this client wait.
      this.queue.charge(client, LEAST_COST_MS);
      wake();
    }
  }
}

/** One client's turn. Parts of its work may run beside each other: they share the one slot. */
export class Turn {
  /** About how many requests of the client are not answered. */
  readonly weight: number;
  /** The time that the client worked in this turn, up to when it last gave its slot back. */
  workedMs = 0;
  private readonly queue: ClientQueue;
  private readonly client: object;
  private readonly nowMs: () => number;
  private sinceMs: number;
  /** Worked since the slot was taken. */
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

  /** Call it often during long work: null while it may continue, else resolves when it may again. */
  yieldIfDue(): Promise<void> | null {
    if (this.hasSlot) this.usedMs += this.queue.lap();
    const mayGoOn = this.nowMs() - this.sinceMs < SLICE_MS && !this.queue.isRoundOver();
    return mayGoOn ? null : this.outside(() => nextRound());
  }

  /** Waits for other work, without a slot meanwhile. */
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

  /** Ends the turn. */
  leave(): void {
    this.isOver = true;
    this.release();
  }
}

/** Runs work in slices, giving way as the turn demands. */
export function inTurn<T>(turn: Turn, work: Slices<T>): Promise<T> {
  return runSlices(work, () => turn.yieldIfDue());
}
