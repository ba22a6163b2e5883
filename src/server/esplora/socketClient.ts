/**
 * One WebSocket client: its subscriptions, its tracked addresses and transactions, and their limits. Reads requests in the
 * format of mempool.space. Also reads `track` and `track-tx` in the format of the browser library @lumeweb/lbry-sdk; clients
 * that use this format also get messages with a `type`. Source: mempool backend websocket-handler.ts.
 */
import type { WebSocket } from 'ws';
import { stringifyJson } from '../../util/json/jsonStream.js';
import type { Message } from './socketAnswers.js';

/** Maximum size of a client's request in bytes. Source: `MAX_MESSAGE_SIZE`. */
export const MAX_MESSAGE_BYTES = 50_000;
/** Maximum number of requests of a client within `WINDOW_MS` milliseconds. Source: `MSG_RATE_LIMIT`, `MSG_RATE_WINDOW`. */
const MAX_MESSAGES = 100;
const WINDOW_MS = 10_000;
/** Maximum number of bytes that are queued for a client. Source: `MAX_BUFFERED_AMOUNT`. */
const MAX_WAITING_BYTES = 10_000_000;
/** Maximum number of addresses that a client may track. The same number applies to transactions. */
export const MAX_TRACKED = 100;
const TOPICS = ['blocks', 'mempool-blocks', 'stats'] as const;
export type SocketTopic = (typeof TOPICS)[number];

const CLOSE = { tooMany: 1008, odd: 1007 } as const;

/** A tracked address. `known`: its mempool transactions that were already sent to the client. */
export interface TrackedScript {
  readonly address: string;
  /** Transaction ids in wire order, as latin1. */
  known: Set<string>;
}

export class SocketClient {
  readonly wants = new Set<SocketTopic>();
  /** Tracked scripts by script key. */
  readonly scripts = new Map<string, TrackedScript>();
  /** Ids (hex) of tracked transactions. */
  readonly txids = new Set<string>();
  /** Whether one message contains all tracked addresses (`track-addresses`). */
  isMulti = false;
  /** Whether the client also gets messages with a `type`, because it uses the browser library. */
  isTyped = false;
  isAlive = true;
  private readonly socket: WebSocket;
  private times: number[] = [];

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('pong', () => (this.isAlive = true));
  }

  /**
   * Calls `handle` with each request of the client. The connection is closed after a request that is not an object, and
   * after too many requests.
   */
  onRequest(handle: (request: Record<string, unknown>) => void): void {
    this.socket.on('message', (data: Buffer) => {
      this.isAlive = true;
      const nowMs = performance.now();
      this.times = [...this.times.filter((time) => time > nowMs - WINDOW_MS), nowMs];
      if (this.times.length > MAX_MESSAGES) {
        this.socket.close(CLOSE.tooMany, 'too many requests');
        return;
      }
      const request = parseRequest(data);
      if (request === null) this.socket.close(CLOSE.odd, 'requests are JSON objects');
      else handle(request);
    });
  }

  /** Replaces the client's subscriptions with `topics`. Returns the topics that were not subscribed before. */
  want(topics: readonly unknown[]): SocketTopic[] {
    const fresh = TOPICS.filter((topic) => topics.includes(topic) && !this.wants.has(topic));
    this.wants.clear();
    for (const topic of TOPICS) if (topics.includes(topic)) this.wants.add(topic);
    return fresh;
  }

  send(message: Message): void {
    if (this.socket.readyState !== this.socket.OPEN) return;
    if (this.socket.bufferedAmount > MAX_WAITING_BYTES) {
      this.socket.terminate();
      return;
    }
    const text = stringifyJson(message);
    if (text !== '{}') this.socket.send(text);
  }

  /** Sends a ping. Disconnects the client if it did not respond to the previous ping. */
  checkLife(): void {
    if (!this.isAlive) {
      this.socket.terminate();
      return;
    }
    this.isAlive = false;
    this.socket.ping();
  }

  close(code: number, reason: string): void {
    this.socket.close(code, reason);
  }

  terminate(): void {
    this.socket.terminate();
  }
}

function parseRequest(data: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(data.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
