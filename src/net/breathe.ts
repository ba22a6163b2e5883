/**
 * The event loop's time, shared out among those who work for peers: whoever has something to do waits in line, one of
 * them goes on at a time, and the loop makes a round in between. So a hundred peers that keep us busy take no more of the
 * loop's time than one does, whatever they send, and RPC, timers and the chain go on meanwhile. First comes who has had
 * least: a peer that says little waits for nobody who says much. One line for the process, as there is one loop.
 */
import type { Slices } from '../util/slices.js';

/** The longest that a turn should last; what cannot be divided may take longer. */
const TURN_MS = 4;
/** Time that one is ahead who says nothing for a while: a message that takes less is handled next. More is not saved up. */
const CREDIT_MS = TURN_MS;
/** What is left to all others after turns while more than one peer waits, as a share of those turns. Arbitrary. */
const REST_SHARE = 0.5;
/** Rests are saved up until they are as long: a timer cannot do less, and what takes microseconds needs none. */
const MIN_REST_MS = 2;

/** The loop as the line sees it, so that tests can hold it in their hands. */
export interface Loop {
  /** Passes evenly, in milliseconds. */
  nowMs(): number;
  /** Runs both in the loop's next round, the second directly after the first and what follows from it without waiting. */
  nextRound(first: () => void, second: () => void): void;
  /** Runs a task after so many milliseconds. */
  after(ms: number, task: () => void): void;
}

const PROCESS_LOOP: Loop = {
  nowMs: () => performance.now(),
  nextRound(first, second) {
    // Neighbours among what the loop's round does at its end: nothing runs in between but microtasks.
    setImmediate(first);
    setImmediate(second);
  },
  after: (ms, task) => void setTimeout(task, ms),
};

/** The time of the loop that one peer has had, as a mark on a scale that all share. */
interface Account {
  servedMs: number;
  /** What is done in its present turn serves us: it costs nothing. */
  isUseful: boolean;
}

interface Waiting {
  readonly account: Account;
  readonly go: (sinceMs: number) => void;
}

export class TurnLine {
  private readonly loop: Loop;
  private readonly accounts = new WeakMap<object, Account>();
  /** Of work of which nobody said for whom it is. */
  private readonly others: Account = { servedMs: 0, isUseful: false };
  private readonly waiting: Waiting[] = [];
  private isMoving = false;
  /** As far on the scale as turns were given: who comes after a pause begins a little before. */
  private markMs = 0;
  private owedMs = 0;
  /** The turn that lasts, and who has it. */
  private turns = 0;
  private present: Account | null = null;
  private sinceMs = 0;

  constructor(loop: Loop = PROCESS_LOOP) {
    this.loop = loop;
  }

  /** Time as the line measures it, in milliseconds. */
  nowMs(): number {
    return this.loop.nowMs();
  }

  private accountOf(peer: object | null): Account {
    if (peer === null) return this.others;
    let account = this.accounts.get(peer);
    if (!account) this.accounts.set(peer, (account = { servedMs: 0, isUseful: false }));
    return account;
  }

  /** Waits for a turn in any case. Resolves with the time at which it begins. */
  nextTurn(peer: object | null = null): Promise<number> {
    const account = this.accountOf(peer);
    account.servedMs = Math.max(account.servedMs, this.markMs - CREDIT_MS);
    return new Promise((go) => {
      this.waiting.push({ account, go });
      if (!this.isMoving) this.move();
    });
  }

  /** As the function of that name. */
  breathe(sinceMs: number, peer: object | null = null): Promise<number> | number {
    if (this.loop.nowMs() - sinceMs < TURN_MS) return sinceMs;
    return this.nextTurn(peer);
  }

  /** Names the turn that lasts, for `isOver`. */
  get turn(): number {
    return this.turns;
  }

  /** Whether a turn has ended, or has lasted as long as it may. */
  isOver(turn: number): boolean {
    return turn !== this.turns || this.present === null || this.loop.nowMs() - this.sinceMs >= TURN_MS;
  }

  /** What this peer does in its present turn serves us more than itself: it is not counted. */
  noteUseful(peer: object): void {
    const account = this.accountOf(peer);
    if (account === this.present) account.isUseful = true;
  }

  private move(): void {
    this.isMoving = true;
    this.loop.nextRound(
      () => this.begin(),
      () => this.end(),
    );
  }

  /** Gives a turn to the one who has had least; of equals the first. */
  private begin(): void {
    const { waiting } = this;
    let at = 0;
    for (let i = 1; i < waiting.length; i++)
      if (waiting[i]!.account.servedMs < waiting[at]!.account.servedMs) at = i;
    const [{ account, go }] = waiting.splice(at, 1) as [Waiting];
    this.turns++;
    this.present = account;
    this.markMs = Math.max(this.markMs, account.servedMs);
    this.sinceMs = this.loop.nowMs();
    go(this.sinceMs);
  }

  /** What could be done without waiting is done. */
  private end(): void {
    const account = this.present!;
    const tookMs = account.isUseful ? 0 : this.loop.nowMs() - this.sinceMs;
    account.isUseful = false;
    account.servedMs += tookMs;
    this.present = null;
    // One alone needs no rest: all others have had their part of each round.
    const isAlone = this.waiting.every((waiting) => waiting.account === account);
    this.owedMs = isAlone ? 0 : this.owedMs + tookMs * REST_SHARE;
    if (this.waiting.length === 0) this.isMoving = false;
    else if (this.owedMs < MIN_REST_MS) this.move();
    else {
      this.loop.after(this.owedMs, () => this.move());
      this.owedMs = 0;
    }
  }
}

/** The process's. */
export const peerTurns = new TurnLine();

/**
 * Call it often with the time at which the present turn began (`performance.now()`): it waits for the next one when this
 * one is used up. `peer` is for whom the work is done. Returns the beginning of the turn from here on.
 */
export function breathe(sinceMs: number, peer: object | null = null): Promise<number> | number {
  return peerTurns.breathe(sinceMs, peer);
}

/** Runs work that may pause, in turns of a peer: the one that lasts, and as many more as it takes. */
export async function inTurns<T>(work: Slices<T>, peer: object): Promise<T> {
  let since = peerTurns.nowMs();
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    since = await breathe(since, peer);
  }
}
