/**
 * A lock with one holder. One owner comes before all others that wait; these follow in the order of their requests.
 */
export class PriorityLock {
  private isHeld = false;
  private owner: (() => void) | null = null;
  private readonly others: (() => void)[] = [];

  /** Takes the lock as its owner: after the present holder, before all others. The owner releases it by `release`. */
  acquire(): Promise<void> {
    if (this.isHeld) return new Promise((resolve) => (this.owner = resolve));
    this.isHeld = true;
    return Promise.resolve();
  }

  /** Passes the lock on. Only the holder may call it. */
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
