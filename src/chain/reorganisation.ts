/**
 * Whether blocks are being exchanged for others: from the first that is disconnected until the tip is not worse than before
 * and the mempool belongs to it. The reference lets no one look meanwhile (`cs_main`); here others run on, and calls wait
 * for the end (`rpc/call/onChain.ts`, `rpc/call/onWallets.ts`).
 */
export class Reorganisation {
  private running: { readonly done: Promise<void>; readonly end: () => void } | null = null;
  private whole = true;
  private begun = 0;

  /** Resolves when the one that is under way is over; null if none is. */
  get over(): Promise<void> | null {
    return this.running?.done ?? null;
  }

  /** Whether tip and mempool belong together: not while one is under way, and not after one that failed. */
  get isWhole(): boolean {
    return this.whole;
  }

  /** How many have begun: what was read while it stayed the same, and all was whole, is of no state between. */
  get count(): number {
    return this.begun;
  }

  /** A block is about to be disconnected. */
  begin(): void {
    if (this.running !== null) return;
    this.begun++;
    this.whole = false;
    let end = (): void => undefined;
    const done = new Promise<void>((resolve) => (end = resolve));
    this.running = { done, end };
  }

  /** Tip and mempool belong together. */
  end(): void {
    if (this.running === null) return;
    this.whole = true;
    this.release();
  }

  /** Stops all further work after a failure. */
  fail(): void {
    if (this.running !== null) this.release();
  }

  private release(): void {
    this.running?.end();
    this.running = null;
  }
}
