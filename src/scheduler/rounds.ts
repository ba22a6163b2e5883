/**
 * Waits for the next round of the event loop. Input that is ready now is handled before. Long work uses `yield.ts` instead,
 * which gives a slice to one work in each round.
 */

/** Runs a task in the next round of the event loop. */
export function inNextRound(task: () => void): void {
  setImmediate(task);
}

/** Resolves in the next round of the event loop. */
export function nextRound(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
