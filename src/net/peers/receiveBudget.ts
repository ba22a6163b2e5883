/**
 * What all connections together hold of messages that came and were not handled yet. Beyond the bound each of them may
 * hold one message and no more. The reference bounds each connection by itself, which many together can exceed by far.
 */

/** Arbitrary: what a dozen connections may hold each for itself. */
const LIMIT_BYTES = 64 << 20;

export class ReceiveBudget {
  private readonly limitBytes: number;
  private held = 0;

  constructor(limitBytes = LIMIT_BYTES) {
    this.limitBytes = limitBytes;
  }

  get heldBytes(): number {
    return this.held;
  }

  get isExceeded(): boolean {
    return this.held > this.limitBytes;
  }

  take(bytes: number): void {
    this.held += bytes;
  }

  giveBack(bytes: number): void {
    this.held -= bytes;
  }
}
