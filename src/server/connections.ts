/**
 * The HTTP connections that are open: who is at the other end, what is under way, and how many there may be. When there are
 * too many the idlest goes, one that has shown no password first, so that callers without a password cannot lock out callers
 * with one.
 */
import type { Socket } from 'node:net';
import type { Logger } from '../util/logging.js';

/** What is known of one connection. */
export class HttpConnection {
  readonly socket: Socket;
  /** Remote address at the start of the connection; empty if it had already ended. */
  readonly address: string;
  /** Whether `-rpcallowip` lets the address in. */
  readonly isAllowed: boolean;
  /** Whether a right password came over it, and no wrong one since. */
  isKnown = false;
  /** Passwords that came over it and wait to be checked. */
  uncheckedCount = 0;
  /** Calls that are worked on. */
  busy = 0;
  /** When it was last used, in the server's count of requests. */
  lastUse: number;
  /** Calls that came over it while another was worked on; null while none is. */
  waiting: (() => void)[] | null = null;
  /** The turn of the loop in which requests came last, how many, and whether it is not read because of them (`pipeliningLimit.ts`). */
  turn = 0;
  sentInTurn = 0;
  isHeld = false;
  /** Requests that came while it was not known, older ones counting less, and as of when (`pipeliningLimit.ts`). */
  readonly open = { count: 0, atMs: 0 };
  /** Whether it was told to go; nothing more is answered. */
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
  /** Most connections; at least one. */
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

  /** The connection of a socket, which is taken in if it is new. */
  of(socket: Socket): HttpConnection {
    return this.bySocket.get(socket) ?? this.add(socket);
  }

  /** Notes that a connection is used now. */
  use(connection: HttpConnection): void {
    connection.lastUse = ++this.uses;
  }

  /** Counts a socket no longer: it has become something else than an HTTP connection. */
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

  /** Null when all of them are busy. */
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
