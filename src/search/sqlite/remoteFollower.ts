/**
 * Represents the search index follower of another thread (`followerThread.ts`). Holds the last status that the follower
 * sent, and connects to a new thread after the previous one has ended.
 */
import type { SearchFollower } from '../follow/follower.js';
import type { FollowerStatus } from '../follow/followerStatus.js';
import { FollowerLine, type FollowerLineOptions } from '../follow/followerLine.js';
import type { FollowerCommand } from '../follow/followerMessages.js';
import type { FollowedInThread } from './searchWorkers.js';
import { RemoteStatus } from '../follow/remoteStatus.js';

/** Members of the follower that other modules use, in whatever thread the follower runs. */
export type ClaimFollower = Pick<
  SearchFollower,
  'status' | 'poke' | 'pokeSoon' | 'pokeIfIdle' | 'remake' | 'scrub' | 'isAtTip' | 'waitForTip' | 'close'
>;

export class RemoteFollower implements ClaimFollower, FollowedInThread {
  private readonly options: FollowerLineOptions;
  /** Connection to the follower thread; null if no thread is running. */
  private line: FollowerLine | null = null;
  private readonly remote: RemoteStatus;
  private readonly onStatus: (status: FollowerStatus) => void;
  private isClosing = false;

  /** Creates the object. `onStatus` is called with each status that the follower sends. */
  constructor(options: FollowerLineOptions, onStatus: (status: FollowerStatus) => void = () => {}) {
    this.options = options;
    this.onStatus = onStatus;
    const { chain, index } = options;
    this.remote = new RemoteStatus({
      isTip: ({ height, hash }) => height >= index.height && chain.hashAt(height) === hash,
      poke: () => this.tell('pokeIfIdle'),
      remake: () => this.tell('remake'),
    });
  }

  get status(): FollowerStatus {
    return this.remote.status;
  }

  connect(): FollowerLine {
    this.line?.cut();
    const line = new FollowerLine(this.options, (status) => {
      if (this.line === line) this.show(status);
    });
    this.line = line;
    if (this.isClosing) line.cut();
    else if (this.status.failure !== null) this.poke();
    return line;
  }

  /** Called when the thread has ended. The state of the index is unknown until a new thread has checked it. */
  lost(why: string): void {
    this.line?.cut();
    this.line = null;
    this.show({ ...this.status, building: null, failure: why, isStuck: true });
    this.remote.wakeAll();
  }

  poke(): void {
    this.tell('poke');
  }

  pokeSoon(): void {
    // Before the claim index has reached the tip, the search index is not updated, so no notification is sent.
    if (this.options.index.isSynced) this.tell('pokeSoon');
  }

  /** See `SearchFollower.pokeIfIdle`. */
  pokeIfIdle(): void {
    this.tell('pokeIfIdle');
  }

  remake(): void {
    this.remote.remake();
  }

  async scrub(): Promise<void> {
    if (this.status.tip !== null) this.tell('scrub');
  }

  get isAtTip(): boolean {
    return this.line !== null && this.remote.isAtTip;
  }

  /** See `SearchFollower.waitForTip`. */
  async waitForTip(timeoutMs: number): Promise<void> {
    if (this.line !== null) await this.remote.waitForTip(timeoutMs);
  }

  /** Stops following after the step that is running. */
  async close(): Promise<void> {
    this.isClosing = true;
    this.remote.end();
    await this.line?.close();
  }

  private show(status: FollowerStatus): void {
    this.remote.take(status);
    this.onStatus(status);
  }

  private tell(command: FollowerCommand): void {
    this.line?.tell(command);
  }
}
