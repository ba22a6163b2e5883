/**
 * Cache of items that a server does not have. Such items are not requested again for a limited time. The number of cached
 * items is limited.
 */

/** Arbitrary. */
const MAX_MISSES = 10_000;

export class MissMemory {
  readonly #keepMs: number;
  readonly #misses = new Map<string, number>();

  constructor(keepMs: number) {
    this.#keepMs = keepMs;
  }

  note(hash: string, nowMs: number): void {
    this.#misses.delete(hash);
    this.#misses.set(hash, nowMs + this.#keepMs);
    for (const [oldest] of this.#misses) {
      if (this.#misses.size <= MAX_MISSES) break;
      this.#misses.delete(oldest);
    }
  }

  has(hash: string, nowMs: number): boolean {
    const untilMs = this.#misses.get(hash);
    if (untilMs === undefined) return false;
    if (untilMs > nowMs) return true;
    this.#misses.delete(hash);
    return false;
  }

  forget(hash: string): void {
    this.#misses.delete(hash);
  }
}
