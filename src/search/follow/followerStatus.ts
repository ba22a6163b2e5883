/** How following the claim index stands, as others are notified of it. */
import type { IndexPlace } from './indexSteps.js';

export interface FollowerStatus extends IndexPlace {
  /** What ended following, until the next try; null while all is well. */
  readonly failure: string | null;
  /**
   * Whether that is a block or a row which cannot be read, or the thread has ended that writes: what the index has only grows
   * older.
   */
  readonly isStuck: boolean;
}

/** Status before the first check of the follower. */
export const UNKNOWN_STATUS: FollowerStatus = {
  tip: null,
  documents: 0,
  building: null,
  failure: null,
  isStuck: false,
};
