/**
 * `/live`: a WebSocket that announces changes without their contents. A topic has a version, which a change increases. A page
 * contains its topics with the versions from before its data was read (`mempool:1764423423001`), and a client sends them. The
 * first response contains the current tip, and those topics whose versions differ. So the client does not miss a change
 * between the rendering of the page and the subscription. Later it receives a hint for each change, at most one per second.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { refuseUpgrade } from '../util/network/httpUpgrade.js';
import { RateLimit, visitorOf, type LimitOptions } from './limits.js';

const MAX_TOPICS = 16;
const MAX_MESSAGE_BYTES = 4096;
/** Maximum number of bytes that wait to be sent to a client. Arbitrary: some hundred messages. */
const MAX_BUFFERED_BYTES = 65_536;
const MAX_SOCKETS = 4096;
const MAX_SOCKETS_A_VISITOR = 8;
/** Minimum time in ms between two hints on the same topic. */
const LEAST_MS = { tip: 1000, mempool: 5000 } as const;
const PING_MS = 30_000;
/** Limit of the messages of one socket. A page sends one when it is opened, and one when its topics change. */
const MESSAGES: LimitOptions = { rate: 1, burst: 20 };
/** Time in ms after which a connection that was closed because of its messages is ended without the answer of its client. */
const CLOSING_MS = 1000;
/** WebSocket close codes. Source: IANA, WebSocket Close Code Number Registry. */
const POLICY_VIOLATION = 1008;
const TRY_AGAIN_LATER = 1013;

/** What changes: the chain, or the mempool. */
export type Topic = keyof typeof LEAST_MS;

interface Client {
  readonly socket: WebSocket;
  readonly limit: RateLimit;
  /** Topics of the client's page; null until the client has sent them. */
  topics: ReadonlySet<string> | null;
  isAlive: boolean;
}

export interface LiveDeps {
  /** Returns whether the `Origin` header of the request contains a page of this host. */
  readonly allows: (request: IncomingMessage) => boolean;
  readonly addressOf: (request: IncomingMessage) => string;
  /** Counts an upgrade of a visitor. Returns whether the rate limit of the visitor allows it. */
  readonly admits: (visitor: string) => boolean;
  readonly tipHash: () => string | null;
  /** Called with the number of open sockets when that number changes. */
  readonly onCount?: ((count: number) => void) | undefined;
}

export class Live {
  private readonly deps: LiveDeps;
  private readonly server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
  private readonly clients = new Set<Client>();
  private readonly byVisitor = new Map<string, number>();
  private readonly waiting = new Map<Topic, NodeJS.Timeout>();
  private readonly lastMs = new Map<Topic, number>();
  /** The versions begin with the time, so that they differ from those of an earlier thread. */
  private readonly versions: Record<Topic, number> = { tip: Date.now(), mempool: Date.now() };
  /** Timer of the pings; null if no socket is open. */
  private pinging: NodeJS.Timeout | null = null;

  constructor(deps: LiveDeps) {
    this.deps = deps;
  }

  get count(): number {
    return this.clients.size;
  }

  /** The topic with its current version, as pages and hints contain it. */
  versioned(topic: Topic): string {
    return `${topic}:${this.versions[topic]}`;
  }

  /** Handles a connection that requests an upgrade to a WebSocket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const visitor = visitorOf(this.deps.addressOf(request));
    if (!this.deps.allows(request)) return refuse(socket, 403);
    const reason = this.refusalOf(visitor);
    this.server.handleUpgrade(request, socket, head, (opened) => {
      if (reason === null) return this.add(opened, visitor);
      // A script cannot read the status of a refused upgrade, but it can read the reason of a closed socket.
      opened.on('error', () => undefined);
      opened.close(TRY_AGAIN_LATER, reason);
    });
  }

  /** Counts an upgrade of a visitor. Returns the reason why it is refused; null if it is allowed. */
  private refusalOf(visitor: string): string | null {
    if (!this.deps.admits(visitor)) return 'too many requests';
    if ((this.byVisitor.get(visitor) ?? 0) >= MAX_SOCKETS_A_VISITOR) return 'too many open pages';
    return this.clients.size >= MAX_SOCKETS ? 'too many visitors' : null;
  }

  private add(socket: WebSocket, visitor: string): void {
    const limit = new RateLimit(MESSAGES, () => performance.now());
    const client: Client = { socket, limit, topics: null, isAlive: true };
    this.clients.add(client);
    this.pinging ??= setInterval(() => this.ping(), PING_MS).unref();
    this.deps.onCount?.(this.clients.size);
    this.byVisitor.set(visitor, (this.byVisitor.get(visitor) ?? 0) + 1);
    socket.on('error', () => undefined);
    socket.on('ping', () => isAllowed(client));
    socket.on('pong', () => (client.isAlive = isAllowed(client)));
    socket.on('message', (data) => {
      if (isAllowed(client)) this.listen(client, data.toString());
    });
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
    if (topics === null) return closeFor(client, 'send {"topics": [...]}');
    client.topics = new Set(topics.map(({ topic }) => topic));
    const changed = topics
      .filter(({ topic, version }) => isKnown(topic) && version !== null && version !== this.versions[topic])
      .map(({ topic }) => this.versioned(topic as Topic));
    send(
      client,
      JSON.stringify({ tip: this.deps.tipHash(), changed: changed.length > 0 ? changed : undefined }),
    );
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
   * passed. The version of the mempool increases with the notification: in a busy mempool a page would otherwise be rendered
   * for each change.
   */
  changed(topic: Topic): void {
    if (topic === 'tip') this.versions.tip++;
    if (this.waiting.has(topic)) return;
    const due = Math.max(0, (this.lastMs.get(topic) ?? -Infinity) + LEAST_MS[topic] - performance.now());
    if (due === 0) this.tell(topic);
    else
      this.waiting.set(
        topic,
        setTimeout(() => this.tell(topic), due),
      );
  }

  private tell(topic: Topic): void {
    this.waiting.delete(topic);
    this.lastMs.set(topic, performance.now());
    if (topic === 'mempool') this.versions.mempool++;
    const changed = [this.versioned(topic)];
    const hint = JSON.stringify(topic === 'tip' ? { tip: this.deps.tipHash(), changed } : { changed });
    for (const client of this.clients) if (client.topics?.has(topic)) send(client, hint);
  }

  close(): void {
    this.stopPinging();
    for (const timer of this.waiting.values()) clearTimeout(timer);
    for (const { socket } of this.clients) socket.close(1001);
    this.server.close();
  }
}

/** Refuses an upgrade. Node has removed its own listener for errors of the socket, such as a reset connection. */
export function refuse(socket: Duplex, status: number): void {
  socket.on('error', () => socket.destroy());
  refuseUpgrade(socket, status);
}

/** Counts a message of a client. Closes the connection above the limit. Returns whether the message is handled. */
function isAllowed(client: Client): boolean {
  // Messages of the same packet are received after the connection was closed.
  if (client.socket.readyState !== WebSocket.OPEN) return false;
  if (client.limit.take('') === null) return true;
  closeFor(client, 'too many messages');
  return false;
}

/**
 * Closes the connection of a client because of its messages. Further messages are not read, because each would cost time until
 * the client closes its end.
 */
function closeFor({ socket }: Client, reason: string): void {
  socket.close(POLICY_VIOLATION, reason);
  socket.pause();
  setTimeout(() => socket.terminate(), CLOSING_MS).unref();
}

/** Sends a message. Ends the connection of a client that does not read. */
function send({ socket }: Client, message: string): void {
  if (socket.bufferedAmount > MAX_BUFFERED_BYTES) socket.terminate();
  else socket.send(message);
}

const isKnown = (topic: string): topic is Topic => Object.hasOwn(LEAST_MS, topic);

/** A topic in the message of a client; the version is null if the client does not send it. */
interface Subscription {
  readonly topic: string;
  readonly version: number | null;
}

function topicsIn(text: string): Subscription[] | null {
  try {
    const { topics } = JSON.parse(text) as { topics?: unknown };
    if (!Array.isArray(topics) || topics.length > MAX_TOPICS) return null;
    if (!topics.every((topic) => typeof topic === 'string')) return null;
    return topics.map((text) => {
      const [topic = '', version] = text.split(':', 2);
      return { topic, version: version === undefined ? null : Number(version) };
    });
  } catch {
    return null;
  }
}
