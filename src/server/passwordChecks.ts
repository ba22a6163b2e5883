/**
 * When passwords of connections that have shown no right one are checked. A caller whose guesses were wrong has further
 * ones checked at a steady rate, over however many connections: the right one waits in the same line as the wrong ones, so
 * that neither an answer nor its absence reports it sooner. A caller without wrong passwords does not wait. The cookie,
 * which no one can guess, does not come here. Owns no connection; what waits is bounded.
 */
import { callerAt } from './authThrottle.js';

/** A wrong password is forgiven in that time: sixteen a second. */
const FORGIVEN_AFTER_MS = 62;
/** The number of wrong ones in a row that hold nothing up. Arbitrary. */
const MAX_DEBT = 16;
/** The number of checks that may wait for one caller, which is sixteen seconds' worth: the longest that anyone waits. */
const MAX_WAITING_OF_CALLER = 256;
/** The number of callers that are distinguished; all others are one. Arbitrary. */
const MAX_CALLERS = 4096;
const OTHERS = 'others';
/** Refusals are logged this often, in steps of `FORGIVEN_AFTER_MS`: ten seconds. */
const REPORT_STEPS = 160;

/** Does a check, or, with false, cuts its connection off. */
type Check = (mayCheck: boolean) => void;

interface Caller {
  /** Address as first seen. */
  readonly address: string;
  /** Wrong passwords that are not forgiven yet. */
  debt: number;
  waiting: Check[];
  /** Connections cut off since the last report. */
  cutOff: number;
}

export class PasswordChecks {
  /** Callers with recent failures; addresses without an entry have every check done at once. */
  private readonly callers = new Map<string, Caller>();
  private readonly report: (address: string, cutOff: number) => void;
  private timer: NodeJS.Timeout | null = null;
  private steps = 0;

  /** `report` is notified of connections that were cut off, in sums. */
  constructor(report: (address: string, cutOff: number) => void) {
    this.report = report;
  }

  /** Runs a check for the caller at an address when its turn comes, which is at once unless it guessed wrong. */
  inTurn(address: string, check: Check): void {
    const caller = this.callers.size === 0 ? undefined : this.callerOf(address);
    if (caller === undefined || (caller.waiting.length === 0 && caller.debt < MAX_DEBT)) check(true);
    else if (caller.waiting.length < MAX_WAITING_OF_CALLER) caller.waiting.push(check);
    else check(false);
  }

  /** Notes that a password was wrong; to be called by the check itself. */
  noteWrong(address: string): void {
    let caller = this.callerOf(address);
    if (caller === undefined) {
      caller = { address, debt: 0, waiting: [], cutOff: 0 };
      this.callers.set(this.callers.size < MAX_CALLERS ? callerAt(address) : OTHERS, caller);
    }
    caller.debt++;
    this.timer ??= setInterval(() => this.forgive(), FORGIVEN_AFTER_MS).unref();
  }

  /** Notes for the next report that a connection of a caller was cut off. */
  noteCutOff(address: string): void {
    const caller = this.callerOf(address);
    if (caller !== undefined) caller.cutOff++;
  }

  /** Cuts off all that wait. */
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

  /** One step of time: each caller is forgiven one wrong password, and as much is checked of what waits. */
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
