/**
 * Open HTTP connections: their remote addresses, their running calls, and the limit of their number. If there are too many
 * connections, the connection that was idle for the longest time is closed. Connections without a valid password are closed
 * first, so that they cannot lock out other clients.
 */
import type { Socket } from 'node:net';
import type { Logger } from '../util/logging.js';
import type { VerifiedHead } from './callSource.js';

/** State of one connection. */
export class HttpConnection {
  readonly socket: Socket;
  /** Remote address when the connection was accepted; empty if the connection had already ended. */
  readonly address: string;
  /** Whether `-rpcallowip` allows the address. */
  readonly isAllowed: boolean;
  /** Whether a valid password was received on this connection, and no wrong password after it. */
  isKnown = false;
  /** The last head with correct credentials that `plain/plainConnections.ts` read; null before the first one. */
  verified: VerifiedHead | null = null;
  /** Number of received passwords that are not checked yet. */
  uncheckedCount = 0;
  /** Number of running calls. */
  busy = 0;
  /** Running number of the server's request that last used the connection. */
  lastUse: number;
  /** Further requests on the connection (pipelining) that wait for the running call; null while no call runs. */
  waiting: (() => void)[] | null = null;
  /**
   * `turn`: the event loop turn of the last requests. `sentInTurn`: number of requests in that turn. `isHeld`: whether
   * reading is paused because of too many requests (`pipeliningLimit.ts`).
   */
  turn = 0;
  sentInTurn = 0;
  isHeld = false;
  /**
   * `count`: number of requests without a valid password, where a request counts less the older it is. `atMs`: time at which
   * `count` was computed (`pipeliningLimit.ts`).
   */
  readonly open = { count: 0, atMs: 0 };
  /** Whether the connection is being closed. No more responses are sent. */
  isLeaving = false;

  constructor(socket: Socket, isAllowed: (address: string) => boolean, lastUse: number) {
    this.socket = socket;
    this.address = socket.remoteAddress ?? '';
    this.isAllowed = isAllowed(this.address);
    this.lastUse = lastUse;
  }

  /** `address:port`, for the log. */
  get peer(): string {
    return `${this.socket.remoteAddress ?? 'unknown'}:${this.socket.remotePort ?? 0}`;
  }
}

export interface ConnectionsOptions {
  /** Maximum number of connections; at least one. */
  readonly max: number;
  readonly isAllowed: (address: string) => boolean;
}

export class Connections {
  private readonly options: ConnectionsOptions;
  private readonly logger: Logger;
  private readonly bySocket = new Map<Socket, HttpConnection>();
  private uses = 0;

  constructor(options: ConnectionsOptions, logger: Logger) {
    this.options = options;
    this.logger = logger;
  }

  get count(): number {
    return this.bySocket.size;
  }

  all(): Iterable<HttpConnection> {
    return this.bySocket.values();
  }

  /** Returns the connection of a socket. An unknown socket is added first. */
  of(socket: Socket): HttpConnection {
    return this.bySocket.get(socket) ?? this.add(socket);
  }

  /** Marks a connection as the most recently used one. */
  use(connection: HttpConnection): void {
    connection.lastUse = ++this.uses;
  }

  /** Removes the connection of a socket that does not carry HTTP any more. */
  release(socket: Socket): void {
    this.bySocket.delete(socket);
  }

  private add(socket: Socket): HttpConnection {
    const connection = new HttpConnection(socket, this.options.isAllowed, ++this.uses);
    if (this.bySocket.size >= this.options.max) this.drop(this.idlest() ?? connection);
    this.bySocket.set(socket, connection);
    socket.once('close', () => this.bySocket.delete(socket));
    return connection;
  }

  /** The connection that was idle for the longest time; null if all connections are busy. */
  private idlest(): HttpConnection | null {
    let best: HttpConnection | null = null;
    for (const connection of this.bySocket.values()) {
      if (connection.busy > 0) continue;
      if (best === null || isRatherDropped(connection, best)) best = connection;
    }
    return best;
  }

  private drop(connection: HttpConnection): void {
    this.logger.debug(
      'http',
      () => `More than ${this.options.max} HTTP connections: dropping ${connection.peer}`,
    );
    this.bySocket.delete(connection.socket);
    connection.isLeaving = true;
    connection.socket.destroy();
  }
}

function isRatherDropped(one: HttpConnection, other: HttpConnection): boolean {
  return one.isKnown === other.isKnown ? one.lastUse < other.lastUse : other.isKnown;
}
