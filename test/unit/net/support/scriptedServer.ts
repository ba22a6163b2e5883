/** A TCP server on the loopback interface that a test controls. It records the received bytes. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** One connection, read piece by piece. */
export class ScriptedPeer {
  readonly socket: Socket;
  private readonly isClosed: Promise<void>;
  private received = Buffer.alloc(0);
  private wake: () => void = () => undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.received = Buffer.concat([this.received, chunk]);
      this.wake();
    });
    socket.on('error', () => undefined);
    this.isClosed = new Promise((resolve) => socket.on('close', () => resolve()));
    void this.isClosed.then(() => this.wake());
  }

  /** The next `count` bytes; fewer when the other side ends. */
  async read(count: number): Promise<Buffer> {
    while (this.received.length < count && !this.socket.destroyed && !this.socket.readableEnded) {
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
    const got = this.received.subarray(0, count);
    this.received = this.received.subarray(count);
    return got;
  }

  /** The next line without its end. */
  async readLine(): Promise<string> {
    let line = '';
    for (;;) {
      const byte = await this.read(1);
      if (byte.length === 0 || byte[0] === 0x0a) return line.replace(/\r$/, '');
      line += byte.toString('latin1');
    }
  }

  write(data: string | Buffer | readonly number[]): void {
    this.socket.write(typeof data === 'string' ? data : Buffer.from(data));
  }

  /** Resolves once the connection is over. */
  closed(): Promise<void> {
    return this.isClosed;
  }
}

export class ScriptedServer {
  readonly port: number;
  private readonly server: Server;
  private readonly sockets: Set<Socket>;
  private readonly scripts: Promise<void>[];

  private constructor(server: Server, sockets: Set<Socket>, scripts: Promise<void>[]) {
    this.server = server;
    this.sockets = sockets;
    this.scripts = scripts;
    this.port = (server.address() as AddressInfo).port;
  }

  /** Runs `script` for each connection; `failures` is notified of what it throws. */
  static start(
    script: (peer: ScriptedPeer, index: number) => Promise<void> | void,
    failures: unknown[] = [],
  ): Promise<ScriptedServer> {
    const sockets = new Set<Socket>();
    const scripts: Promise<void>[] = [];
    const server = createServer((socket) => {
      sockets.add(socket);
      const run = async (index: number): Promise<void> => script(new ScriptedPeer(socket), index);
      scripts.push(run(scripts.length).catch((error: unknown) => void failures.push(error)));
    });
    return new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve(new ScriptedServer(server, sockets, scripts)));
    });
  }

  /** Ends all connections. Resolves when every script has ended. */
  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
    await Promise.all(this.scripts);
  }
}
