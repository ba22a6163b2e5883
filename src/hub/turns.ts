/**
 * Whose turn it is to work. A few clients work at a time and the others wait in a ring, each with all that it asked for:
 * one request of each client in turn, however many some send. Who works long gives way now and then, and who waits for
 * something else than this process has no turn meanwhile.
 */
import { setImmediate as nextRound } from 'node:timers/promises';

/** How many work at once: more than one, since most of them wait for the database most of the time. */
const PLACES = 4;
/** After so long others go first. With `PLACES` it bounds how long the event loop is held. */
const SLICE_MS = 4;

type Wake = () => void;

export class Turns {
  private working = 0;
  /** What waits, by its client; the client that is next comes first. */
  private readonly ring = new Map<object, Wake[]>();

  get waitingCount(): number {
    let count = 0;
    for (const waiting of this.ring.values()) count += waiting.length;
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
      const waiting = this.ring.get(client);
      if (waiting) waiting.push(resolve);
      else this.ring.set(client, [resolve]);
    });
  }

  /** Gives a place back, to the next client that waits. */
  givePlace(): void {
    for (const [client, waiting] of this.ring) {
      const wake = waiting.shift();
      // Behind all others, should more of it wait.
      this.ring.delete(client);
      if (waiting.length > 0) this.ring.set(client, waiting);
      if (wake === undefined) continue;
      wake();
      return;
    }
    this.working--;
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
    if (this.isOver) this.turns.givePlace();
    else this.hasPlace = true;
  }

  private release(): void {
    if (!this.hasPlace) return;
    this.hasPlace = false;
    this.turns.givePlace();
  }

  /** Ends the turn. */
  leave(): void {
    this.isOver = true;
    this.release();
  }
}
