/**
 * A lock with one holder at a time. One task, the owner, gets the lock before all other waiting tasks. The others get it in
 * the order of their requests.
 */
export class PriorityLock {
  private isHeld = false;
  private owner: (() => void) | null = null;
  private readonly others: (() => void)[] = [];

  /**
   * Takes the lock as the owner: after the current holder, before all other waiting tasks. The owner must then call
   * `release`.
   */
  acquire(): Promise<void> {
    if (this.isHeld) return new Promise((resolve) => (this.owner = resolve));
    this.isHeld = true;
    return Promise.resolve();
  }

  /** Passes the lock to the next waiting task. Only the holder may call `release`. */
  release(): void {
    const next = this.owner ?? this.others.shift();
    this.owner = null;
    if (next) next();
    else this.isHeld = false;
  }

  /** Runs a task that holds the lock. Resolves or rejects as the task does. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.isHeld) await new Promise<void>((resolve) => this.others.push(resolve));
    else this.isHeld = true;
    try {
      return await task();
    } finally {
      this.release();
    }
  }
}
