/**
 * The HTTP connections that are open: their remote addresses, running calls, and maximum number. If there are too many, the
 * one that was idle for the longest time is closed, first among those without a valid password, so that clients without a
 * password cannot lock out others.
 */
import type { Socket } from 'node:net';
import type { Logger } from '../util/logging.js';

/** State of one connection. */
export class HttpConnection {
  readonly socket: Socket;
  /** Remote address at the start of the connection; empty if it had already ended. */
  readonly address: string;
  /** Whether `-rpcallowip` allows the address. */
  readonly isAllowed: boolean;
  /** Whether a valid password was received, and no wrong one since. */
  isKnown = false;
  /** Number of received passwords that are not checked yet. */
  uncheckedCount = 0;
  /** Number of running calls. */
  busy = 0;
  /** Time of its last use, as the server's request number. */
  lastUse: number;
  /** Pipelined calls that wait for the running one; null without a running call. */
  waiting: (() => void)[] | null = null;
  /**
   * The event loop turn of the last requests, their number, and whether reading is paused because of them
   * (`pipeliningLimit.ts`).
   */
  turn = 0;
  sentInTurn = 0;
  isHeld = false;
  /**
   * Number of requests without a valid password, with older ones weighted less, and the time of that value
   * (`pipeliningLimit.ts`).
   */
  readonly open = { count: 0, atMs: 0 };
  /** Whether it is being closed; there are no more responses. */
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

  /** The connection of a socket; a new one is added. */
  of(socket: Socket): HttpConnection {
    return this.bySocket.get(socket) ?? this.add(socket);
  }

  /** Marks a connection as used now. */
  use(connection: HttpConnection): void {
    connection.lastUse = ++this.uses;
  }

  /** Removes a socket that is not an HTTP connection any more. */
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

  /** The connection that was idle for the longest time; null if all are busy. */
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
