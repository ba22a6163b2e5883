/**
 * The follower of the claim index as the node's thread sees it where following happens on another (`followerThread.ts`): knows
 * how it stands, and what to say to a thread that is started in place of one that ended.
 */
import type { SearchFollower } from '../follow/follower.js';
import type { FollowerStatus } from '../follow/followerStatus.js';
import { FollowerLine, type FollowerLineOptions } from '../follow/followerLine.js';
import type { FollowerDeed } from '../follow/followerMessages.js';
import type { FollowedInThread } from './searchWorkers.js';
import { RemoteStatus } from '../follow/remoteStatus.js';

/** The follower as others see it, wherever it runs. */
export type ClaimFollower = Pick<
  SearchFollower,
  'status' | 'poke' | 'pokeSoon' | 'pokeIfIdle' | 'remake' | 'scrub' | 'waitForTip' | 'close'
>;

export class RemoteFollower implements ClaimFollower, FollowedInThread {
  private readonly options: FollowerLineOptions;
  /** Null while there is no thread. */
  private line: FollowerLine | null = null;
  private readonly told: RemoteStatus;
  private readonly onStatus: (status: FollowerStatus) => void;
  private isClosing = false;

  /** `onStatus` receives how following stands, each time that it is told. */
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

  /** Called when the thread is lost: the state of the index is unknown until the next one has checked. */
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
    // Blocks come fast until then, and none is followed.
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

  /** See `SearchFollower.waitForTip`. */
  async waitForTip(timeoutMs: number): Promise<void> {
    if (this.line !== null) await this.told.waitForTip(timeoutMs);
  }

  /** Ends following after the step that is under way. */
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
