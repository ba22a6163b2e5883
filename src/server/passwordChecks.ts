/**
 * Schedules password checks of unauthenticated connections. If a caller sent too many wrong passwords, the passwords on all
 * its connections are checked at a steady rate. Correct passwords wait in the same queue as wrong ones, so that the timing
 * of a response reveals nothing. Other callers do not wait. The cookie is checked without delay elsewhere, because it cannot
 * be guessed. The queues are limited.
 */
import { callerAt } from './authThrottle.js';

/** Milliseconds after which one wrong password of a caller does not count any more: sixteen per second. */
const FORGIVEN_AFTER_MS = 62;
/** Number of counted wrong passwords from which on the caller's checks must wait. Arbitrary. */
const MAX_DEBT = 16;
/** Maximum number of queued checks of one caller. Running 256 checks takes sixteen seconds, which is the longest wait. */
const MAX_WAITING_OF_CALLER = 256;
/** Maximum number of callers that are counted separately. All further callers count together as one caller. Arbitrary. */
const MAX_CALLERS = 4096;
const OTHERS = 'others';
/** Number of steps of `FORGIVEN_AFTER_MS` between two log reports: ten seconds. */
const REPORT_STEPS = 160;

/** A password check that waits for its turn. Called with true it runs; called with false it closes the connection instead. */
type Check = (mayCheck: boolean) => void;

interface Caller {
  /** Address from which the caller's first wrong password came. */
  readonly address: string;
  /** Number of the caller's wrong passwords that count at present. */
  debt: number;
  waiting: Check[];
  /** Number of the caller's connections that were closed since the last report. */
  cutOff: number;
}

export class PasswordChecks {
  /** Callers that recently sent wrong passwords. Checks of other callers do not wait. */
  private readonly callers = new Map<string, Caller>();
  private readonly report: (address: string, cutOff: number) => void;
  private timer: NodeJS.Timeout | null = null;
  private steps = 0;

  /** `report` is called with a caller's address and the number of its connections that were closed. */
  constructor(report: (address: string, cutOff: number) => void) {
    this.report = report;
  }

  /** Runs a password check when it is the caller's turn: immediately, unless the caller sent too many wrong passwords. */
  inTurn(address: string, check: Check): void {
    const caller = this.callers.size === 0 ? undefined : this.callerOf(address);
    if (caller === undefined || (caller.waiting.length === 0 && caller.debt < MAX_DEBT)) check(true);
    else if (caller.waiting.length < MAX_WAITING_OF_CALLER) caller.waiting.push(check);
    else check(false);
  }

  /** Counts a wrong password. Every check must call this function after a wrong password. */
  noteWrong(address: string): void {
    let caller = this.callerOf(address);
    if (caller === undefined) {
      caller = { address, debt: 0, waiting: [], cutOff: 0 };
      this.callers.set(this.callers.size < MAX_CALLERS ? callerAt(address) : OTHERS, caller);
    }
    caller.debt++;
    this.timer ??= setInterval(() => this.forgive(), FORGIVEN_AFTER_MS).unref();
  }

  /** Counts a closed connection of a caller, for the next report. */
  noteCutOff(address: string): void {
    const caller = this.callerOf(address);
    if (caller !== undefined) caller.cutOff++;
  }

  /** Closes all connections whose check is waiting. */
  close(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    const callers = [...this.callers.values()];
    for (const caller of callers) for (const check of caller.waiting.splice(0)) check(false);
    for (const caller of callers) this.tellOf(caller);
    this.callers.clear();
  }

  private callerOf(address: string): Caller | undefined {
    const known = this.callers.get(callerAt(address));
    return known ?? (this.callers.size < MAX_CALLERS ? undefined : this.callers.get(OTHERS));
  }

  /**
   * Runs once per `FORGIVEN_AFTER_MS`. Forgives each caller one wrong password, and runs the waiting checks that this
   * permits.
   */
  private forgive(): void {
    this.steps++;
    for (const [key, caller] of this.callers) {
      caller.debt--;
      const { waiting } = caller;
      while (caller.debt < MAX_DEBT && waiting.length > 0) waiting.shift()!(true);
      const isOver = caller.debt <= 0 && waiting.length === 0;
      if (isOver || this.steps % REPORT_STEPS === 0) this.tellOf(caller);
      if (isOver) this.callers.delete(key);
    }
    if (this.callers.size > 0 || this.timer === null) return;
    clearInterval(this.timer);
    this.timer = null;
  }

  private tellOf(caller: Caller): void {
    if (caller.cutOff > 0) this.report(caller.address, caller.cutOff);
    caller.cutOff = 0;
  }
}
