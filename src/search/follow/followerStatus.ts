/** Status of following the claim index, as reported to other threads. */
import type { IndexPlace } from './indexSteps.js';

export interface FollowerStatus extends IndexPlace {
  /** Reason why following has stopped, until the next attempt; null without a failure. */
  readonly failure: string | null;
  /**
   * Whether a retry cannot help: a block or row is unreadable, or the writing thread has ended. The index is then out of
   * date.
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
