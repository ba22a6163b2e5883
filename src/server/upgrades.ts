/**
 * Connections of the HTTP server that become WebSockets: selects the endpoint by the path, and passes the caller's data and
 * checks to it.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { refuseUpgrade } from '../util/network/httpUpgrade.js';

const CHALLENGE = 'WWW-Authenticate: Basic realm="jsonrpc"\r\n';

/** Checks of the HTTP server for a WebSocket endpoint, and data about the caller. */
export interface CallerGate {
  isStopping(): boolean;
  /** Whether the caller's address and the requested host name are allowed. */
  isAllowed(request: IncomingMessage): boolean;
  /**
   * Returns a function that checks an `Authorization` header of this caller, either that of the request or one sent later
   * over the WebSocket. The result for a wrong password is delayed. `checker` must be called before `release`.
   */
  checker(request: IncomingMessage): (authorization: string) => Promise<boolean>;
  /** The caller's address and port, for the log. */
  peer(request: IncomingMessage): string;
  /** Removes the connection from the count of HTTP connections, because it becomes a WebSocket. */
  release(socket: Socket): void;
}

/** A server endpoint that accepts WebSocket connections. */
export interface UpgradeEndpoint {
  receive(request: IncomingMessage, socket: Duplex, head: Buffer, gate: CallerGate): Promise<void>;
  /** Closes all connections. Resolves when the last connection is closed. */
  close(): Promise<void>;
}

/** WebSocket endpoints of a server, by path. */
export class Upgrades {
  private readonly endpoints: ReadonlyMap<string, UpgradeEndpoint>;

  constructor(endpoints: ReadonlyMap<string, UpgradeEndpoint>) {
    this.endpoints = endpoints;
  }

  /** Passes an upgrade request to the endpoint of its path. */
  receive(request: IncomingMessage, socket: Duplex, head: Buffer, gate: CallerGate): void {
    const endpoint = this.endpoints.get(request.url ?? '');
    if (endpoint !== undefined) {
      void endpoint.receive(request, socket, head, gate);
      return;
    }
    socket.on('error', () => socket.destroy());
    refuseCaller(socket, gate.isAllowed(request) ? 404 : 403);
  }

  async close(): Promise<void> {
    await Promise.all([...new Set(this.endpoints.values())].map((endpoint) => endpoint.close()));
  }
}

/** Rejects an upgrade request with a status code. */
export function refuseCaller(socket: Duplex, status: number): void {
  refuseUpgrade(socket, status, status === 401 ? CHALLENGE : '');
}
