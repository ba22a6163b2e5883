/**
 * `/live`: a WebSocket that announces changes without their contents. A client sends the topics of its page. It first
 * receives the current tip, and a hint if the mempool has changed since the page was rendered at the earliest. So it does not
 * miss a change between the rendering of the page and the subscription. Later it receives a hint for each change, at most one
 * per second.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { visitorOf } from './limits.js';

const MAX_TOPICS = 16;
const MAX_MESSAGE_BYTES = 4096;
const MAX_SOCKETS = 4096;
const MAX_SOCKETS_A_VISITOR = 8;
/** Minimum time in ms between two hints on the same topic. */
const TIP_MS = 1000;
const MEMPOOL_MS = 5000;
const PING_MS = 30_000;
/**
 * Maximum time in ms between the rendering of a page and its connection here: the reuse of a rendered page (`LIVELY_MS` in
 * site.tsx), and some time for the browser.
 */
const PAGE_AGE_MS = 3000;

interface Client {
  readonly socket: WebSocket;
  /** Topics of the client's page; null until the client has sent them. */
  topics: ReadonlySet<string> | null;
  /** Time before which its page was not rendered, by `performance.now()`. */
  readonly renderedMs: number;
  isAlive: boolean;
}

export interface LiveDeps {
  /** Returns whether the `Origin` header of the request contains a page of this host. */
  readonly allows: (request: IncomingMessage) => boolean;
  readonly addressOf: (request: IncomingMessage) => string;
  readonly tipHash: () => string | null;
  /** Called with the number of open sockets when that number changes. */
  readonly onCount?: ((count: number) => void) | undefined;
}

export class Live {
  private readonly deps: LiveDeps;
  private readonly server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
  private readonly clients = new Set<Client>();
  private readonly byVisitor = new Map<string, number>();
  private readonly waiting = new Map<string, NodeJS.Timeout>();
  private readonly lastMs = new Map<string, number>();
  /** Timer of the pings; null if no socket is open. */
  private pinging: NodeJS.Timeout | null = null;

  constructor(deps: LiveDeps) {
    this.deps = deps;
  }

  get count(): number {
    return this.clients.size;
  }

  /** Handles a connection that requests an upgrade to a WebSocket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const visitor = visitorOf(this.deps.addressOf(request));
    const count = this.byVisitor.get(visitor) ?? 0;
    const status = !this.deps.allows(request)
      ? '403 Forbidden'
      : count >= MAX_SOCKETS_A_VISITOR || this.clients.size >= MAX_SOCKETS
        ? '429 Too Many Requests'
        : null;
    if (status !== null) {
      socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    this.server.handleUpgrade(request, socket, head, (opened) => this.add(opened, visitor));
  }

  private add(socket: WebSocket, visitor: string): void {
    const renderedMs = performance.now() - PAGE_AGE_MS;
    const client: Client = { socket, topics: null, renderedMs, isAlive: true };
    this.clients.add(client);
    this.pinging ??= setInterval(() => this.ping(), PING_MS).unref();
    this.deps.onCount?.(this.clients.size);
    this.byVisitor.set(visitor, (this.byVisitor.get(visitor) ?? 0) + 1);
    socket.on('error', () => undefined);
    socket.on('pong', () => (client.isAlive = true));
    socket.on('message', (data) => this.listen(client, data.toString()));
    socket.on('close', () => {
      this.clients.delete(client);
      if (this.clients.size === 0) this.stopPinging();
      this.deps.onCount?.(this.clients.size);
      const left = (this.byVisitor.get(visitor) ?? 1) - 1;
      if (left > 0) this.byVisitor.set(visitor, left);
      else this.byVisitor.delete(visitor);
    });
  }

  private listen(client: Client, text: string): void {
    const topics = topicsIn(text);
    if (topics === null) return client.socket.close(1008, 'send {"topics": [...]}');
    const isFirst = client.topics === null;
    client.topics = new Set(topics);
    const isOld = isFirst && (this.lastMs.get('mempool') ?? -Infinity) >= client.renderedMs;
    const changed = isOld && client.topics.has('mempool') ? ['mempool'] : undefined;
    client.socket.send(JSON.stringify({ tip: this.deps.tipHash(), changed }));
  }

  private stopPinging(): void {
    if (this.pinging !== null) clearInterval(this.pinging);
    this.pinging = null;
  }

  private ping(): void {
    for (const client of this.clients) {
      if (!client.isAlive) client.socket.terminate();
      client.isAlive = false;
      client.socket.ping();
    }
  }

  /**
   * Reports a change of a topic. Pages are notified immediately, or when the minimum time since the last notification has
   * passed.
   */
  changed(topic: 'tip' | 'mempool'): void {
    if (this.waiting.has(topic)) return;
    const least = topic === 'tip' ? TIP_MS : MEMPOOL_MS;
    const due = Math.max(0, (this.lastMs.get(topic) ?? -Infinity) + least - performance.now());
    const tell = (): void => {
      this.waiting.delete(topic);
      this.lastMs.set(topic, performance.now());
      const hint = JSON.stringify(
        topic === 'tip' ? { tip: this.deps.tipHash(), changed: ['tip'] } : { changed: ['mempool'] },
      );
      for (const { socket, topics } of this.clients) if (topics?.has(topic)) socket.send(hint);
    };
    if (due === 0) tell();
    else this.waiting.set(topic, setTimeout(tell, due));
  }

  close(): void {
    this.stopPinging();
    for (const timer of this.waiting.values()) clearTimeout(timer);
    for (const { socket } of this.clients) socket.close(1001);
    this.server.close();
  }
}

function topicsIn(text: string): string[] | null {
  try {
    const { topics } = JSON.parse(text) as { topics?: unknown };
    const isFine =
      Array.isArray(topics) &&
      topics.length <= MAX_TOPICS &&
      topics.every((topic) => typeof topic === 'string');
    return isFine ? (topics as string[]) : null;
  } catch {
    return null;
  }
}
