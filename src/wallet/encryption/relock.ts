/**
 * Locks an unlocked wallet after a time. The time is measured by a timer; the time shown to users is that of the node's
 * clock. Source: lbrycrd wallet/rpcwallet.cpp `walletpassphrase`, rpc/server.cpp `RPCRunLater`.
 */

/** Maximum duration of a platform timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export class Relock {
  private readonly lock: () => void;
  private timer: NodeJS.Timeout | null = null;
  private until = 0;

  constructor(lock: () => void) {
    this.lock = lock;
  }

  /** Seconds since 1970 by the node's clock; 0 while the wallet is locked. */
  get untilSec(): number {
    return this.until;
  }

  /** Locks after this many seconds. Replaces an earlier time. */
  arm(seconds: number, nowSec: number): void {
    this.cancel();
    this.until = nowSec + seconds;
    this.wait(performance.now() + seconds * 1000);
  }

  private wait(endMs: number): void {
    const leftMs = Math.max(endMs - performance.now(), 0);
    this.timer = setTimeout(
      () => {
        if (leftMs > MAX_TIMER_MS) {
          this.wait(endMs);
          return;
        }
        this.cancel();
        this.lock();
      },
      Math.min(leftMs, MAX_TIMER_MS),
    );
    // The timer does not keep the process running.
    this.timer.unref();
  }

  /** Cancels the automatic lock. */
  cancel(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.until = 0;
  }
}
