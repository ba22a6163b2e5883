/**
 * How the follower of the claim index stands, for a thread in which it does not run but is reported, and what waits for it
 * there.
 */
import { UNKNOWN_STATUS, type FollowerStatus } from './followerStatus.js';
import type { BlockId } from './indexChange.js';

/** The follower as searches use it, in any thread. */
export interface FollowerView {
  readonly status: FollowerStatus;
  /** Someone who read the index found it damaged. */
  remake(): void;
  /** Waits until the index is at the tip of the claim index, on the same branch, `timeoutMs` at most. */
  waitForTip(timeoutMs: number): Promise<void>;
}

export interface RemoteStatusDeps {
  /** Whether the claim index has nothing beyond this block. */
  readonly isTip: (block: BlockId) => boolean;
  /** Tells the follower that a caller waits for the tip. */
  readonly poke: () => void;
  readonly remake: () => void;
}

export class RemoteStatus implements FollowerView {
  private readonly deps: RemoteStatusDeps;
  private readonly waiters = new Set<() => void>();
  /** Whether the follower was notified of those who wait, and has not answered. */
  private isPoked = false;
  private isEnded = false;
  private shown = UNKNOWN_STATUS;

  constructor(deps: RemoteStatusDeps) {
    this.deps = deps;
  }

  get status(): FollowerStatus {
    return this.shown;
  }

  /** Takes what the follower reported. */
  take(status: FollowerStatus): void {
    this.shown = status;
    this.isPoked = false;
    if (this.isCurrent) this.wakeAll();
  }

  remake(): void {
    if (this.shown.tip !== null) this.deps.remake();
  }

  async waitForTip(timeoutMs: number): Promise<void> {
    if (this.shown.tip === null || this.isCurrent || this.isEnded) return;
    if (!this.isPoked) {
      this.isPoked = true;
      this.deps.poke();
    }
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.waiters.delete(done);
        resolve();
      };
      const timer = setTimeout(() => {
        this.isPoked = false;
        done();
      }, timeoutMs);
      this.waiters.add(done);
    });
  }

  /** No one is waited for any more. */
  end(): void {
    this.isEnded = true;
    this.wakeAll();
  }

  private get isCurrent(): boolean {
    const { tip } = this.shown;
    return tip !== null && this.deps.isTip(tip);
  }

  /** Waiters continue without it. */
  wakeAll(): void {
    for (const done of [...this.waiters]) done();
  }
}
