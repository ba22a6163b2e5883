/**
 * Whether blocks are being exchanged for others: from the first that is taken back until the new tip and the mempool belong
 * together again. The reference lets nobody look meanwhile (`cs_main`); here calls run on, and those whose answers join blocks
 * with what is in none wait for the end.
 */
export class Reorganisation {
  private running: { readonly done: Promise<void>; readonly end: () => void } | null = null;

  /** Resolves when the one that is under way is over; null where none is. */
  get over(): Promise<void> | null {
    return this.running?.done ?? null;
  }

  /** A block is about to be taken back. */
  begin(): void {
    if (this.running !== null) return;
    let end = (): void => undefined;
    const done = new Promise<void>((resolve) => (end = resolve));
    this.running = { done, end };
  }

  /** Tip and mempool belong together, or nothing goes on any more. */
  end(): void {
    this.running?.end();
    this.running = null;
  }
}
