/** TCP server that limits the number of all connections, and of connections per address. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { EnvironmentError, systemErrorCode } from '../../util/text/environmentError.js';

export interface ConnectionLimits {
  readonly total: number;
  readonly perAddress: number;
}

export interface TcpServerOptions {
  /** Returns the limits for connections. Called at each new connection. */
  readonly limits: () => ConnectionLimits;
  /** Handles a connection, which is closed when the promise settles. */
  readonly serve: (connection: Served) => Promise<void>;
  /** Called with the errors that `serve` throws. */
  readonly onFailure: (error: unknown) => void;
}

/** A connection that the server has accepted. */
export interface Served {
  readonly socket: Socket;
  /** Address and port of the peer, as `address:port`. */
  readonly peer: string;
  /** Aborted when this side or the peer closes the connection. */
  readonly closed: AbortSignal;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use, possibly by another daemon. Stop that daemon, or choose another port',
  EACCES: 'the system does not allow it. Choose a port above 1023',
  EADDRNOTAVAIL: 'this machine does not have this address. Choose another one',
  ENOTFOUND: 'this machine does not have this address. Choose another one',
};

/** Converts an IPv4-mapped address to plain IPv4, for sockets that listen for both versions. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=[0-9.]+$)/, '');

export class TcpServer {
  readonly #options: TcpServerOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #byAddress = new Map<string, number>();
  readonly #running = new Set<Promise<void>>();
  /** Number of connections refused because of the limits. */
  refused = 0;

  constructor(options: TcpServerOptions) {
    this.#options = options;
    this.#server = createServer({ noDelay: true }, (socket) => this.#take(socket));
  }

  get connectionCount(): number {
    return this.#sockets.size;
  }

  /**
   * Starts to listen. Resolves to the port; port 0 selects any free port. Rejects with `EnvironmentError`, whose message
   * contains `what` (the name of the server) and `settings` (the settings for its port and address).
   */
  async listen(
    port: number,
    host: string,
    { what, settings }: { readonly what: string; readonly settings: string },
  ): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) => {
        const reason = REASONS[error.code ?? ''] ?? systemErrorCode(error) ?? error.message;
        reject(
          new EnvironmentError(`The ${what} cannot listen at TCP ${host}:${port}: ${reason} (${settings}).`),
        );
      });
      this.#server.listen(port, host, resolve);
    });
    this.#server.removeAllListeners('error');
    // An error of the listening socket, for example a lack of file descriptors, refuses a connection but does not stop the
    // server.
    this.#server.on('error', () => undefined);
    return (this.#server.address() as AddressInfo).port;
  }

  #take(socket: Socket): void {
    socket.on('error', () => undefined);
    const address = plainAddress(socket.remoteAddress ?? '');
    const fromThere = this.#byAddress.get(address) ?? 0;
    const { total, perAddress } = this.#options.limits();
    if (this.#sockets.size >= total || fromThere >= perAddress) {
      this.refused++;
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    this.#byAddress.set(address, fromThere + 1);
    const closed = new AbortController();
    socket.once('close', () => {
      this.#sockets.delete(socket);
      const left = this.#byAddress.get(address)! - 1;
      if (left === 0) this.#byAddress.delete(address);
      else this.#byAddress.set(address, left);
      closed.abort();
    });
    const peer = `${address}:${socket.remotePort ?? 0}`;
    const running = this.#options
      .serve({ socket, peer, closed: closed.signal })
      .catch((error: unknown) => this.#options.onFailure(error))
      .finally(() => {
        socket.destroy();
        this.#running.delete(running);
      });
    this.#running.add(running);
  }

  /** Closes the port and all connections. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    await Promise.all(this.#running);
  }
}

/** Sends bytes. Resolves to true when the system accepted them, or to false when the connection is closed. */
export function writeBytes(socket: Socket, bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    if (socket.destroyed || !socket.writable) {
      resolve(false);
      return;
    }
    socket.write(bytes, (error) => resolve(!error));
  });
}

/** Reader for a connection. A read returns null after the peer has closed the connection. */
export class SocketReader {
  readonly #socket: Socket;
  #chunks: Buffer[] = [];
  #isEnded = false;
  #wake: (() => void) | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes) => {
      this.#chunks.push(bytes as Buffer);
      socket.pause();
      this.#wake?.();
    });
    const end = (): void => {
      this.#isEnded = true;
      this.#wake?.();
    };
    socket.on('end', end);
    socket.on('close', end);
  }

  async next(): Promise<Buffer | null> {
    for (;;) {
      const bytes = this.#chunks.shift();
      if (bytes) return bytes;
      if (this.#isEnded) return null;
      this.#socket.resume();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }

  /** Returns unused bytes to the reader. The next read returns them again. */
  unread(bytes: Buffer): void {
    if (bytes.length > 0) this.#chunks.unshift(bytes);
  }
}
