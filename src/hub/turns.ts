/**
 * Whose turn it is to work. A few clients work at a time; of those that wait the one comes next that had least time of
 * late, times what else it asks for, so that one that wants little is hardly held up by many that want much. What a
 * client had is forgotten by halves, so that who wanted much has its turn again. Who works long gives way now and then, and
 * who waits for something else than this process has no turn meanwhile. All of them together work for some milliseconds in
 * each round of the event loop, however many wait: the rest of the node has as long.
 */
import { setImmediate as nextRound } from 'node:timers/promises';

/** How many work at once: more than one, since most of them wait for something else most of the time. */
const PLACES = 4;
/** After so long others go first, and after so long nobody begins or goes on in this round of the event loop. */
const SLICE_MS = 4;
/** The least that a turn counts, so that equals alternate. */
const LEAST_COST_MS = 0.01;
/** After so long what a client had counts half. Arbitrary: a wallet that is in use asks for some milliseconds meanwhile. */
const HALF_LIFE_MS = 10_000;
/**
 * What a client counts as having had when it comes: more than one that wants little, so that nothing is gained by coming
 * again and again, and little enough to be served before those that want much. Arbitrary.
 */
const ENTRY_MS = 10;

/** The time that a client had, as of one half-life. */
interface Account {
  hadMs: number;
  era: number;
}

/** What of a client waits. */
interface Waiting {
  readonly account: Account;
  /** How much more than this one thing it wants; 1 for nothing. */
  weight: number;
  readonly wakes: (() => void)[];
}

export class Turns {
  private readonly nowMs: () => number;
  private readonly places: number;
  private working = 0;
  /** In the order in which they came, which decides among equals. */
  private readonly waiting = new Map<object, Waiting>();
  private readonly accounts = new WeakMap<object, Account>();
  /** How many half-lives have passed. */
  private era: number;
  /** When work began in this round of the event loop; null before. */
  private roundSinceMs: number | null = null;
  /** Until when time has been put down to somebody. */
  private lapMs: number;

  /** `nowMs` is a clock that only goes forward. */
  constructor(nowMs: () => number = () => performance.now(), places = PLACES) {
    this.nowMs = nowMs;
    this.places = places;
    this.era = this.presentEra();
    this.lapMs = nowMs();
  }

  /**
   * The time since the last lap, which is that of whoever works at this moment: nobody else here can have worked since. Called
   * whenever somebody else may work next. What is longer than anybody works without a pause was other work of the node.
   */
  lap(): number {
    const now = this.nowMs();
    const ms = Math.min(now - this.lapMs, SLICE_MS);
    this.lapMs = now;
    return ms;
  }

  private presentEra(): number {
    return Math.floor(this.nowMs() / HALF_LIFE_MS);
  }

  get workingCount(): number {
    return this.working;
  }

  get waitingCount(): number {
    let count = 0;
    for (const { wakes } of this.waiting.values()) count += wakes.length;
    return count;
  }

  /** A turn for a client, which ends with `Turn.leave`. `weight` is about how many requests of the client are not answered. */
  async enter(client: object, weight = 1): Promise<Turn> {
    await this.takePlace(client, weight);
    return new Turn(this, client, weight, this.nowMs);
  }

  /** Whether the time is up that there is in one round of the event loop. Begins that time. */
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

  /** Resolves with a place taken. */
  takePlace(client: object, weight: number): Promise<void> {
    if (this.working < this.places && this.waiting.size === 0 && !this.isRoundOver()) {
      this.lap();
      this.working++;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      let waiting = this.waiting.get(client);
      if (waiting === undefined)
        this.waiting.set(client, (waiting = { account: this.account(client), weight, wakes: [] }));
      waiting.weight = weight;
      waiting.wakes.push(resolve);
    });
  }

  /** What a client had, as of the present era. */
  private account(client: object): Account {
    this.age();
    let account = this.accounts.get(client);
    if (account === undefined) this.accounts.set(client, (account = { hadMs: ENTRY_MS, era: this.era }));
    account.hadMs *= 0.5 ** (this.era - account.era);
    account.era = this.era;
    return account;
  }

  /** Halves what those count that wait, when it is time; the others are halved when they come. */
  private age(): void {
    const era = this.presentEra();
    const share = 0.5 ** (era - this.era);
    if (share === 1) return;
    this.era = era;
    for (const { account } of this.waiting.values()) {
      account.hadMs *= share;
      account.era = era;
    }
  }

  /** Gives a client's place back after so long. */
  givePlace(client: object, usedMs: number): void {
    const account = this.account(client);
    account.hadMs += Math.max(usedMs, LEAST_COST_MS);
    this.working--;
    this.serve();
  }

  /** Puts down to a client what others worked for it. */
  charge(client: object, usedMs: number): void {
    this.account(client).hadMs += usedMs;
  }

  /** Gives free places to those that wait. */
  private serve(): void {
    while (this.working < this.places && this.waiting.size > 0 && !this.isRoundOver()) this.serveNext();
  }

  private serveNext(): void {
    let next: object | null = null;
    let least = Infinity;
    for (const [client, { account, weight }] of this.waiting) {
      const score = account.hadMs * weight;
      if (score >= least) continue;
      next = client;
      least = score;
    }
    if (next === null) return;
    this.working++;
    const entry = this.waiting.get(next)!;
    const wake = entry.wakes.shift()!;
    // What a turn takes is known when it ends, and until then others of this client wait.
    entry.account.hadMs += LEAST_COST_MS;
    if (entry.wakes.length === 0) this.waiting.delete(next);
    wake();
  }
}

/** One client's turn. Parts of its work may run beside each other: they share the one place. */
export class Turn {
  /** About how many requests of the client are not answered. */
  readonly weight: number;
  /** What the client worked in this turn, up to when it last gave its place back. */
  workedMs = 0;
  private readonly turns: Turns;
  private readonly client: object;
  private readonly nowMs: () => number;
  private sinceMs: number;
  /** Worked since the place was taken. */
  private usedMs = 0;
  private hasPlace = true;
  private isOver = false;

  constructor(turns: Turns, client: object, weight: number, nowMs: () => number) {
    this.turns = turns;
    this.client = client;
    this.weight = weight;
    this.nowMs = nowMs;
    this.sinceMs = nowMs();
  }

  /** To be called often during long work: null as long as it may go on, else resolves when it may again. */
  breathe(): Promise<void> | null {
    if (this.hasPlace) this.usedMs += this.turns.lap();
    const mayGoOn = this.nowMs() - this.sinceMs < SLICE_MS && !this.turns.isRoundOver();
    return mayGoOn ? null : this.outside(() => nextRound());
  }

  /** Waits for what others do, without a place meanwhile. */
  async outside<T>(wait: () => Promise<T>): Promise<T> {
    const hadPlace = this.hasPlace;
    this.release();
    try {
      return await wait();
    } finally {
      if (hadPlace) await this.takePlace();
      this.sinceMs = this.nowMs();
    }
  }

  private async takePlace(): Promise<void> {
    await this.turns.takePlace(this.client, this.weight);
    if (this.isOver) {
      this.turns.givePlace(this.client, 0);
      return;
    }
    this.hasPlace = true;
    this.sinceMs = this.nowMs();
  }

  private release(): void {
    if (!this.hasPlace) return;
    this.hasPlace = false;
    const usedMs = this.usedMs + this.turns.lap();
    this.usedMs = 0;
    this.workedMs += usedMs;
    this.turns.givePlace(this.client, usedMs);
  }

  /** Ends the turn. */
  leave(): void {
    this.isOver = true;
    this.release();
  }
}

/** Runs work that pauses, giving way as the turn demands. */
export async function slowly<T>(turn: Turn, work: Generator<undefined, T, undefined>): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    const breath = turn.breathe();
    if (breath !== null) await breath;
  }
}
