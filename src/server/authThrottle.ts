/**
 * Delays responses to wrong passwords: each caller (an IPv4 address, a /64 of IPv6) gets one response in a quarter of a
 * second, over any number of connections. The number of waiting responses is limited. `passwordChecks.ts` decides when a
 * password is checked.
 */
import { parseIp } from '../util/network/subnet.js';

/** Delay for a wrong password. Source: lbrycrd httprpc.cpp, `MilliSleep(250)`. */
const COST_MS = 250;
/** Maximum number of waiting responses for one caller. Sending 256 delayed responses takes more than a minute. */
const MAX_WAITING_OF_CALLER = 256;
/** Maximum number of delayed responses for all callers together. Arbitrary: bounds the memory. */
const MAX_WAITING = 4096;

/** Delayed responses to one caller, as resolve functions. The timer sends the first response. */
interface Line {
  readonly waiting: ((mayAnswer: boolean) => void)[];
  timer: NodeJS.Timeout;
}

export class AuthThrottle {
  private readonly lines = new Map<string, Line>();
  private waiting = 0;

  /**
   * Delays the response to a wrong password. Resolves with true when the response may be sent. Resolves with false if too
   * many responses are waiting; the connection must then be closed instead.
   */
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

  /** Whether too many delayed responses are waiting, for the caller or for all callers together. */
  isFull(address: string): boolean {
    if (this.waiting >= MAX_WAITING) return true;
    return (this.lines.get(callerAt(address))?.waiting.length ?? 0) >= MAX_WAITING_OF_CALLER;
  }

  /** Number of callers with delayed responses. */
  get callers(): number {
    return this.lines.size;
  }

  /** Sends all waiting responses immediately. */
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

/** The key under which a caller is counted: an IPv4 address, or the /64 network of an IPv6 address. */
export function callerAt(address: string): string {
  const ip = parseIp(address);
  if (ip === null) return address;
  const isIpv4 = ip[10] === 0xff && ip[11] === 0xff && ip.subarray(0, 10).every((byte) => byte === 0);
  return Buffer.from(isIpv4 ? ip : ip.subarray(0, 8)).toString('hex');
}
