/**
 * All clients of the hub: the listening socket, which is closed while there are too many clients, the timeout of silent
 * clients, and limits on the total memory. Also stores which clients are subscribed to which script.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { yieldIfDue } from '../../scheduler/yield.js';
import type { ClientServices } from '../link/clientServices.js';
import type { HubCounters } from '../link/hubCounters.js';
import { badRequest } from '../protocol/hubError.js';
import { HubStartError } from '../thread/hubStartError.js';
import { LineSocket } from './lineSocket.js';
import type { HubMethod } from '../methods/method.js';
import { Session, type SessionDeps } from './session.js';
import type { ClientQueue } from '../../scheduler/clientQueue.js';

/** Maximum length of a client's line in bytes. The largest transaction that nodes relay has 800,000 hex digits. */
const MAX_LINE_BYTES = 4 << 20;
/** Source: `max_send_delay`. */
const STALL_MS = 60_000;
/**
 * Maximum number of unread bytes of all clients together. Above it the client with the most unread bytes is disconnected.
 * Arbitrary: bounds the memory.
 */
const MAX_UNREAD_BYTES = 64 << 20;
/** Number of unread bytes of each client that do not count towards the maximum. */
const FREE_UNREAD_BYTES = 1 << 16;
/**
 * Maximum number of subscriptions of all clients together. Each uses about 400 bytes. Above it the client with the most
 * subscriptions is disconnected.
 */
const MAX_SUBSCRIPTIONS = 1_000_000;
/**
 * Share of `maxSessions`. After the limit was reached, the hub listens again when at most this share is in use. Source:
 * `_manage_servers`.
 */
const REOPEN_SHARE = 0.95;
/** Milliseconds until the next attempt to listen, if another program uses the port. Source: `_start_external_servers`. */
const RETRY_MS = 3000;
/** Maximum number of milliseconds for which sending notifications blocks the event loop. */
const SLICE_MS = 4;
/** Number of checks for silent clients within one timeout. Source: `_clear_stale_sessions`. */
const LOOKS_PER_TIMEOUT = 10;

export interface SessionsOptions {
  readonly host: string;
  readonly port: number;
  readonly maxSessions: number;
  readonly timeoutMs: number;
  readonly maxLineBytes?: number;
  readonly stallMs?: number;
  readonly maxSubscriptions?: number;
}

export interface SessionsDeps {
  readonly hub: ClientServices;
  readonly turns: ClientQueue;
  /** Counters that other threads can read. */
  readonly counters: HubCounters;
  readonly method: (name: string) => HubMethod | undefined;
  readonly log: (level: 'info' | 'warn' | 'debug', text: string) => void;
  readonly failed: SessionDeps['failed'];
  readonly answered: SessionDeps['answered'];
  readonly notified: SessionDeps['notified'];
  /** Called with true when clients can connect, and with false when they cannot connect any more. */
  readonly availability: (isAvailable: boolean) => void;
}

export class Sessions {
  private readonly options: SessionsOptions;
  private readonly deps: SessionsDeps;
  private readonly sessionDeps: SessionDeps;
  private readonly sessions = new Set<Session>();
  /** Subscribed clients by script. A single client is stored without a set, to save memory. */
  private readonly byScript = new Map<string, Session | Set<Session>>();
  private readonly unread = new Map<Session, number>();
  private unreadBytes = 0;
  private subscriptions = 0;
  private server: Server | null = null;
  private port: number;
  private nextNumber = 0;
  private isClosed = false;
  private isOpening = false;
  private staleTimer: NodeJS.Timeout | null = null;
  private retryTimer: NodeJS.Timeout | null = null;

  constructor(options: SessionsOptions, deps: SessionsDeps) {
    this.options = options;
    this.deps = deps;
    this.port = options.port;
    this.sessionDeps = {
      turns: deps.turns,
      hub: deps.hub,
      method: deps.method,
      subscribed: (session, key) => this.addSubscription(session, key),
      unsubscribed: (session, key) => this.dropSubscription(session, key),
      closed: (session) => this.remove(session),
      received: (session) => this.countUnread(session),
      failed: deps.failed,
      answered: deps.answered,
      notified: deps.notified,
    };
  }

  /** Updates the counters of unsent bytes, and of running and waiting requests. */
  measure(): void {
    let stalled = 0;
    let unsentBytes = 0;
    for (const { socket } of this.sessions) {
      if (socket.isStalled) stalled++;
      unsentBytes += socket.unsentBytes;
    }
    const { counters, turns } = this.deps;
    counters.set('stalled', stalled);
    counters.set('unsentBytes', unsentBytes);
    counters.set('running', turns.workingCount);
    counters.set('waiting', turns.waitingCount);
  }

  private noteListening(server: Server | null): void {
    this.server = server;
    this.deps.counters.set('isListening', server === null ? 0 : 1);
    this.deps.availability(server !== null);
  }

  private noteSubscriptions(change: 1 | -1): void {
    this.subscriptions += change;
    this.deps.counters.set('subscriptions', this.subscriptions);
  }

  /** Starts to listen for clients. Rejects with `HubStartError`. */
  async open(): Promise<void> {
    try {
      await this.listen();
    } catch (error) {
      const { host, port } = this.options;
      throw new HubStartError(
        `The hub cannot listen at ${host} port ${port}: ${(error as Error).message}. Choose another port with -hubport=<port>, or another address with -hubbind=<addr>.`,
      );
    }
    const everyMs = this.options.timeoutMs / LOOKS_PER_TIMEOUT;
    this.staleTimer = setInterval(() => this.endSilent(), everyMs).unref();
  }

  private listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      const server = createServer({ noDelay: true }, (socket) => this.accept(socket));
      server.once('error', reject);
      server.listen({ host: this.options.host, port: this.port }, () => {
        server.off('error', reject);
        server.on('error', (error) =>
          this.deps.log('warn', `The hub's listening socket failed: ${error.message}`),
        );
        const address = server.address();
        // For port 0 (in tests) the system chooses a port, which is used again when the port is opened later.
        if (typeof address === 'object' && address !== null) this.port = address.port;
        this.deps.counters.set('port', this.port);
        this.noteListening(server);
        resolve();
      });
    });
  }

  private accept(socket: Socket): void {
    if (this.isClosed) {
      socket.destroy();
      return;
    }
    const { maxLineBytes = MAX_LINE_BYTES, stallMs = STALL_MS, maxSessions } = this.options;
    const line = new LineSocket(socket, { maxLineBytes, stallMs });
    line.onTooLong = () =>
      this.deps.log('debug', `client ${line.address} sent a line that exceeds the size limit`);
    this.sessions.add(new Session(this.nextNumber++, line, this.sessionDeps));
    this.deps.counters.set('sessions', this.sessions.size);
    if (this.sessions.size < maxSessions || this.server === null) return;
    this.deps.log(
      'info',
      `The hub has ${maxSessions} clients, the maximum. It accepts no more clients until some disconnect`,
    );
    this.server.close();
    this.noteListening(null);
  }

  private remove(session: Session): void {
    this.sessions.delete(session);
    this.deps.counters.set('sessions', this.sessions.size);
    this.deps.hub.node.leave(session);
    this.noteUnread(session, 0);
    this.reopen();
  }

  /** Starts to listen again if few enough clients are connected. */
  private reopen(): void {
    const { maxSessions } = this.options;
    if (this.isClosed || this.isOpening || this.server !== null || this.staleTimer === null) return;
    if (this.sessions.size > Math.floor(maxSessions * REOPEN_SHARE) && this.sessions.size > 0) return;
    this.isOpening = true;
    this.listen()
      .then(() => {
        this.deps.log('info', 'The hub accepts clients again');
        if (this.isClosed) this.server?.close();
      })
      .catch((error: unknown) => {
        this.deps.log('warn', `The hub cannot reopen its port: ${(error as Error).message}`);
        this.retryTimer = setTimeout(() => this.reopen(), RETRY_MS).unref();
      })
      .finally(() => (this.isOpening = false));
  }

  private endSilent(): void {
    const before = performance.now() - this.options.timeoutMs;
    for (const { socket } of this.sessions) if (socket.lastReceivedMs < before) socket.end();
  }

  private countUnread(session: Session): void {
    this.noteUnread(session, Math.max(0, session.socket.heldBytes - FREE_UNREAD_BYTES));
    if (this.unreadBytes <= MAX_UNREAD_BYTES) return;
    let worst = session;
    for (const [other, bytes] of this.unread) if (bytes > (this.unread.get(worst) ?? 0)) worst = other;
    this.deps.log('debug', `client ${worst.socket.address} is disconnected: too much data is queued for it`);
    this.noteUnread(worst, 0);
    worst.socket.destroy();
  }

  private noteUnread(session: Session, bytes: number): void {
    this.unreadBytes += bytes - (this.unread.get(session) ?? 0);
    if (bytes === 0) this.unread.delete(session);
    else this.unread.set(session, bytes);
  }

  private addSubscription(session: Session, key: string): void {
    const { maxSubscriptions = MAX_SUBSCRIPTIONS } = this.options;
    if (this.subscriptions >= maxSubscriptions) this.cutLargest();
    if (session.socket.isGone) throw badRequest('too many subscriptions');
    this.noteSubscriptions(1);
    const known = this.byScript.get(key);
    if (known === undefined) {
      this.byScript.set(key, session);
      this.deps.hub.node.wish(key, true);
    } else if (known instanceof Set) known.add(session);
    else this.byScript.set(key, new Set([known, session]));
  }

  /** Disconnects the client with the most subscriptions. */
  private cutLargest(): void {
    let largest: Session | null = null;
    for (const session of this.sessions) {
      if (session.subscriptions.size > (largest?.subscriptions.size ?? 0)) largest = session;
    }
    if (largest === null) return;
    this.deps.log(
      'info',
      `The hub disconnects a client with ${largest.subscriptions.size} subscriptions, because there are ` +
        'too many subscriptions in total',
    );
    largest.abandon();
  }

  private dropSubscription(session: Session, key: string): void {
    const known = this.byScript.get(key);
    if (known instanceof Set ? !known.delete(session) : known !== session) return;
    this.noteSubscriptions(-1);
    if (known instanceof Set && known.size > 0) return;
    this.byScript.delete(key);
    this.deps.hub.node.wish(key, false);
  }

  /** Marks a script as changed for its subscribers. `tell` sends the notifications later. */
  touch(scriptKey: string): void {
    const known = this.byScript.get(scriptKey);
    if (known === undefined) return;
    if (known instanceof Set) for (const session of known) session.touch(scriptKey);
    else known.touch(scriptKey);
  }

  /** Notifies each client of the tip if the tip has changed, and of changed scripts. */
  async tell(): Promise<void> {
    let since = performance.now();
    for (const session of this.sessions) {
      session.tell();
      since = await yieldIfDue(since, SLICE_MS);
    }
  }

  /** Disconnects all clients and closes the listening socket. */
  async close(): Promise<void> {
    this.isClosed = true;
    if (this.staleTimer !== null) clearInterval(this.staleTimer);
    if (this.retryTimer !== null) clearTimeout(this.retryTimer);
    const { server } = this;
    this.noteListening(null);
    const closed = server && new Promise<void>((resolve) => server.close(() => resolve()));
    for (const session of this.sessions) session.socket.destroy();
    await closed;
  }
}
