/**
 * Counts the bytes of received messages that wait to be handled, for all connections together. Above the limit, each
 * connection may hold only one unhandled message. The reference limits only each single connection, so many connections
 * together can use much more memory.
 */

/** Limit in bytes. Arbitrary: as much as a dozen connections use with default options. */
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
