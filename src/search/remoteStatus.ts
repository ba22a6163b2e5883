/** How the follower of the claim index stands, for a thread in which it does not run but is told of, and what waits for it there. */
import { UNKNOWN_STATUS, type FollowerStatus } from './followerStatus.js';
import type { BlockId } from './indexChange.js';

/** What whoever answers searches asks of the follower, wherever that runs. */
export interface FollowerView {
  readonly status: FollowerStatus;
  /** Somebody who read the index found it damaged. */
  remake(): void;
  /** Waits until the index is at the tip of the claim index, on the same branch, `timeoutMs` at most. */
  waitForTip(timeoutMs: number): Promise<void>;
}

export interface RemoteStatusDeps {
  /** Whether the claim index has nothing beyond this block. */
  readonly isTip: (block: BlockId) => boolean;
  /** Tells the follower that somebody waits for the tip. */
  readonly poke: () => void;
  readonly remake: () => void;
}

export class RemoteStatus implements FollowerView {
  private readonly deps: RemoteStatusDeps;
  private readonly waiters = new Set<() => void>();
  /** Whether the follower was told of those who wait, and has not answered. */
  private isPoked = false;
  private isEnded = false;
  private shown = UNKNOWN_STATUS;

  constructor(deps: RemoteStatusDeps) {
    this.deps = deps;
  }

  get status(): FollowerStatus {
    return this.shown;
  }

  /** Takes what the follower told. */
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

  /** Nobody is waited for any more. */
  end(): void {
    this.isEnded = true;
    this.wakeAll();
  }

  private get isCurrent(): boolean {
    const { tip } = this.shown;
    return tip !== null && this.deps.isTip(tip);
  }

  /** Whoever waits goes on without. */
  wakeAll(): void {
    for (const done of [...this.waiters]) done();
  }
}
