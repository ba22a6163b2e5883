/**
 * Access for another thread of the process that searches the index file itself. Owns the listeners of the follower's status,
 * and the functions that close readers before the file is deleted.
 */
import type { FollowerStatus } from '../follow/followerStatus.js';
import type { SlotLoad } from '../../scheduler/fairSlots.js';
import type { SearchersSetup } from './sqliteSearchers.js';

/** The part of the follower that is used here. */
interface AskedFollower {
  readonly status: FollowerStatus;
  pokeIfIdle(): void;
  remake(): void;
}

export class SharedSearch {
  /** Data with which the other thread creates its own `SqliteSearchers`. */
  readonly setup: SearchersSetup;
  readonly follower: AskedFollower;
  /** Registers a function that closes the file; returns a function that unregisters it. */
  readonly onRelease: (release: () => Promise<void>) => () => void;
  /** Load of the other thread's searches. */
  load: (() => SlotLoad) | null = null;
  private readonly listeners = new Set<(status: FollowerStatus) => void>();

  constructor(setup: SearchersSetup, follower: AskedFollower, onRelease: SharedSearch['onRelease']) {
    this.setup = setup;
    this.follower = follower;
    this.onRelease = onRelease;
  }

  /** Calls the listener with each reported status. Returns a function that unsubscribes it. */
  onStatus(listener: (status: FollowerStatus) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  tell(status: FollowerStatus): void {
    for (const listener of this.listeners) listener(status);
  }
}
