/**
 * Keeps one hub connected out of several: the first that answers a ping, then the next one where it fails or lies. A hub that
 * lied comes last for a while. Owns no data: what is said is judged elsewhere, by `blame`.
 * Source: lbry-sdk lbry/wallet/network.py `Network`.
 */
import type { HostPort } from '../../../util/network/hostPort.js';
import { joinHostPort } from '../../../util/network/hostPort.js';
import type { Logger } from '../../../util/logging.js';
import { HubGone, HubLie, isHubFault, noHub } from './hubErrors.js';
import { pingHubs, type Pong } from './hubPing.js';
import { HubSession, type HubLimits, type HubParams } from './hubSession.js';
import type { KnownHubs } from './knownHubs.js';

/** Hubs that other hubs announce, beside those of the settings. */
export interface FurtherHubs {
  readonly known: KnownHubs;
  /** Whether they are asked too; what hubs announce of others is kept anyway. */
  readonly areAsked: () => boolean;
}

export interface HubPoolOptions {
  /** Read in each round, so that a changed setting is used. */
  readonly servers: () => readonly HostPort[];
  readonly further: FurtherHubs | null;
  /** Printed id of the chain's first block. */
  readonly genesis: string;
  readonly limits: HubLimits;
  /** How long pings are waited for. */
  readonly pingMs: number;
  /** Waiting between rounds over all servers: doubles from the first to the second. */
  readonly retryMs: readonly [least: number, most: number];
  /** How long a hub that lied is asked only where no other is. */
  readonly distrustMs: number;
  /** Name of the only country whose hubs are taken, as claim metadata has it; null for any. Asked for in each round. */
  readonly country: () => string | null;
}

const RECONNECT_REQUESTED = 'The wallet was asked to reconnect';
/** How hubs announce others, after `server.peers.subscribe`. Source: `subscription_controllers`. */
const PEERS_NOTIFICATION = 'blockchain.peers.subscribe';

/** Ping and distances between tries are lbry-sdk's except for the first, which is short; distrust is arbitrary. */
export const POOL_TIMES = { pingMs: 3_000, retryMs: [1_000, 300_000], distrustMs: 600_000 } as const;

/** Called with each connected hub. */
export interface HubUser {
  /** The hub may be used when it resolves; throws `HubLie` or `HubGone` where it is not fit. */
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
  /** Connected, and not yet found fit. */
  #candidate: HubSession | null = null;
  #isRunning = false;
  /** Whether the servers to ask are to be put in order again. */
  #isAnew = false;
  #loop: Promise<void> = Promise.resolve();
  #wake: (() => void) | null = null;

  constructor(options: HubPoolOptions, user: HubUser, log: Logger) {
    this.#options = options;
    this.#user = user;
    this.#log = log;
  }

  /** The present hub. */
  get session(): HubSession | null {
    return this.#session;
  }

  /** Connected, whether found fit already or still being looked at, as while its headers come. */
  get connection(): HubSession | null {
    return this.#session ?? this.#candidate;
  }

  /** All known servers. */
  get servers(): readonly HostPort[] {
    const named = this.#options.servers();
    return [...named, ...this.#further(named)];
  }

  /** Hubs announced by other hubs and not named by the operator, if such hubs are used. */
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

  /** Leaves the hub of the moment for the first of the servers that is fit. */
  reconnect(): void {
    this.#isAnew = true;
    const reason = new HubGone(RECONNECT_REQUESTED);
    this.#candidate?.end(reason);
    this.#session?.end(reason);
    // The loop lets go of it in a turn of its own.
    this.#session = null;
    this.#wake?.();
  }

  /** The servers may have changed: without a hub they are gone through now, and not after the wait of the round. */
  searchAgain(): void {
    if (this.#session !== null) return;
    this.#isAnew = true;
    this.#wake?.();
  }

  /** Leaves a hub for the next one; the log says what it did. A hub that was left is not logged again. */
  blame(session: HubSession, error: Error): void {
    session.end(error);
  }

  /** A connection beside the one in use, for one question. Throws `HubGone`, `HubLie`. */
  open(server: HostPort): Promise<HubSession> {
    return HubSession.open(server, this.#options.genesis, this.#options.limits);
  }

  /** The hub is asked last for a while. */
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
      this.#log.warn(`${message}. Another hub is asked.`);
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
   * Those that answered a ping first; named ones that did not after them, since a ping may be lost; those that lied last.
   * Where only a country's hubs are wanted none is asked that does not say so.
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

  /** Uses a hub until it is gone; false if it was of no use, or lied. */
  async #use(server: HostPort): Promise<boolean> {
    let session: HubSession;
    try {
      session = await this.open(server);
    } catch (error) {
      this.#report(server, error);
      return false;
    }
    this.#candidate = session;
    // What was told while it was being opened.
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

  /** A hub that knows of no others is none the worse for it. */
  #askForOthers(session: HubSession): void {
    const { further } = this.#options;
    if (further === null) return;
    session.call('server.peers.subscribe', []).then(
      (names) => further.known.add(names),
      () => undefined,
    );
  }

  /** Resolves with a hub that is connected. Throws `TimeoutError` where none comes in the time of a call. */
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

  /** Asks the hub of the moment, and the next one where it fails on the way, but only as often as there are hubs. */
  async call(method: string, params: HubParams): Promise<unknown> {
    return this.ask((session) => session.call(method, params));
  }

  /** The same for more than one question, whose answers `question` judges: it throws `HubLie`. */
  async ask<T>(question: (session: HubSession) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const session = await this.connected();
      try {
        return await question(session);
      } catch (error) {
        if (!isHubFault(error)) throw error;
        this.blame(session, error);
        // The loop lets go of it in a turn of its own.
        if (this.#session === session) this.#session = null;
        if (!this.#isRunning || attempt > this.servers.length) throw error;
      }
    }
  }
}
