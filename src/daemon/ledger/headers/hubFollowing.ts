/**
 * Syncs the headers with hubs, one step at a time, and tracks whether the hub in use is at the tip of the best chain. While
 * the hub is not at that tip, no histories are fetched. If the wait takes too long and other hubs are available, another hub
 * is used. Before a hub is blamed for invalid data, the stored headers are checked.
 */
import type { Logger } from '../../../util/logging.js';
import { SerialQueue } from '../../../scheduler/serialQueue.js';
import { HubGone, HubLie } from '../hub/hubErrors.js';
import type { HubSession } from '../hub/hubSession.js';
import type { LedgerHeaders } from './ledgerHeaders.js';
import { HeaderSync, type HubStanding, type HubTip } from './headerSync.js';

/**
 * Maximum time in ms for which a hub may stay below the best chain or on another branch while other hubs are available.
 * Arbitrary.
 */
export const PATIENCE_MS = 30_000;

/** Message for the operator: corrupt headers were removed. */
export const corruptionText = (path: string, height: number): string =>
  `The block headers in ${path} are corrupt from height ${height} on. They are downloaded from a hub ` +
  'again; if this happens often, check the disk.';

export interface FollowingPort {
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Default: `PATIENCE_MS`. Tests set other values. */
  readonly patienceMs: number;
  /** Called before the headers above the fork are replaced, so that data about these blocks is removed first. */
  rewind(forkHeight: number): Promise<void>;
  /** Called after the headers above the fork were replaced. */
  rewound(forkHeight: number): void;
  /** Called with the new height after each accepted group of headers. */
  grew(height: number): void;
  hasOtherHubs(): boolean;
  blame(session: HubSession, error: Error): void;
}

export class HubFollowing {
  readonly #chain: LedgerHeaders;
  readonly #port: FollowingPort;
  readonly #sync: HeaderSync;
  readonly #queue = new SerialQueue();
  #standing: HubStanding = 'level';
  /** Tip height claimed by the hub that is being followed; null before any hub sent one. */
  #claimedHeight: number | null = null;
  #patience: NodeJS.Timeout | null = null;
  #rewinds = 0;
  /** Whether all stored headers were checked since the start. Headers that arrive later are checked on arrival. */
  #wasChecked = false;

  constructor(chain: LedgerHeaders, port: FollowingPort) {
    this.#chain = chain;
    this.#port = port;
    this.#sync = new HeaderSync(chain, {
      replace: (forkHeight, accept) => this.#replace(forkHeight, accept),
      grew: (height) => port.grew(height),
    });
  }

  /** Whether the hub in use is at the tip of the best chain. */
  get isLevel(): boolean {
    return this.#standing === 'level';
  }

  /**
   * Target height of the header sync; null before any hub sent one. The claim of a hub counts until the headers reach it or
   * the hub has no further headers.
   */
  get targetHeight(): number | null {
    return this.#claimedHeight === null ? null : Math.max(this.#claimedHeight, this.#chain.height);
  }

  /** Number of starts and ends of reorganisations. It is odd during a reorganisation. */
  get rewinds(): number {
    return this.#rewinds;
  }

  #replace(forkHeight: number, accept: () => void): Promise<void> {
    const given = this.#chain.height - forkHeight;
    this.#port.log.warn(`Reorganisation: ${given} blocks above height ${forkHeight} are replaced`);
    return this.#giveWay(forkHeight, accept);
  }

  async #giveWay(forkHeight: number, accept: () => void): Promise<void> {
    this.#rewinds++;
    try {
      await this.#port.rewind(forkHeight);
      accept();
    } finally {
      this.#rewinds++;
    }
    this.#port.rewound(forkHeight);
  }

  /** Called when a connection to a hub is opened for the first time. */
  joining(): void {
    this.#standing = 'level';
  }

  /**
   * Syncs the headers up to the tip of a hub. `reported` is a tip that the hub reported; without it the tip is requested.
   * Resolves to whether the hub's tip is the tip of the best chain. Throws `HubLie` and `HubGone`.
   */
  follow(session: HubSession, reported?: HubTip): Promise<boolean> {
    return this.#queue.run(async () => {
      try {
        return await this.#follow(session, reported);
      } catch (error) {
        if (!(error instanceof HubLie) || !(await this.#mended())) throw error;
        return this.#follow(session);
      }
    });
  }

  /**
   * Accepts the headers of a hub other than the one in use if its chain is better than the known one. Resolves to whether
   * its chain is better. Throws `HubLie` and `HubGone`.
   */
  leads(session: HubSession): Promise<boolean> {
    return this.#queue.run(async () => {
      const tip = await this.#sync.subscribe(session);
      const before = this.#chain.height;
      if (tip.height <= before) return false;
      await this.#followTo(session, tip);
      return this.#chain.height > before;
    });
  }

  /**
   * Called before a hub is blamed for invalid data. Checks once whether the stored headers are corrupt, and repairs them. Resolves
   * to true if headers were corrupt; the request to the hub must then be repeated.
   */
  mend(session: HubSession): Promise<boolean> {
    return this.#queue.run(async () => {
      if (!(await this.#mended())) return false;
      await this.#follow(session);
      return true;
    });
  }

  async #mended(): Promise<boolean> {
    if (this.#wasChecked) return false;
    const corruptFrom = await this.#chain.firstCorruption();
    this.#wasChecked = true;
    if (corruptFrom === null) return false;
    this.#port.log.warn(corruptionText(this.#chain.path, corruptFrom));
    await this.#giveWay(corruptFrom - 1, () => this.#chain.cutFrom(corruptFrom));
    return true;
  }

  async #follow(session: HubSession, reported?: HubTip): Promise<boolean> {
    let tip = reported ?? (await this.#sync.subscribe(session));
    let standing = await this.#followTo(session, tip);
    if (reported && standing !== 'level') {
      // This step waited for syncs with other hubs, so the tip in `reported` may be outdated. The hub does not report the same
      // tip a second time.
      tip = await this.#sync.subscribe(session);
      standing = await this.#followTo(session, tip);
    }
    this.#stand(session, standing, tip.height);
    return standing === 'level';
  }

  async #followTo(session: HubSession, tip: HubTip): Promise<HubStanding> {
    this.#claimedHeight = tip.height;
    try {
      return await this.#sync.follow(session, tip);
    } finally {
      this.#claimedHeight = 0;
    }
  }

  #stand(session: HubSession, standing: HubStanding, height: number): void {
    if (standing !== this.#standing && standing !== 'level')
      this.#port.log.info(
        `The hub ${session.name} is ${standing === 'behind' ? 'behind' : 'on a branch with less work'}, at height ` +
          `${height}; the best chain known is ${this.#chain.height} blocks high`,
      );
    this.#standing = standing;
    if (standing === 'level' || !this.#port.hasOtherHubs()) {
      this.left();
      return;
    }
    this.#patience ??= setTimeout(() => {
      this.#patience = null;
      this.#port.blame(session, new HubGone(`The hub ${session.name} does not reach the best known chain`));
    }, this.#port.patienceMs).unref();
  }

  /** Must be called when the hub has disconnected or has reached the best chain, so that the wait for it ends. */
  left(): void {
    if (this.#patience) clearTimeout(this.#patience);
    this.#patience = null;
  }

  /** Resolves when no update of the headers is running. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }
}
