/**
 * Keeps a connection to one of several hubs. It uses the hub that responds first to a ping, and the next hub if the hub in
 * use fails or lies. A hub that lied is tried last for a while. The pool does not check responses; other modules report hubs
 * with bad responses by `blame`. Source: lbry-sdk lbry/wallet/network.py `Network`.
 */
import type { HostPort } from '../../../util/network/hostPort.js';
import { joinHostPort } from '../../../util/network/hostPort.js';
import type { Logger } from '../../../util/logging.js';
import { HubGone, HubLie, isHubFault, noHub } from './hubErrors.js';
import { pingHubs, type Pong } from './hubPing.js';
import { HubSession, type HubLimits, type HubParams } from './hubSession.js';
import type { KnownHubs } from './knownHubs.js';

/** Hubs that other hubs announced, used in addition to the hubs of the settings. */
export interface FurtherHubs {
  readonly known: KnownHubs;
  /** Whether hubs that other hubs announced are used. The announcements are stored even if this is false. */
  readonly areAsked: () => boolean;
}

export interface HubPoolOptions {
  /** Hubs of the settings. Read in each round, so that a changed setting takes effect. */
  readonly servers: () => readonly HostPort[];
  readonly further: FurtherHubs | null;
  /** Hash of the genesis block in printed form. */
  readonly genesis: string;
  readonly limits: HubLimits;
  /** Time in ms to wait for ping responses. */
  readonly pingMs: number;
  /**
   * Pause between two attempts to connect to all servers, in milliseconds. The pause starts at `least` and doubles after
   * each attempt up to `most`.
   */
  readonly retryMs: readonly [least: number, most: number];
  /** Time in ms for which a hub that lied is used only if no other hub is available. */
  readonly distrustMs: number;
  /** Returns the country of the hubs to use, in the form of claim metadata; null for any country. Called before each round. */
  readonly country: () => string | null;
}

const RECONNECT_REQUESTED = 'The wallet was asked to reconnect';
/**
 * Method of the notification that contains other hubs. Hubs send it after `server.peers.subscribe`. Source:
 * `subscription_controllers`.
 */
const PEERS_NOTIFICATION = 'blockchain.peers.subscribe';

/**
 * Times in milliseconds. The ping time and the longest pause are those of lbry-sdk: its `network_loop` doubles a delay up to 300
 * seconds, but always waits 30 seconds. The first pause and the distrust time are arbitrary.
 */
export const POOL_TIMES = { pingMs: 3_000, retryMs: [1_000, 30_000], distrustMs: 600_000 } as const;

/** Module that uses hubs, for example the ledger. It is notified when a hub is connected. */
export interface HubUser {
  /**
   * Checks a hub that was just connected. The hub may be used when the promise resolves. Throws `HubLie` or `HubGone` if the
   * hub is unsuitable.
   */
  joined(session: HubSession): Promise<void>;
  notified(session: HubSession, method: string, params: readonly unknown[]): void;
  left(session: HubSession): void;
}

export class HubPool {
  readonly #options: HubPoolOptions;
  readonly #user: HubUser;
  readonly #log: Logger;
  readonly #distrusted = new Map<string, number>();
  /** Errors of servers to which no connection could be opened since the last hub was connected, by `host:port`. */
  readonly #unreached = new Map<string, string>();
  readonly #waiting = new Set<() => void>();
  #session: HubSession | null = null;
  /** A connected hub that is still being checked, so it is not used yet. */
  #candidate: HubSession | null = null;
  #isRunning = false;
  /** Whether the order of the servers must be computed again, because the settings have changed. */
  #isOrderStale = false;
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

  /** The connected hub, even if it is still being checked, for example during the header sync. */
  get connection(): HubSession | null {
    return this.#session ?? this.#candidate;
  }

  /** Returns all known servers: those of the settings and those that hubs announced. */
  get servers(): readonly HostPort[] {
    const named = this.#options.servers();
    return [...named, ...this.#further(named)];
  }

  /** Returns the hubs that other hubs announced and that are not in the settings; empty if such hubs are not used. */
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
    this.#isOrderStale = true;
    const reason = new HubGone(RECONNECT_REQUESTED);
    this.#candidate?.end(reason);
    this.#session?.end(reason);
    // The session is cleared here, because the pool's loop clears an ended session only in a later turn of the event loop.
    this.#session = null;
    this.#wake?.();
  }

  /** Call after the list of servers changed. If no hub is connected, the servers are tried immediately. */
  searchAgain(): void {
    if (this.#session !== null) return;
    this.#isOrderStale = true;
    this.#wake?.();
  }

  /** Replaces a hub with the next one and logs the error. A hub that was already replaced is not logged again. */
  blame(session: HubSession, error: Error): void {
    session.end(error);
  }

  /** Opens an additional connection to a server for a single request. Rejects with `HubGone` and `HubLie`. */
  open(server: HostPort): Promise<HubSession> {
    return HubSession.open(server, this.#options.genesis, this.#options.limits);
  }

  /** Moves a hub to the end of the list of servers for a limited time. */
  distrust(server: HostPort): void {
    this.#distrusted.set(joinHostPort(server), performance.now() + this.#options.distrustMs);
  }

  #isDistrusted(server: HostPort): boolean {
    return (this.#distrusted.get(joinHostPort(server)) ?? 0) > performance.now();
  }

  /** Returns the servers that have not lied recently. */
  get trusted(): readonly HostPort[] {
    return this.servers.filter((server) => !this.#isDistrusted(server));
  }

  /** Reports that no connection could be opened. The same error of a server is logged once until a hub is connected. */
  #reportUnreached(server: HostPort, error: unknown): void {
    const name = joinHostPort(server);
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof HubGone && this.#unreached.get(name) === message) return;
    this.#unreached.set(name, message);
    this.#report(server, error);
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
      this.#isOrderStale = false;
      for (const server of await this.#inOrder()) {
        if (!this.#isRunning) return;
        if (this.#isOrderStale) break;
        if (await this.#use(server)) waitMs = least;
      }
      if (!this.#isRunning) return;
      if (this.#isOrderStale) continue;
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
   * Returns the servers in the order in which they are tried: those that responded to a ping, then servers of the settings
   * that did not respond (a ping may be lost), then servers that lied. With a country filter, hubs that do not report that
   * country are omitted.
   */
  async #inOrder(): Promise<HostPort[]> {
    const country = this.#options.country();
    const { servers } = this;
    const pongs = servers.length > 1 || country !== null ? await pingHubs(servers, this.#options.pingMs) : [];
    for (const { server, country: theirs } of pongs) this.#options.further?.known.setCountry(server, theirs);
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
      `No hub in the country ${country} accepts clients, and the setting jurisdiction excludes others: ` +
        `${pongs.length} of ${this.servers.length} answered${said === '' ? '' : ` (${said})`}.`,
    );
  }

  /** Uses a hub until it disconnects. Resolves to false if the hub was unsuitable or lied. */
  async #use(server: HostPort): Promise<boolean> {
    let session: HubSession;
    try {
      session = await this.open(server);
    } catch (error) {
      this.#reportUnreached(server, error);
      return false;
    }
    this.#candidate = session;
    // A stop or a reconnect may have been requested while the connection was being opened.
    if (!this.#isRunning) session.end(new HubGone('The daemon is stopping'));
    else if (this.#isOrderStale) session.end(new HubGone(RECONNECT_REQUESTED));
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
      this.#unreached.clear();
      this.#log.info(`Connected to the hub ${session.name}`);
      this.#askForOthers(session);
      for (const resolve of this.#waiting) resolve();
      await ended;
      this.#session = null;
    }
    this.#user.left(session);
    return !((await ended) instanceof HubLie);
  }

  /**
   * Requests the list of other hubs from a hub. A failure is ignored, because a hub that does not send this list can still
   * be used.
   */
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
   * Sends a request to the hub in use. If the hub fails, the request is sent again to the next hub. The number of
   * repetitions is at most the number of known hubs.
   */
  async call(method: string, params: HubParams): Promise<unknown> {
    return this.ask((session) => session.call(method, params));
  }

  /**
   * Runs a task of one or more requests with the hub in use. If the hub fails, the task is repeated with the next hub.
   * `question` checks the responses and throws `HubLie` if a response is false.
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
