/**
 * TLS and plain HTTP on one port: the first byte of a connection shows which protocol the client uses. Plain HTTP is
 * accepted from this machine only, because a local connection cannot be intercepted. So lbcnode-cli and old scripts still
 * work, although clients of lbcd use TLS by default. Manages the handshakes; the HTTP server manages the connections.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createServer, TLSSocket, type Server as TlsServer } from 'node:tls';
import type { Logger } from '../../util/logging.js';
import type { CertificatePair } from './certificateFiles.js';

/** The first byte of a TLS record that begins a handshake. Source: RFC 8446 section 5.1. */
const HANDSHAKE = 0x16;
/** Maximum milliseconds for a TLS handshake. Source: lbcd rpcserver.go `rpcAuthTimeoutSeconds`. */
const HANDSHAKE_MS = 10_000;
const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;
/** The response to a remote client that uses plain HTTP, the same as that of Go's server. Source: net/http server.go `serve`. */
const PLAIN_REFUSED = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n';

type Serve = (socket: Socket) => void;

export interface TlsPortOptions extends CertificatePair {
  /** Milliseconds without a first byte after which a new connection is closed. */
  readonly idleMs: number;
}

export class TlsPort {
  private readonly options: TlsPortOptions;
  private readonly logger: Logger;
  /**
   * Connections that the HTTP server does not know: new connections whose protocol is not decided, running handshakes, and
   * rejected connections.
   */
  private readonly unserved = new Set<Socket>();

  constructor(options: TlsPortOptions, logger: Logger) {
    this.options = options;
    this.logger = logger;
  }

  /**
   * Intercepts the connections of an HTTP server. Must be called before other listeners are added to the server.
   * `release` is called with each raw connection that a TLS connection replaces.
   */
  attach(server: Server, release: (socket: Socket) => void): void {
    const [serveHttp] = server.listeners('connection') as Serve[];
    if (serveHttp === undefined) throw new Error('the HTTP server has no listener for connections');
    server.removeListener('connection', serveHttp);
    const serve: Serve = (socket) => serveHttp.call(server, socket);
    const tls = this.tlsServer(serve, release);
    server.on('connection', (socket: Socket) => {
      // The connection uses TLS already, because another protocol handler passed it on. So its first byte need not be
      // examined.
      if (socket instanceof TLSSocket) serve(socket);
      else this.decide(socket, serve, tls);
    });
  }

  /** Closes the connections that were not passed to the HTTP server (`unserved`). */
  close(): void {
    for (const socket of this.unserved) socket.destroy();
  }

  private tlsServer(serve: Serve, release: (socket: Socket) => void): TlsServer {
    const { cert, key } = this.options;
    /** The raw connections of running handshakes, by client address. */
    const shaking = new Map<string, Socket>();
    const tls = createServer({
      cert,
      key,
      minVersion: 'TLSv1.2',
      handshakeTimeout: HANDSHAKE_MS,
      ALPNProtocols: ['http/1.1'],
    });
    tls.prependListener('connection', (socket: Socket) => {
      const place = placeOf(socket);
      shaking.set(place, socket);
      socket.once('close', () => shaking.delete(place));
    });
    tls.on('secureConnection', (socket) => {
      const below = shaking.get(placeOf(socket));
      if (below !== undefined) {
        release(below);
        this.unserved.delete(below);
      }
      shaking.delete(placeOf(socket));
      serve(socket);
    });
    tls.on('tlsClientError', (error, socket) => {
      this.logger.debug('http', () => `TLS with ${placeOf(socket)} failed: ${error.message}`);
      socket.destroy();
    });
    return tls;
  }

  /** Waits for the first byte of a connection, and selects the protocol. */
  private decide(socket: Socket, serve: Serve, tls: TlsServer): void {
    const end = (): void => void socket.destroy();
    this.unserved.add(socket);
    socket.once('close', () => this.unserved.delete(socket));
    socket.setTimeout(this.options.idleMs, end);
    socket.on('error', end);
    socket.once('data', (first: Buffer) => {
      socket.pause();
      socket.setTimeout(0);
      socket.off('timeout', end);
      socket.off('error', end);
      socket.unshift(first);
      if (first[0] === HANDSHAKE) tls.emit('connection', socket);
      else if (LOOPBACK.test(socket.remoteAddress ?? '')) {
        this.unserved.delete(socket);
        serve(socket);
        socket.resume();
      } else this.refuse(socket);
    });
  }

  /**
   * Rejects a connection with plain HTTP. Further input is read and discarded: closing with unread input would reset the
   * connection before the client reads the response.
   */
  private refuse(socket: Socket): void {
    this.logger.debug('http', () => `Plain HTTP from ${placeOf(socket)} refused: the port requires TLS`);
    const end = (): void => void socket.destroy();
    socket.on('error', end);
    socket.setTimeout(this.options.idleMs, end);
    socket.resume();
    socket.end(PLAIN_REFUSED);
  }
}

function placeOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? 'unknown'}:${remotePort ?? 0}`;
}
