/** Answers that take long to make and that many may ask for at once. */

/**
 * `make` with one run at a time, whose result all calls get that come before it is there, or within `forMs` milliseconds of
 * its start. A failure is not kept beyond its end.
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
