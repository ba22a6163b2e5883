/** A proxy between a client and a hub that can change lines of the hub, as a lying hub would. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

interface Message {
  id?: number;
  method?: string;
  params?: unknown[];
  result?: unknown;
}

export class HubProxy {
  /** Returns another answer to a method, or the same object to change nothing. */
  change: (method: string, result: unknown) => unknown = (_method, result) => result;
  private readonly tcpServer: Server;
  private readonly sockets = new Set<Socket>();

  private constructor(hubPort: number) {
    this.tcpServer = createServer((client) => this.serve(client, connect(hubPort, '127.0.0.1')));
  }

  static async start(hubPort: number): Promise<HubProxy> {
    const proxy = new HubProxy(hubPort);
    await new Promise<void>((resolve) => proxy.tcpServer.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get server(): { host: string; port: number } {
    return { host: '127.0.0.1', port: (this.tcpServer.address() as AddressInfo).port };
  }

  get connections(): number {
    return this.sockets.size / 2;
  }

  private serve(client: Socket, hub: Socket): void {
    const methods = new Map<number, string>();
    for (const [from, to] of [
      [client, hub],
      [hub, client],
    ] as const) {
      this.sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
      let rest = '';
      from.on('data', (chunk: Buffer) => {
        const lines = (rest + chunk.toString()).split('\n');
        rest = lines.pop()!;
        for (const line of lines) to.write(`${this.line(JSON.parse(line) as Message, line, methods)}\n`);
      });
    }
  }

  private line(message: Message, line: string, methods: Map<number, string>): string {
    const { id, method } = message;
    if (id === undefined) return line;
    if (method !== undefined) {
      methods.set(id, method);
      return line;
    }
    const result = this.change(methods.get(id)!, message.result);
    return result === message.result ? line : JSON.stringify({ ...message, result });
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.tcpServer.close(resolve));
  }
}
