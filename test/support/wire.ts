/** A TCP proxy that can close connections or stop forwarding. */
import { connect, createServer, type Server, type Socket } from 'node:net';

export class Wire {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  isSilent = false;

  constructor(host: string, port: number) {
    this.server = createServer((near) => {
      const far = connect(port, host);
      for (const [from, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.sockets.add(from);
        from.on('data', (chunk) => this.isSilent || other.write(chunk));
        from.on('error', () => undefined);
        from.on('close', () => other.destroy());
      }
    });
  }

  /** Listens on the loopback interface. Resolves to the port. */
  async open(port = 0): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(port, '127.0.0.1', resolve));
    return (this.server.address() as { port: number }).port;
  }

  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
    await closed;
  }
}
