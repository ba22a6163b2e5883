/**
 * Follows hubs to their tips, one step after another, and knows where the hub of the moment stands: with one that is not at
 * the tip of the best chain histories wait; with others at hand not for ever. Before a hub is said to lie it is seen whether
 * the headers here are whole.
 */
import type { Logger } from '../../../util/logging.js';
import { SerialQueue } from '../../../scheduler/serialQueue.js';
import { HubGone, HubLie } from '../hub/hubErrors.js';
import type { HubSession } from '../hub/hubSession.js';
import type { LedgerHeaders } from './ledgerHeaders.js';
import { HeaderSync, type HubStanding, type HubTip } from './headerSync.js';

/** How long a hub may stay below or beside the best chain while there are others. Arbitrary. */
export const PATIENCE_MS = 30_000;

/** Message for the operator about truncated headers. */
export const corruptionText = (path: string, height: number): string =>
  `The block headers in ${path} are damaged from height ${height} on. Those are fetched from a hub again; if it happens ` +
  'often, have the disk checked.';

export interface FollowingPort {
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** `PATIENCE_MS`, except in tests. */
  readonly patienceMs: number;
  /** Called before headers above the fork yield to others, so that nothing that hung on them outlives them. */
  rewind(forkHeight: number): Promise<void>;
  /** Others are in their place. */
  rewound(forkHeight: number): void;
  /** Called after each piece of headers that is taken in. */
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
  /** The claimed height of the tip that a hub reports while it is being followed; null before any hub sent one. */
  #claimedHeight: number | null = null;
  #patience: NodeJS.Timeout | null = null;
  #rewinds = 0;
  /** Whether all headers were gone through: those that came since were checked as they came. */
  #wasChecked = false;

  constructor(chain: LedgerHeaders, port: FollowingPort) {
    this.#chain = chain;
    this.#port = port;
    this.#sync = new HeaderSync(chain, {
      replace: (forkHeight, accept) => this.#replace(forkHeight, accept),
      grew: (height) => port.grew(height),
    });
  }

  /** Whether the hub of the moment is at the tip of the best chain. */
  get isLevel(): boolean {
    return this.#standing === 'level';
  }

  /**
   * Where the headers are on their way to; null before any hub sent one. A hub's word counts until they are there, or it has
   * no more to show for it.
   */
  get targetHeight(): number | null {
    return this.#claimedHeight === null ? null : Math.max(this.#claimedHeight, this.#chain.height);
  }

  /** Counts beginnings and ends of reorganisations: odd while one is under way. */
  get rewinds(): number {
    return this.#rewinds;
  }

  #replace(forkHeight: number, accept: () => void): Promise<void> {
    const given = this.#chain.height - forkHeight;
    this.#port.log.warn(`The chain reorganises: ${given} blocks above height ${forkHeight} give way`);
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

  /** A hub connects for the first time. */
  joining(): void {
    this.#standing = 'level';
  }

  /**
   * Follows a hub to its tip, which it is asked for unless it told it by itself; answers whether that is the tip of the best
   * chain. Throws `HubLie` and `HubGone`.
   */
  follow(session: HubSession, told?: HubTip): Promise<boolean> {
    return this.#queue.run(async () => {
      try {
        return await this.#follow(session, told);
      } catch (error) {
        if (!(error instanceof HubLie) || !(await this.#mended())) throw error;
        return this.#follow(session);
      }
    });
  }

  /**
   * Takes in the headers of a hub other than the one in use if its chain is better than the one known; resolves to whether it
   * is. Throws `HubLie` and `HubGone`.
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
   * Called before a hub is declared a liar: checks once whether the headers here are wrong, and brings those
   * that are in order again. Whether any were, so that the hub is to be asked again.
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
    const damaged = await this.#chain.firstCorruption();
    this.#wasChecked = true;
    if (damaged === null) return false;
    this.#port.log.warn(corruptionText(this.#chain.path, damaged));
    await this.#giveWay(damaged - 1, () => this.#chain.cutFrom(damaged));
    return true;
  }

  async #follow(session: HubSession, told?: HubTip): Promise<boolean> {
    let tip = told ?? (await this.#sync.subscribe(session));
    let standing = await this.#followTo(session, tip);
    if (told && standing !== 'level') {
      // Others were followed while it waited here, and it may be older than they; nothing would be told again.
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
      this.#port.blame(session, new HubGone(`The hub ${session.name} does not reach the best chain`));
    }, this.#port.patienceMs).unref();
  }

  /** The hub is gone, or fit again. */
  left(): void {
    if (this.#patience) clearTimeout(this.#patience);
    this.#patience = null;
  }

  /** Resolves when nothing is under way. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }
}
