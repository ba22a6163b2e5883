/**
 * Detects a hub whose chain does not advance any more while that of another hub does. Without a new block header for some
 * minutes, other hubs are asked for their tips. Headers of a better chain are checked and accepted, and the hub in use must
 * reach them. lbry-sdk keeps using such a hub. Compare Bitcoin Core net_processing.cpp `CheckForStaleTipAndEvictPeers`.
 */
import type { HostPort } from '../../../util/network/hostPort.js';
import { joinHostPort } from '../../../util/network/hostPort.js';
import type { Logger } from '../../../util/logging.js';
import { HubGone, HubLie } from './hubErrors.js';
import type { HubSession } from './hubSession.js';

export interface StaleTipTimes {
  /** Milliseconds without a new header after which the tip counts as stale. */
  readonly staleMs: number;
  /** Milliseconds between two rounds of requests to other hubs while the tip is stale. */
  readonly checkMs: number;
}

/**
 * Time limits: a tip is stale after two block intervals of the main chain, and there is one round of checks per minute.
 * Arbitrary.
 */
export const STALE_TIP_TIMES: StaleTipTimes = { staleMs: 300_000, checkMs: 60_000 };

/** Number of hubs that are asked in one round. */
const HUBS_A_ROUND = 3;

export interface StaleTipPort {
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Returns the hub in use; null if no hub is connected. */
  session(): HubSession | null;
  /** Returns the hubs that are not in use and may be asked for their tips. */
  others(): readonly HostPort[];
  /** Connects to a hub. Rejects with `HubGone` or `HubLie`. */
  open(server: HostPort): Promise<HubSession>;
  /** Accepts the headers of a hub if its chain is better than the known one. Resolves to whether it is. */
  leads(session: HubSession): Promise<boolean>;
  /** Compares the tip of the hub in use with the best chain again. */
  follow(session: HubSession): Promise<unknown>;
  /** Moves a hub to the end of the list of servers for a limited time. */
  distrust(server: HostPort): void;
}

export class StaleTipCheck {
  readonly #port: StaleTipPort;
  readonly #times: StaleTipTimes;
  #timer: NodeJS.Timeout | null = null;
  #advancedMs = performance.now();
  #round: Promise<void> | null = null;
  #asked: HubSession | null = null;
  /** Position in the list of hubs at which the next round starts. */
  #next = 0;
  #isStopped = false;

  constructor(port: StaleTipPort, times: StaleTipTimes = STALE_TIP_TIMES) {
    this.#port = port;
    this.#times = times;
  }

  start(): void {
    this.advanced();
    this.#timer = setInterval(() => this.#tick(), this.#times.checkMs).unref();
  }

  /** Restarts the timer. Call after a new header and after a change of the hub. */
  advanced(): void {
    this.#advancedMs = performance.now();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer) clearInterval(this.#timer);
    this.#asked?.end(new HubGone('The daemon is stopping'));
    await this.#round;
  }

  #tick(): void {
    if (this.#round || performance.now() - this.#advancedMs < this.#times.staleMs) return;
    this.#round = this.#ask().finally(() => (this.#round = null));
  }

  async #ask(): Promise<void> {
    const current = this.#port.session();
    if (!current) return;
    const name = current.name;
    const others = this.#port
      .others()
      .filter((server) => joinHostPort(server) !== joinHostPort(current.server));
    const count = Math.min(HUBS_A_ROUND, others.length);
    for (let n = 0; n < count && !this.#isStopped; n++) {
      const server = others[this.#next++ % others.length]!;
      if (!(await this.#leads(server))) continue;
      this.#port.log.info(`The hub ${joinHostPort(server)} has blocks that the hub ${name} did not report`);
      // `follow` replaces the hub in use if it does not reach the better headers in time.
      if (current.isOpen)
        await this.#port.follow(current).catch((error: unknown) => current.end(error as Error));
      return;
    }
  }

  async #leads(server: HostPort): Promise<boolean> {
    try {
      const session = (this.#asked = await this.#port.open(server));
      // Notifications of this hub are ignored, because the connection is used for a single request.
      session.listen({ notified: () => undefined, ended: () => undefined });
      if (this.#isStopped) session.end(new HubGone('The daemon is stopping'));
      try {
        return await this.#port.leads(session);
      } finally {
        session.end(new HubGone('The connection was only used to request the tip'));
      }
    } catch (error) {
      if (error instanceof HubLie) {
        this.#port.distrust(server);
        this.#port.log.warn(error.message);
      }
      return false;
    } finally {
      this.#asked = null;
    }
  }
}
