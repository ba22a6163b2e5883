/**
 * Status of the search index follower in another thread than the follower's, and the callers that wait for the index there.
 */
import { UNKNOWN_STATUS, type FollowerStatus } from './followerStatus.js';
import type { BlockId } from './indexChange.js';

/** Interface of the follower for search code in any thread. */
export interface FollowerView {
  readonly status: FollowerStatus;
  /** Whether the index has reached the tip of the claim index, on the same branch. */
  readonly isAtTip: boolean;
  /** Reports that a reader found the index corrupt, so that it is rebuilt. */
  remake(): void;
  /** Waits until the index has reached the tip of the claim index on the same branch, or for at most `timeoutMs`. */
  waitForTip(timeoutMs: number): Promise<void>;
}

export interface RemoteStatusDeps {
  /** Whether this block is the tip of the claim index. */
  readonly isTip: (block: BlockId) => boolean;
  /** Notifies the follower that a caller waits for the index to reach the tip. */
  readonly poke: () => void;
  readonly remake: () => void;
}

export class RemoteStatus implements FollowerView {
  private readonly deps: RemoteStatusDeps;
  private readonly waiters = new Set<() => void>();
  /** Whether the follower was notified of waiting callers and has not sent a status after that. */
  private isPoked = false;
  private isEnded = false;
  private shown = UNKNOWN_STATUS;

  constructor(deps: RemoteStatusDeps) {
    this.deps = deps;
  }

  get status(): FollowerStatus {
    return this.shown;
  }

  /** Processes a status that the follower sent. */
  take(status: FollowerStatus): void {
    this.shown = status;
    this.isPoked = false;
    if (this.isAtTip) this.wakeAll();
  }

  remake(): void {
    if (this.shown.tip !== null) this.deps.remake();
  }

  async waitForTip(timeoutMs: number): Promise<void> {
    if (this.shown.tip === null || this.isAtTip || this.isEnded) return;
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

  /** Wakes all waiting callers. Later callers do not wait. */
  end(): void {
    this.isEnded = true;
    this.wakeAll();
  }

  get isAtTip(): boolean {
    const { tip } = this.shown;
    return tip !== null && this.deps.isTip(tip);
  }

  /** Wakes all callers that are waiting for the tip. */
  wakeAll(): void {
    for (const done of [...this.waiters]) done();
  }
}
