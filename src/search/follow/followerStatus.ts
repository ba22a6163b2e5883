/** Status of the search index follower, as reported to other threads. */
import type { IndexPlace } from './indexSteps.js';

export interface FollowerStatus extends IndexPlace {
  /** Reason of the last failure; null if the index is updated. Reset when a later attempt succeeds. */
  readonly failure: string | null;
  /**
   * Whether a retry cannot fix the failure: a block or row is unreadable, or the writer thread has ended. The index then
   * stays out of date.
   */
  readonly isStuck: boolean;
}

/** Status before the follower has read the state of the search index. */
export const UNKNOWN_STATUS: FollowerStatus = {
  tip: null,
  documents: 0,
  building: null,
  failure: null,
  isStuck: false,
};
