/**
 * Tracks whether a reorg is in progress: from the first disconnected block until the tip is not worse than before and the
 * mempool matches it. The reference blocks all readers during that time (`cs_main`); here others continue, and calls wait
 * for the end (`rpc/call/onChain.ts`, `rpc/call/onWallets.ts`).
 */
export class Reorganisation {
  private running: { readonly done: Promise<void>; readonly end: () => void } | null = null;
  private whole = true;
  private begun = 0;

  /** Resolves at the end of the current reorg; null if none is in progress. */
  get over(): Promise<void> | null {
    return this.running?.done ?? null;
  }

  /** Whether tip and mempool match: false during a reorg, and after one that failed. */
  get isWhole(): boolean {
    return this.whole;
  }

  /** Number of reorgs started. Data read while it stays the same and `isWhole` is true is consistent. */
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

  /** Tip and mempool match again. */
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
