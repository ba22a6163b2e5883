/**
 * Tracks whether a reorg is in progress: from the first disconnected block until the tip is not worse than before and the
 * mempool matches it. The reference blocks all readers during that time (`cs_main`). In this node only RPC calls wait for
 * the end of the reorg (`rpc/call/onChain.ts`, `rpc/call/onWallets.ts`).
 */
export class Reorganisation {
  private running: { readonly done: Promise<void>; readonly end: () => void } | null = null;
  private whole = true;
  private begun = 0;

  /** Resolves at the end of the running reorg; null if none is running. */
  get over(): Promise<void> | null {
    return this.running?.done ?? null;
  }

  /** Whether tip and mempool match. False during a reorg, and after a failed reorg. */
  get isWhole(): boolean {
    return this.whole;
  }

  /** Number of reorgs started so far. Reads are consistent if this number does not change during them and `isWhole` is true. */
  get count(): number {
    return this.begun;
  }

  /** Records the start of a reorg. Must be called before a block is disconnected. */
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

  /** Records that a reorg failed. Tip and mempool do not match any more. */
  fail(): void {
    if (this.running !== null) this.release();
  }

  private release(): void {
    this.running?.end();
    this.running = null;
  }
}
