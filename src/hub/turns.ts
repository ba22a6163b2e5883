/**
 * Whose turn it is to work. A few clients work at a time; of those that wait the one comes next that had least time, so that
 * one that wants little is hardly held up by many that want much, however many requests they send. Who comes back counts as
 * if it had as much as those that are served now: nobody saves time up. Who works long gives way now and then, and who
 * waits for something else than this process has no turn meanwhile.
 */
import { setImmediate as nextRound } from 'node:timers/promises';

/** How many work at once: more than one, since most of them wait for the database most of the time. */
const PLACES = 4;
/** After so long others go first. With `PLACES` it bounds how long the event loop is held. */
const SLICE_MS = 4;
/** The least that a turn counts, so that equals alternate. */
const LEAST_COST_MS = 0.01;

/** What of a client waits, and the time that it has had by then. */
interface Waiting {
  hadMs: number;
  readonly wakes: (() => void)[];
}

export class Turns {
  private working = 0;
  /** In the order in which they came, which decides among equals. */
  private readonly waiting = new Map<object, Waiting>();
  private readonly had = new WeakMap<object, number>();
  /** The time that the client had which was served last. */
  private servedMs = 0;

  get workingCount(): number {
    return this.working;
  }

  get waitingCount(): number {
    let count = 0;
    for (const { wakes } of this.waiting.values()) count += wakes.length;
    return count;
  }

  /** A turn for a client, which ends with `Turn.leave`. */
  async enter(client: object): Promise<Turn> {
    await this.takePlace(client);
    return new Turn(this, client);
  }

  /** Resolves with a place taken. */
  takePlace(client: object): Promise<void> {
    if (this.working < PLACES) {
      this.working++;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const waiting = this.waiting.get(client);
      if (waiting) waiting.wakes.push(resolve);
      else this.waiting.set(client, { hadMs: this.hadOf(client), wakes: [resolve] });
    });
  }

  private hadOf(client: object): number {
    return Math.max(this.had.get(client) ?? 0, this.servedMs);
  }

  /** Gives a client's place back after so long, to the next that waits. */
  givePlace(client: object, usedMs: number): void {
    this.had.set(client, this.hadOf(client) + Math.max(usedMs, LEAST_COST_MS));
    const own = this.waiting.get(client);
    if (own) own.hadMs = this.hadOf(client);
    let next: object | null = null;
    let least = Infinity;
    for (const [other, { hadMs }] of this.waiting) {
      if (hadMs >= least) continue;
      next = other;
      least = hadMs;
    }
    if (next === null) {
      this.working--;
      return;
    }
    this.servedMs = Math.max(this.servedMs, least);
    const entry = this.waiting.get(next)!;
    const wake = entry.wakes.shift()!;
    // What a turn takes is known when it ends, and until then others of this client wait.
    entry.hadMs += LEAST_COST_MS;
    if (entry.wakes.length === 0) this.waiting.delete(next);
    wake();
  }
}

/** One client's turn. Parts of its work may run beside each other: they share the one place. */
export class Turn {
  private readonly turns: Turns;
  private readonly client: object;
  private sinceMs = performance.now();
  private hasPlace = true;
  private isOver = false;

  constructor(turns: Turns, client: object) {
    this.turns = turns;
    this.client = client;
  }

  /** To be called often during long work: null as long as it may go on, else resolves when it may again. */
  breathe(): Promise<void> | null {
    return performance.now() - this.sinceMs < SLICE_MS ? null : this.outside(() => nextRound());
  }

  /** Waits for what others do, without a place meanwhile. */
  async outside<T>(wait: () => Promise<T>): Promise<T> {
    const hadPlace = this.hasPlace;
    this.release();
    try {
      return await wait();
    } finally {
      if (hadPlace) await this.takePlace();
      this.sinceMs = performance.now();
    }
  }

  private async takePlace(): Promise<void> {
    await this.turns.takePlace(this.client);
    if (this.isOver) {
      this.turns.givePlace(this.client, 0);
      return;
    }
    this.hasPlace = true;
    this.sinceMs = performance.now();
  }

  private release(): void {
    if (!this.hasPlace) return;
    this.hasPlace = false;
    this.turns.givePlace(this.client, performance.now() - this.sinceMs);
  }

  /** Ends the turn. */
  leave(): void {
    this.isOver = true;
    this.release();
  }
}
