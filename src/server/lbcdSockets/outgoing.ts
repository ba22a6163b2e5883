/**
 * The send queue of one WebSocket client. The queue has a maximum size. A client that exceeds it is too slow, and the owner
 * of the queue disconnects the client. A reply that is serialized in pieces is sent in pieces, at the speed of the client.
 */
import type { WebSocket } from 'ws';
import { inNextRound } from '../../scheduler/rounds.js';

/** Maximum number of bytes in the socket's buffer. Further messages wait in the queue. */
const AHEAD_BYTES = 64 << 10;

interface Item {
  readonly message: string | AsyncIterable<string>;
  /** Memory in bytes that the message uses while it is queued. */
  readonly sizeBytes: number;
  readonly onSent: (() => void) | null;
}

export interface OutgoingEvents {
  /** Called when the queue exceeds its maximum size. */
  readonly onTooSlow: () => void;
  /** Called when the client has read queued data. */
  readonly onTaken: () => void;
  /** Called when serializing a reply fails after a part of it was sent. */
  readonly onFailure: (error: unknown) => void;
}

export class Outgoing {
  private readonly socket: WebSocket;
  private readonly maxBytes: number;
  private readonly events: OutgoingEvents;
  private items: Item[] = [];
  private waitingBytes = 0;
  private isSending = false;
  /** Resolve functions of callers that wait until the queue is shorter. */
  private readonly pausing: (() => void)[] = [];

  constructor(socket: WebSocket, maxBytes: number, events: OutgoingEvents) {
    this.socket = socket;
    this.maxBytes = maxBytes;
    this.events = events;
  }

  private get isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  /** Queues a message. For a message in pieces, the caller must state its size in memory. */
  push(message: string): void;
  push(message: AsyncIterable<string>, sizeBytes: number): void;
  push(message: string | AsyncIterable<string>, sizeBytes = 0): void {
    this.queue({
      message,
      sizeBytes: typeof message === 'string' ? message.length : sizeBytes,
      onSent: null,
    });
  }

  /** Queues a reply. Resolves when the socket has accepted the whole reply, or when the connection has ended. */
  send(message: string | AsyncIterable<string>): Promise<void> {
    const sizeBytes = typeof message === 'string' ? message.length : 0;
    return new Promise((resolve) => this.queue({ message, sizeBytes, onSent: resolve }));
  }

  /**
   * Waits for space in the queue of messages. Resolves immediately if the queue is short. Otherwise resolves when the client
   * has read half of the queue, or when the connection has ended.
   */
  drained(): Promise<void> {
    if (!this.isOpen || this.waitingBytes + this.socket.bufferedAmount <= this.maxBytes / 4)
      return Promise.resolve();
    return new Promise((resolve) => this.pausing.push(resolve));
  }

  /** Discards all queued messages. */
  clear(): void {
    const dropped = this.items;
    this.items = [];
    this.waitingBytes = 0;
    for (const { onSent } of dropped) onSent?.();
    this.wake();
  }

  private queue(item: Item): void {
    if (!this.isOpen) {
      item.onSent?.();
      return;
    }
    this.items.push(item);
    this.waitingBytes += item.sizeBytes;
    if (this.waitingBytes + this.socket.bufferedAmount > this.maxBytes) this.events.onTooSlow();
    else if (!this.isSending) void this.sendAll();
  }

  private async sendAll(): Promise<void> {
    this.isSending = true;
    try {
      for (let item = this.items.shift(); item !== undefined && this.isOpen; item = this.items.shift()) {
        const { message, sizeBytes, onSent } = item;
        if (typeof message === 'string') {
          const handed = this.hand(message, true);
          if (handed !== undefined) await handed;
        } else {
          for await (const piece of message) {
            if (!this.isOpen) break;
            await this.hand(piece, false);
          }
          if (this.isOpen) await this.hand('', true);
        }
        this.waitingBytes = Math.max(0, this.waitingBytes - sizeBytes);
        onSent?.();
        this.wakeIfDrained();
      }
    } catch (error) {
      this.events.onFailure(error);
    } finally {
      this.isSending = false;
      if (!this.isOpen) this.clear();
    }
  }

  /** Writes a piece of a message to the socket, and waits while the socket's buffer is full. */
  private hand(text: string, fin: boolean): Promise<void> | void {
    if (this.socket.bufferedAmount < AHEAD_BYTES) {
      this.socket.send(text, { fin });
      return;
    }
    return new Promise((resolve) =>
      this.socket.send(text, { fin }, () => {
        this.events.onTaken();
        // Waits for the next turn of the event loop before the next piece, so that other clients get a turn.
        inNextRound(resolve);
      }),
    );
  }

  private wakeIfDrained(): void {
    if (this.pausing.length > 0 && this.waitingBytes + this.socket.bufferedAmount <= this.maxBytes / 8)
      this.wake();
  }

  private wake(): void {
    for (const resolve of this.pausing.splice(0)) resolve();
  }
}
