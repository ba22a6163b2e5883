/**
 * Gives another thread of the process access to the index file, so that it can search the file itself. Holds the listeners
 * of the follower's status, and the functions that close readers before the file is deleted.
 */
import type { FollowerStatus } from '../follow/followerStatus.js';
import type { SlotLoad } from '../../scheduler/fairSlots.js';
import type { SearchersSetup } from './sqliteSearchers.js';

/** Members of the follower that another thread may use. */
interface AskedFollower {
  readonly status: FollowerStatus;
  pokeIfIdle(): void;
  remake(): void;
}

export class SharedSearch {
  /** Data with which the other thread creates its own `SqliteSearchers`. */
  readonly setup: SearchersSetup;
  readonly follower: AskedFollower;
  /** Registers a function that closes the index file before the file is deleted. Returns a function that unregisters it. */
  readonly onRelease: (release: () => Promise<void>) => () => void;
  /** Returns the number of running and waiting searches of the other thread; null if unknown. */
  load: (() => SlotLoad) | null = null;
  private readonly listeners = new Set<(status: FollowerStatus) => void>();

  constructor(setup: SearchersSetup, follower: AskedFollower, onRelease: SharedSearch['onRelease']) {
    this.setup = setup;
    this.follower = follower;
    this.onRelease = onRelease;
  }

  /** Registers a listener that is called with each status of the follower. Returns a function that unregisters it. */
  onStatus(listener: (status: FollowerStatus) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  tell(status: FollowerStatus): void {
    for (const listener of this.listeners) listener(status);
  }
}
