/**
 * Connections of the HTTP server that become WebSockets: which endpoint takes one, by its path, and what all endpoints know of a
 * caller. Owns nothing.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { refuseUpgrade } from '../util/httpUpgrade.js';

const CHALLENGE = 'WWW-Authenticate: Basic realm="jsonrpc"\r\n';

/** What the HTTP server says about a caller. */
export interface CallerGate {
  isStopping(): boolean;
  /** Whether its address and the host name it asks for are let in. */
  isAllowed(request: IncomingMessage): boolean;
  /**
   * Checks an `Authorization` header of this caller, now or once the connection is a WebSocket; slow to say no. To be asked for
   * before `release`.
   */
  checker(request: IncomingMessage): (authorization: string) => Promise<boolean>;
  /** The caller's address and port, for the log. */
  peer(request: IncomingMessage): string;
  /** Counts a connection among those of HTTP no longer. */
  release(socket: Socket): void;
}

/** What makes WebSockets of connections. */
export interface UpgradeEndpoint {
  receive(request: IncomingMessage, socket: Duplex, head: Buffer, gate: CallerGate): Promise<void>;
  /** Resolves when the last client has left. */
  close(): Promise<void>;
}

/** The endpoints of a server by path. */
export class Upgrades {
  private readonly endpoints: ReadonlyMap<string, UpgradeEndpoint>;

  constructor(endpoints: ReadonlyMap<string, UpgradeEndpoint>) {
    this.endpoints = endpoints;
  }

  /** Takes a connection that wants to become a WebSocket. */
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

/** Answers a status in place of a WebSocket. */
export function refuseCaller(socket: Duplex, status: number): void {
  refuseUpgrade(socket, status, status === 401 ? CHALLENGE : '');
}
