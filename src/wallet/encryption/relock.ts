/**
 * When an unlocked wallet locks itself again. It does so after seconds that have passed, whatever the node's clock says; what
 * is notified of it stands on that clock. Source: lbrycrd wallet/rpcwallet.cpp `walletpassphrase`, rpc/server.cpp
 * `RPCRunLater`.
 */

/** Timers of the platform are no longer than this. */
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

  /** Locks in this many seconds, and not at the time that was set before. */
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
    // The node does not stay for its sake.
    this.timer.unref();
  }

  /** Does not lock by itself any more. */
  cancel(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.until = 0;
  }
}
