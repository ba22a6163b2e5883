/** A queue of asynchronous jobs with a bound on how many run and on how many wait. */

export class JobQueue {
  private readonly concurrency: number;
  private readonly depth: number;
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  /** Those that had a turn before. */
  private readonly returning: (() => void)[] = [];
  /** Those that let others go first. */
  private readonly yielding: (() => void)[] = [];
  private wasYielding = false;
  private gaveToNewcomer = false;

  /** At most `concurrency` jobs run; at most `depth` more wait for their turn, first come first served. */
  constructor(concurrency: number, depth: number) {
    this.concurrency = concurrency;
    this.depth = depth;
  }

  /** How many run now. */
  get runningCount(): number {
    return this.running;
  }

  /** How many wait for a turn, those that had one before included. */
  get waitingCount(): number {
    return this.waiting.length + this.returning.length + this.yielding.length;
  }

  /** Takes a turn if one is free now; each one taken ends with one call of `leave`. */
  tryEnter(): boolean {
    if (this.running >= this.concurrency) return false;
    this.running++;
    return true;
  }

  /** Waits for a turn, which ends with one call of `leave`; null at once when the queue is full. */
  enter(): Promise<void> | null {
    if (this.tryEnter()) return Promise.resolve();
    if (this.waiting.length >= this.depth) return null;
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Waits for another turn, before those that have had none, however many wait. */
  reenter(): Promise<void> {
    if (this.tryEnter()) return Promise.resolve();
    return new Promise((resolve) => this.returning.push(resolve));
  }

  /**
   * Gives a turn to one that waits and waits for another; null where nobody waits but those that gave way before. Jobs that
   * take long are to call it now and then.
   */
  giveWay(): Promise<void> | null {
    if (this.waiting.length === 0 && this.returning.length === 0) return null;
    const next = this.returning.shift() ?? this.nextToGo();
    const turn = new Promise<void>((resolve) => this.yielding.push(resolve));
    // The place goes from one to the other.
    next?.();
    return turn;
  }

  /** Ends a turn. */
  leave(): void {
    const next = this.returning.shift() ?? this.nextInLine();
    // The next job takes over the place of this one.
    if (next === undefined) this.running--;
    else next();
  }

  /** As below, for turns that are given away: newcomers go first, but jobs that take long get through as well. */
  private nextToGo(): (() => void) | undefined {
    const isOld = this.gaveToNewcomer && this.yielding.length > 0;
    this.gaveToNewcomer = !isOld;
    return isOld ? this.yielding.shift() : this.waiting.shift();
  }

  /** Newcomers and those that gave way in turn, so that neither keep the others out. */
  private nextInLine(): (() => void) | undefined {
    const [first, second] = this.wasYielding ? [this.waiting, this.yielding] : [this.yielding, this.waiting];
    this.wasYielding = !this.wasYielding;
    return first.shift() ?? second.shift();
  }
}
