/**
 * Connections of the HTTP server that become WebSockets: selects the endpoint by the path, and provides the caller's data to
 * the endpoint. Owns no state.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { refuseUpgrade } from '../util/network/httpUpgrade.js';

const CHALLENGE = 'WWW-Authenticate: Basic realm="jsonrpc"\r\n';

/** The HTTP server's checks and data of a caller. */
export interface CallerGate {
  isStopping(): boolean;
  /** Whether the caller's address and the requested host name are allowed. */
  isAllowed(request: IncomingMessage): boolean;
  /**
   * Checks an `Authorization` header of this caller, now or later over the WebSocket. A rejection is delayed. Must be read before
   * `release`.
   */
  checker(request: IncomingMessage): (authorization: string) => Promise<boolean>;
  /** The caller's address and port, for the log. */
  peer(request: IncomingMessage): string;
  /** Removes a connection from the count of HTTP connections. */
  release(socket: Socket): void;
}

/** An endpoint for WebSocket connections. */
export interface UpgradeEndpoint {
  receive(request: IncomingMessage, socket: Duplex, head: Buffer, gate: CallerGate): Promise<void>;
  /** Closes all connections. Resolves when the last client has disconnected. */
  close(): Promise<void>;
}

/** The endpoints of a server by path. */
export class Upgrades {
  private readonly endpoints: ReadonlyMap<string, UpgradeEndpoint>;

  constructor(endpoints: ReadonlyMap<string, UpgradeEndpoint>) {
    this.endpoints = endpoints;
  }

  /** Handles an upgrade request. */
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

/** Rejects an upgrade request with a status. */
export function refuseCaller(socket: Duplex, status: number): void {
  refuseUpgrade(socket, status, status === 401 ? CHALLENGE : '');
}
