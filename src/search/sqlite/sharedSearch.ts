/**
 * What another thread of the process needs to search the index in its file by itself. Owns the receivers of the follower's
 * status, and the readers that close the file before it is deleted.
 */
import type { FollowerStatus } from '../follow/followerStatus.js';
import type { SlotLoad } from '../../scheduler/fairSlots.js';
import type { SearchersSetup } from './sqliteSearchers.js';

/** The follower, as far as it is asked of outside. */
interface AskedFollower {
  readonly status: FollowerStatus;
  pokeIfIdle(): void;
  remake(): void;
}

export class SharedSearch {
  /** By which the other thread makes its own `SqliteSearchers`. */
  readonly setup: SearchersSetup;
  readonly follower: AskedFollower;
  /** Registers what lets go of the file; answers what ends that. */
  readonly onRelease: (release: () => Promise<void>) => () => void;
  /** Load of the other thread. */
  load: (() => SlotLoad) | null = null;
  private readonly listeners = new Set<(status: FollowerStatus) => void>();

  constructor(setup: SearchersSetup, follower: AskedFollower, onRelease: SharedSearch['onRelease']) {
    this.setup = setup;
    this.follower = follower;
    this.onRelease = onRelease;
  }

  /** Receives how following stands, each time that it is told. Answers what ends that. */
  onStatus(listener: (status: FollowerStatus) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  tell(status: FollowerStatus): void {
    for (const listener of this.listeners) listener(status);
  }
}
