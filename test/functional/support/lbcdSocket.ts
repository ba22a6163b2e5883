/** A client of lbcd's WebSocket protocol, for our node and for lbcd. */
import { once } from 'node:events';
import { WebSocket, type ClientOptions } from 'ws';
import { HANG_MS } from './node.js';

export interface LbcdMessage {
  readonly jsonrpc?: string;
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: readonly unknown[];
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string } | null;
}

export class LbcdSocket {
  readonly socket: WebSocket;
  /** Notifications in the order of arrival. */
  readonly notes: LbcdMessage[] = [];
  /** All messages in the order of arrival. */
  readonly received: LbcdMessage[] = [];
  readonly closed: Promise<[number, Buffer]>;
  private readonly waiting = new Set<() => void>();
  private lastId = 0;

  /** `auth` is `user:password`, or null for none. */
  constructor(url: string, auth: string | null, options: ClientOptions = {}) {
    this.socket = new WebSocket(url, { ...(auth === null ? {} : { auth }), ...options } as ClientOptions);
    this.closed = once(this.socket, 'close') as Promise<[number, Buffer]>;
    this.closed.catch(() => undefined);
    this.socket.on('error', () => undefined);
    this.socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as LbcdMessage;
      this.received.push(message);
      if (message.method !== undefined) this.notes.push(message);
      this.wake();
    });
    this.socket.once('close', () => this.wake());
  }

  private wake(): void {
    for (const resolve of [...this.waiting]) resolve();
  }

  async opened(): Promise<this> {
    if (this.socket.readyState !== WebSocket.OPEN) await once(this.socket, 'open');
    return this;
  }

  /** Resolves with the answer to a request. */
  async ask(method: string, ...params: readonly unknown[]): Promise<LbcdMessage> {
    const id = ++this.lastId;
    this.socket.send(JSON.stringify({ jsonrpc: '1.0', id, method, params }));
    return this.until((message) => message.id === id && message.method === undefined);
  }

  async result<T = unknown>(method: string, ...params: readonly unknown[]): Promise<T> {
    const { result, error } = await this.ask(method, ...params);
    if (error) throw new Error(`${method}: ${error.code} ${error.message}`);
    return result as T;
  }

  async until(holds: (message: LbcdMessage) => boolean): Promise<LbcdMessage> {
    let found: LbcdMessage | undefined;
    await this.untilTrue(() => (found = this.received.find(holds)) !== undefined, 'a message');
    return found!;
  }

  /** Resolves when the received messages satisfy a condition. */
  async untilTrue(holds: () => boolean, what: string): Promise<void> {
    const deadline = Date.now() + HANG_MS;
    while (!holds()) {
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error(`closed while waiting for ${what}`);
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`no ${what}; heard ${JSON.stringify(this.received).slice(-2000)}`);
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          this.waiting.delete(done);
          resolve();
        };
        const timer = setTimeout(done, left);
        this.waiting.add(done);
      });
    }
  }

  /** Resolves to the notifications since the last call, when there are this many. */
  async take(count: number): Promise<LbcdMessage[]> {
    await this.untilTrue(
      () => this.notes.length >= count,
      `${count} notifications, ${this.notes.length} are there`,
    );
    return this.notes.splice(0);
  }

  async end(): Promise<void> {
    this.socket.terminate();
    await this.closed.catch(() => undefined);
  }
}
