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

  /** Whether the tip and the mempool match: false during a reorg, and after a failed reorg. */
  get isWhole(): boolean {
    return this.whole;
  }

  /** Number of reorgs started. Data read while it stays the same and `isWhole` is true is consistent. */
  get count(): number {
    return this.begun;
  }

  /** Records the start of a reorg, before a block is disconnected. */
  begin(): void {
    if (this.running !== null) return;
    this.begun++;
    this.whole = false;
    let end = (): void => undefined;
    const done = new Promise<void>((resolve) => (end = resolve));
    this.running = { done, end };
  }

  /** Records the end of a reorg: tip and mempool match again. */
  end(): void {
    if (this.running === null) return;
    this.whole = true;
    this.release();
  }

  /** Ends a reorg that failed. Tip and mempool do not match from then on. */
  fail(): void {
    if (this.running !== null) this.release();
  }

  private release(): void {
    this.running?.end();
    this.running = null;
  }
}
