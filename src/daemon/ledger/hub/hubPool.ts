/**
 * Keeps a connection to one of several hubs. It uses the hub that responds first to a ping, and the next hub if the hub in
 * use fails or lies. A hub that lied is tried last for a while. The pool does not judge data; other modules report bad hubs
 * with `blame`. Source: lbry-sdk lbry/wallet/network.py `Network`.
 */
import type { HostPort } from '../../../util/network/hostPort.js';
import { joinHostPort } from '../../../util/network/hostPort.js';
import type { Logger } from '../../../util/logging.js';
import { HubGone, HubLie, isHubFault, noHub } from './hubErrors.js';
import { pingHubs, type Pong } from './hubPing.js';
import { HubSession, type HubLimits, type HubParams } from './hubSession.js';
import type { KnownHubs } from './knownHubs.js';

/** Hubs announced by other hubs, in addition to those of the settings. */
export interface FurtherHubs {
  readonly known: KnownHubs;
  /** Whether these hubs are used. Announcements are stored in any case. */
  readonly areAsked: () => boolean;
}

export interface HubPoolOptions {
  /** Hubs of the settings. Read in each round, so that a changed setting takes effect. */
  readonly servers: () => readonly HostPort[];
  readonly further: FurtherHubs | null;
  /** Printed hash of the genesis block. */
  readonly genesis: string;
  readonly limits: HubLimits;
  /** Time limit for ping responses. */
  readonly pingMs: number;
  /** Pause between rounds over all servers, in milliseconds. It starts at `least` and doubles after each round up to `most`. */
  readonly retryMs: readonly [least: number, most: number];
  /** Time for which a hub that lied is used only if no other is available. */
  readonly distrustMs: number;
  /** Country filter for hubs, in the form of claim metadata; null for any. Read in each round. */
  readonly country: () => string | null;
}

const RECONNECT_REQUESTED = 'The wallet was asked to reconnect';
/** Notification with other hubs, after `server.peers.subscribe`. Source: `subscription_controllers`. */
const PEERS_NOTIFICATION = 'blockchain.peers.subscribe';

/** The ping time and the pauses are lbry-sdk's, except for the shorter first pause. The distrust time is arbitrary. */
export const POOL_TIMES = { pingMs: 3_000, retryMs: [1_000, 300_000], distrustMs: 600_000 } as const;

/** Module that uses the hubs. It is notified of the connected hub. */
export interface HubUser {
  /** Checks a connected hub. The hub is usable after it resolves. Throws `HubLie` or `HubGone` if the hub is unsuitable. */
  joined(session: HubSession): Promise<void>;
  notified(session: HubSession, method: string, params: readonly unknown[]): void;
  left(session: HubSession): void;
}

export class HubPool {
  readonly #options: HubPoolOptions;
  readonly #user: HubUser;
  readonly #log: Logger;
  readonly #distrusted = new Map<string, number>();
  readonly #waiting = new Set<() => void>();
  #session: HubSession | null = null;
  /** Connected hub that is still being checked. */
  #candidate: HubSession | null = null;
  #isRunning = false;
  /** Whether the order of the servers must be computed again. */
  #isAnew = false;
  #loop: Promise<void> = Promise.resolve();
  #wake: (() => void) | null = null;

  constructor(options: HubPoolOptions, user: HubUser, log: Logger) {
    this.#options = options;
    this.#user = user;
    this.#log = log;
  }

  /** The hub in use; null without a hub. */
  get session(): HubSession | null {
    return this.#session;
  }

  /** The connected hub, including one that is still being checked, for example during its header sync. */
  get connection(): HubSession | null {
    return this.#session ?? this.#candidate;
  }

  /** All known servers. */
  get servers(): readonly HostPort[] {
    const named = this.#options.servers();
    return [...named, ...this.#further(named)];
  }

  /** Hubs announced by other hubs and not in the settings, if such hubs are used. */
  #further(servers: readonly HostPort[]): readonly HostPort[] {
    const { further } = this.#options;
    if (!further?.areAsked()) return [];
    const named = new Set(servers.map(joinHostPort));
    return further.known.servers.filter((server) => !named.has(joinHostPort(server)));
  }

  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    const reason = new HubGone('The daemon is stopping');
    this.#candidate?.end(reason);
    this.#session?.end(reason);
    this.#wake?.();
    for (const resolve of this.#waiting) resolve();
    await this.#loop;
  }

  /** Disconnects from the hub in use and connects to the first suitable server. */
  reconnect(): void {
    this.#isAnew = true;
    const reason = new HubGone(RECONNECT_REQUESTED);
    this.#candidate?.end(reason);
    this.#session?.end(reason);
    // The session is cleared here, because the pool's loop clears an ended session only in a later turn of the event loop.
    this.#session = null;
    this.#wake?.();
  }

  /** The list of servers may have changed. Without a hub, the servers are tried now instead of after the pause of the round. */
  searchAgain(): void {
    if (this.#session !== null) return;
    this.#isAnew = true;
    this.#wake?.();
  }

  /** Replaces a hub with the next one and logs the error. A hub that was already replaced is not logged again. */
  blame(session: HubSession, error: Error): void {
    session.end(error);
  }

  /** Opens a further connection for a single request. Throws `HubGone` and `HubLie`. */
  open(server: HostPort): Promise<HubSession> {
    return HubSession.open(server, this.#options.genesis, this.#options.limits);
  }

  /** Moves a hub to the end of the order for a while. */
  distrust(server: HostPort): void {
    this.#distrusted.set(joinHostPort(server), performance.now() + this.#options.distrustMs);
  }

  #isDistrusted(server: HostPort): boolean {
    return (this.#distrusted.get(joinHostPort(server)) ?? 0) > performance.now();
  }

  /** Servers without a recent lie. */
  get trusted(): readonly HostPort[] {
    return this.servers.filter((server) => !this.#isDistrusted(server));
  }

  #report(server: HostPort, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof HubLie) {
      this.distrust(server);
      this.#log.warn(`${message}. Another hub is tried.`);
    } else if (!isHubFault(error)) this.#log.error(message);
    else if (this.#isRunning) this.#log.info(message);
  }

  async #run(): Promise<void> {
    const [least, most] = this.#options.retryMs;
    let waitMs = least;
    while (this.#isRunning) {
      this.#isAnew = false;
      for (const server of await this.#inOrder()) {
        if (!this.#isRunning) return;
        if (this.#isAnew) break;
        if (await this.#use(server)) waitMs = least;
      }
      if (!this.#isRunning) return;
      if (this.#isAnew) continue;
      await this.#sleep(waitMs);
      waitMs = Math.min(most, waitMs * 2);
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      const wake = (this.#wake = done);
      const forget = (): void => {
        if (this.#wake === wake) this.#wake = null;
      };
      function done(): void {
        clearTimeout(timer);
        forget();
        resolve();
      }
    });
  }

  /**
   * Order of servers: those that responded to a ping, then servers of the settings that did not respond (a ping may be
   * lost), then servers that lied. With a country filter, hubs that do not report that country are omitted.
   */
  async #inOrder(): Promise<HostPort[]> {
    const country = this.#options.country();
    const { servers } = this;
    const pongs = servers.length > 1 || country !== null ? await pingHubs(servers, this.#options.pingMs) : [];
    for (const { server, country: theirs } of pongs) this.#options.further?.known.heard(server, theirs);
    const answered = new Set(pongs.map(({ server }) => server));
    const fit = pongs.filter((pong) => pong.isAvailable && (country === null || pong.country === country));
    const rest = country === null ? this.#options.servers().filter((server) => !answered.has(server)) : [];
    if (fit.length === 0 && country !== null) this.#tellNoneFits(pongs, country);
    const lied = (server: HostPort): number => Number(this.#isDistrusted(server));
    return [...fit.map(({ server }) => server), ...rest].sort((a, b) => lied(a) - lied(b));
  }

  #tellNoneFits(pongs: readonly Pong[], country: string): void {
    const said = pongs.map(({ server, country: theirs }) => `${joinHostPort(server)} ${theirs}`).join(', ');
    this.#log.warn(
      `No hub of the country ${country} takes clients, and the setting jurisdiction allows no other: ` +
        `${pongs.length} of ${this.servers.length} answered${said === '' ? '' : ` (${said})`}.`,
    );
  }

  /** Uses a hub until it disconnects. Resolves to false if the hub was unsuitable or lied. */
  async #use(server: HostPort): Promise<boolean> {
    let session: HubSession;
    try {
      session = await this.open(server);
    } catch (error) {
      this.#report(server, error);
      return false;
    }
    this.#candidate = session;
    // A stop or a reconnect may have been requested while the connection was being opened.
    if (!this.#isRunning) session.end(new HubGone('The daemon is stopping'));
    else if (this.#isAnew) session.end(new HubGone(RECONNECT_REQUESTED));
    const ended = new Promise<Error>((resolve) => {
      session.listen({
        notified: (method, params) => {
          if (method === PEERS_NOTIFICATION) this.#options.further?.known.add(params);
          else this.#user.notified(session, method, params);
        },
        ended: (reason) => {
          this.#report(server, reason);
          resolve(reason);
        },
      });
    });
    try {
      await this.#user.joined(session);
    } catch (error) {
      this.#candidate = null;
      session.end(error as Error);
      this.#user.left(session);
      return false;
    }
    this.#candidate = null;
    if (session.isOpen) {
      this.#session = session;
      this.#log.info(`Connected to the hub ${session.name}`);
      this.#askForOthers(session);
      for (const resolve of this.#waiting) resolve();
      await ended;
      this.#session = null;
    }
    this.#user.left(session);
    return !((await ended) instanceof HubLie);
  }

  /** Requests the list of other hubs. A failure is ignored, because a hub without this list is still usable. */
  #askForOthers(session: HubSession): void {
    const { further } = this.#options;
    if (further === null) return;
    session.call('server.peers.subscribe', []).then(
      (names) => further.known.add(names),
      () => undefined,
    );
  }

  /** Resolves to a connected hub. Throws `TimeoutError` if none connects within the time limit of a call. */
  async connected(): Promise<HubSession> {
    const untilMs = performance.now() + this.#options.limits.callTimeoutMs;
    while (this.#session === null) {
      const leftMs = untilMs - performance.now();
      if (!this.#isRunning || leftMs <= 0) throw noHub();
      this.#wake?.();
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          this.#waiting.delete(done);
          resolve();
        };
        const timer = setTimeout(done, leftMs);
        this.#waiting.add(done);
      });
    }
    return this.#session;
  }

  /**
   * Sends a request to the hub in use, and to the next one if the connection fails. The number of attempts is limited to the
   * number of hubs.
   */
  async call(method: string, params: HubParams): Promise<unknown> {
    return this.ask((session) => session.call(method, params));
  }

  /**
   * Runs a task of one or more requests with the hub in use, and repeats it with the next hub if the hub fails. `question`
   * checks the responses and throws `HubLie` if one is false.
   */
  async ask<T>(question: (session: HubSession) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const session = await this.connected();
      try {
        return await question(session);
      } catch (error) {
        if (!isHubFault(error)) throw error;
        this.blame(session, error);
        // The session is cleared here, because the pool's loop clears an ended session only in a later turn of the event
        // loop.
        if (this.#session === session) this.#session = null;
        if (!this.#isRunning || attempt > this.servers.length) throw error;
      }
    }
  }
}
