/**
 * TLS and plain HTTP on one port: the first byte of a connection says which of the two its client speaks. Plain HTTP is
 * answered to this machine alone, where nobody listens in: lbcnode-cli and old scripts go on working beside clients of lbcd,
 * which speak TLS by default. Owns the handshakes; the connections belong to the HTTP server.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createServer, TLSSocket, type Server as TlsServer } from 'node:tls';
import type { Logger } from '../../util/logging.js';
import type { CertificatePair } from './certificateFiles.js';

/** The first byte of a TLS record that begins a handshake. Source: RFC 8446 section 5.1. */
const HANDSHAKE = 0x16;
/** How long a handshake may take. Source: lbcd rpcserver.go `rpcAuthTimeoutSeconds`. */
const HANDSHAKE_MS = 10_000;
const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;
/** What Go's server tells a client that speaks plain HTTP. Source: net/http server.go `serve`. */
const PLAIN_REFUSED = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n';

type Serve = (socket: Socket) => void;

export interface TlsPortOptions extends CertificatePair {
  /** A client that sends nothing for this long is cut off. */
  readonly idleMs: number;
}

export class TlsPort {
  private readonly options: TlsPortOptions;
  private readonly logger: Logger;
  /** Connections that are no HTTP connections yet, and those that are refused: the HTTP server does not know them. */
  private readonly unserved = new Set<Socket>();

  constructor(options: TlsPortOptions, logger: Logger) {
    this.options = options;
    this.logger = logger;
  }

  /**
   * Puts itself between an HTTP server and its connections; to be called before anything else listens to the server.
   * `release` is told of each connection from which TLS makes another.
   */
  attach(server: Server, release: (socket: Socket) => void): void {
    const [serveHttp] = server.listeners('connection') as Serve[];
    if (serveHttp === undefined) throw new Error('the HTTP server has no listener for connections');
    server.removeListener('connection', serveHttp);
    const serve: Serve = (socket) => serveHttp.call(server, socket);
    const tls = this.tlsServer(serve, release);
    server.on('connection', (socket: Socket) => {
      // What was handed back by another protocol of the server has been decided already.
      if (socket instanceof TLSSocket) serve(socket);
      else this.decide(socket, serve, tls);
    });
  }

  /** Cuts off what the HTTP server does not know of. */
  close(): void {
    for (const socket of this.unserved) socket.destroy();
  }

  private tlsServer(serve: Serve, release: (socket: Socket) => void): TlsServer {
    const { cert, key } = this.options;
    /** The connections below the handshakes, by the client's address. */
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

  /** Waits for the first byte. */
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

  /** What else comes is read and dropped: closing over it would reset the connection before the answer is read. */
  private refuse(socket: Socket): void {
    this.logger.debug('http', () => `Plain HTTP from ${placeOf(socket)} refused: the port speaks TLS`);
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
