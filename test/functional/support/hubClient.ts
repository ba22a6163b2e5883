/** A client of the hub: JSON lines over TCP, with answers by id and notifications. */
import { connect, type Socket } from 'node:net';

export class HubAnswerError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** A notification. The members of a batch are separate notifications. */
export interface HubNotification {
  readonly method: string;
  readonly params: readonly unknown[];
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export class HubClient {
  readonly socket: Socket;
  /** Notifications in the order of arrival. */
  readonly notifications: HubNotification[] = [];
  /** Every received line. */
  readonly lines: string[] = [];
  readonly closed: Promise<void>;
  private rest: Buffer[] = [];
  private lastId = 0;
  private readonly waiting = new Map<number, Waiting>();
  private readonly listeners = new Set<() => void>();

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) =>
      socket.once('close', () => {
        for (const { reject } of this.waiting.values()) reject(new Error('the hub closed the connection'));
        this.waiting.clear();
        this.changed();
        resolve();
      }),
    );
  }

  static open(port: number): Promise<HubClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new HubClient(socket));
      });
    });
  }

  private receive(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...this.rest, chunk.subarray(from, at)]).toString();
      this.rest = [];
      from = at + 1;
      this.line(line);
    }
    this.rest.push(chunk.subarray(from));
  }

  private line(line: string): void {
    this.lines.push(line);
    const value = JSON.parse(line) as unknown;
    for (const item of (Array.isArray(value) ? value : [value]) as Record<string, unknown>[]) {
      if (typeof item['method'] === 'string') this.notifications.push(item as never);
      else this.settle(item);
    }
    this.changed();
  }

  private settle({ id, result, error }: Record<string, unknown>): void {
    const waiting = this.waiting.get(id as number);
    this.waiting.delete(id as number);
    const failure = error as { code: number; message: string } | undefined;
    if (failure) waiting?.reject(new HubAnswerError(failure.code, failure.message));
    else waiting?.resolve(result);
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }

  /** Sends a request and waits for the answer. Rejects with `HubAnswerError`. */
  call<T = unknown>(method: string, params: readonly unknown[] | object = []): Promise<T> {
    const id = ++this.lastId;
    this.send({ jsonrpc: '2.0', method, params, id });
    return new Promise<T>((resolve, reject) =>
      this.waiting.set(id, { resolve: resolve as (result: unknown) => void, reject }),
    );
  }

  /** The error in the answer to a call. */
  async refusal(
    method: string,
    params: readonly unknown[] | object = [],
  ): Promise<{ code: number; message: string }> {
    try {
      await this.call(method, params);
    } catch (error) {
      if (error instanceof HubAnswerError) return { code: error.code, message: error.message };
      throw error;
    }
    throw new Error(`${method} was not refused`);
  }

  /** Sends a value as a line. */
  send(value: unknown): void {
    this.socket.write(`${JSON.stringify(value)}\n`);
  }

  /** Resolves when `holds` returns true. It is called after each line and at the end of the connection. */
  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!holds()) return;
        this.listeners.delete(look);
        resolve();
      };
      this.listeners.add(look);
      look();
    });
  }

  /** The next received line. */
  async nextLine(): Promise<unknown> {
    const { length } = this.lines;
    await this.until(() => this.lines.length > length);
    return JSON.parse(this.lines[length]!);
  }

  /** The first notification of a method that satisfies a condition, already received or not. */
  async reported(
    method: string,
    holds: (params: readonly unknown[]) => boolean = () => true,
  ): Promise<readonly unknown[]> {
    const find = (): HubNotification | undefined =>
      this.notifications.find((reported) => reported.method === method && holds(reported.params));
    await this.until(() => find() !== undefined);
    return find()!.params;
  }

  close(): Promise<void> {
    this.socket.destroy();
    return this.closed;
  }
}
