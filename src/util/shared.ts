/** Shares results that take long to compute and may be requested by many callers at the same time. */

/**
 * Wraps `make` so that it runs only once at a time. Calls that arrive before the result is available, or within `forMs`
 * milliseconds after the start, share the result. A failure is not cached.
 */
export function shared<T>(make: () => Promise<T>, forMs: number): () => Promise<T> {
  let latest: Promise<T> | null = null;
  let isMade = true;
  let sinceMs = 0;
  return () => {
    const nowMs = performance.now();
    if (latest !== null && (!isMade || nowMs - sinceMs < forMs)) return latest;
    sinceMs = nowMs;
    isMade = false;
    const made = make();
    made.then(
      () => (isMade = true),
      () => {
        isMade = true;
        latest = null;
      },
    );
    latest = made;
    return made;
  };
}
