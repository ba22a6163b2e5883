/**
 * Locks an unlocked wallet after a time. A timer measures the time. The end time that is shown to users is computed with the
 * node's clock. Source: lbrycrd wallet/rpcwallet.cpp `walletpassphrase`, rpc/server.cpp `RPCRunLater`.
 */

/** Maximum delay of a JavaScript timer in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export class Relock {
  private readonly lock: () => void;
  private timer: NodeJS.Timeout | null = null;
  private until = 0;

  constructor(lock: () => void) {
    this.lock = lock;
  }

  /** Time of the automatic lock in seconds since 1970, by the node's clock; 0 while the wallet is locked. */
  get untilSec(): number {
    return this.until;
  }

  /** Locks the wallet after `seconds` seconds. Replaces the time of an earlier call. */
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
    // The timer must not prevent the process from ending.
    this.timer.unref();
  }

  /** Cancels the planned lock of the wallet. */
  cancel(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.until = 0;
  }
}
