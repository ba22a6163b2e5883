/**
 * What wrong passwords cost: each caller (an IPv4 address, a /64 of IPv6) is notified of one in a quarter of a second, over
 * however many connections. When they are checked at all is up to `passwordChecks.ts`. Owns no connection; what waits is
 * bounded.
 */
import { parseIp } from '../util/network/subnet.js';

/** What a wrong password costs. Source: the reference's `MilliSleep(250)` in httprpc.cpp. */
const COST_MS = 250;
/** The number of may that wait for one caller: more than a minute's worth. */
const MAX_WAITING_OF_CALLER = 256;
/** The number of may that wait altogether. Arbitrary. */
const MAX_WAITING = 4096;

/** Waiting checks of one caller; the first waits for its time. */
interface Line {
  readonly waiting: ((mayAnswer: boolean) => void)[];
  timer: NodeJS.Timeout;
}

export class AuthThrottle {
  private readonly lines = new Map<string, Line>();
  private waiting = 0;

  /** Resolves when the caller at an address may be told; with false when it is to be cut off instead, too many waiting. */
  cost(address: string): Promise<boolean> {
    if (this.isFull(address)) return Promise.resolve(false);
    const caller = callerAt(address);
    const line = this.lines.get(caller);
    this.waiting++;
    return new Promise((resolve) => {
      if (line !== undefined) line.waiting.push(resolve);
      else this.lines.set(caller, { waiting: [resolve], timer: this.startTimer(caller) });
    });
  }

  /** Whether too many wait already. */
  isFull(address: string): boolean {
    if (this.waiting >= MAX_WAITING) return true;
    return (this.lines.get(callerAt(address))?.waiting.length ?? 0) >= MAX_WAITING_OF_CALLER;
  }

  /** How many callers have a caller waiting. */
  get callers(): number {
    return this.lines.size;
  }

  /** Lets all go that wait. */
  close(): void {
    for (const { waiting, timer } of this.lines.values()) {
      clearTimeout(timer);
      for (const resolve of waiting) resolve(true);
    }
    this.lines.clear();
    this.waiting = 0;
  }

  private startTimer(caller: string): NodeJS.Timeout {
    return setTimeout(() => this.tell(caller), COST_MS).unref();
  }

  private tell(caller: string): void {
    const line = this.lines.get(caller);
    const next = line?.waiting.shift();
    if (line === undefined || next === undefined) return;
    this.waiting--;
    if (line.waiting.length === 0) this.lines.delete(caller);
    else line.timer = this.startTimer(caller);
    next(true);
  }
}

/** What counts as one caller. */
export function callerAt(address: string): string {
  const ip = parseIp(address);
  if (ip === null) return address;
  const isIpv4 = ip[10] === 0xff && ip[11] === 0xff && ip.subarray(0, 10).every((byte) => byte === 0);
  return Buffer.from(isIpv4 ? ip : ip.subarray(0, 8)).toString('hex');
}
