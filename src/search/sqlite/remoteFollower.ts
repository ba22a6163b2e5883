/**
 * Handle of the claim index's follower in another thread (`followerThread.ts`). It has the follower's status, and connects a
 * new thread if the former one has ended.
 */
import type { SearchFollower } from '../follow/follower.js';
import type { FollowerStatus } from '../follow/followerStatus.js';
import { FollowerLine, type FollowerLineOptions } from '../follow/followerLine.js';
import type { FollowerDeed } from '../follow/followerMessages.js';
import type { FollowedInThread } from './searchWorkers.js';
import { RemoteStatus } from '../follow/remoteStatus.js';

/** The interface of the follower, in any thread. */
export type ClaimFollower = Pick<
  SearchFollower,
  'status' | 'poke' | 'pokeSoon' | 'pokeIfIdle' | 'remake' | 'scrub' | 'isAtTip' | 'waitForTip' | 'close'
>;

export class RemoteFollower implements ClaimFollower, FollowedInThread {
  private readonly options: FollowerLineOptions;
  /** Null without a thread. */
  private line: FollowerLine | null = null;
  private readonly told: RemoteStatus;
  private readonly onStatus: (status: FollowerStatus) => void;
  private isClosing = false;

  /** `onStatus` is called with each reported status. */
  constructor(options: FollowerLineOptions, onStatus: (status: FollowerStatus) => void = () => {}) {
    this.options = options;
    this.onStatus = onStatus;
    const { chain, index } = options;
    this.told = new RemoteStatus({
      isTip: ({ height, hash }) => height >= index.height && chain.hashAt(height) === hash,
      poke: () => this.tell('pokeIfIdle'),
      remake: () => this.tell('remake'),
    });
  }

  get status(): FollowerStatus {
    return this.told.status;
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

  /** Called when the thread has ended: the state of the index is unknown until a new thread has checked it. */
  lost(why: string): void {
    this.line?.cut();
    this.line = null;
    this.show({ ...this.status, building: null, failure: why, isStuck: true });
    this.told.wakeAll();
  }

  poke(): void {
    this.tell('poke');
  }

  pokeSoon(): void {
    // Before that, blocks arrive fast and none is followed.
    if (this.options.index.isSynced) this.tell('pokeSoon');
  }

  /** See `SearchFollower.pokeIfIdle`. */
  pokeIfIdle(): void {
    this.tell('pokeIfIdle');
  }

  remake(): void {
    this.told.remake();
  }

  async scrub(): Promise<void> {
    if (this.status.tip !== null) this.tell('scrub');
  }

  get isAtTip(): boolean {
    return this.line !== null && this.told.isAtTip;
  }

  /** See `SearchFollower.waitForTip`. */
  async waitForTip(timeoutMs: number): Promise<void> {
    if (this.line !== null) await this.told.waitForTip(timeoutMs);
  }

  /** Stops following after the present step. */
  async close(): Promise<void> {
    this.isClosing = true;
    this.told.end();
    await this.line?.close();
  }

  private show(status: FollowerStatus): void {
    this.told.take(status);
    this.onStatus(status);
  }

  private tell(deed: FollowerDeed): void {
    this.line?.tell(deed);
  }
}
