/**
 * Events of the daemon over WebSockets, at the same path as the server-sent events. Each event is a text message, `{"event":
 * …, "data": …}`. The daemon does not accept messages. Source: RFC 6455.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { refuseUpgrade } from '../../util/network/httpUpgrade.js';
import type { Clock } from '../base/clock.js';
import type { EventFeed } from './eventFeed.js';

/** Close codes. Source: RFC 6455, section 7.4.1. */
const CLOSE = { goingAway: 1001, unwanted: 1008 } as const;
/** Maximum size of a client's message in bytes; a larger one closes the connection. Arbitrary. */
const MAX_MESSAGE_BYTES = 1024;
/** Milliseconds for which the daemon waits for the client's close frame. Arbitrary. */
const LEAVE_MS = 2000;

export class EventSockets {
  readonly #feed: EventFeed;
  readonly #clock: Clock;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_MESSAGE_BYTES,
  });

  constructor(feed: EventFeed, clock: Clock) {
    this.#feed = feed;
    this.#clock = clock;
  }

  /** Handles an upgrade request. `isAllowed`: whether the request may be accepted. */
  take(request: IncomingMessage, socket: Duplex, head: Buffer, isAllowed: boolean): void {
    const onError = (): void => void socket.destroy();
    socket.on('error', onError);
    if (!isAllowed || !this.#feed.isOpen) {
      refuseUpgrade(socket, isAllowed ? 503 : 403);
      return;
    }
    socket.off('error', onError);
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => this.#serve(webSocket));
  }

  #serve(socket: WebSocket): void {
    let isAlive = true;
    const close = (code: number, reason: string): void => {
      if (socket.readyState !== socket.OPEN) return;
      socket.close(code, reason);
      const cut = this.#clock.after(LEAVE_MS, () => socket.terminate());
      socket.once('close', () => cut.cancel());
    };
    const leave = this.#feed.serve({
      get queuedBytes() {
        return socket.bufferedAmount;
      },
      send: ({ name, data }) => {
        if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ event: name, data }));
      },
      beat: () => {
        if (!isAlive) socket.terminate();
        else if (socket.readyState === socket.OPEN) {
          isAlive = false;
          socket.ping();
        }
      },
      cut: () => socket.terminate(),
      end: () => close(CLOSE.goingAway, 'the daemon is stopping'),
    });
    socket.on('pong', () => (isAlive = true));
    socket.on('message', () => close(CLOSE.unwanted, 'clients cannot send messages'));
    // The error is ignored, because the `close` event follows it.
    socket.on('error', () => undefined);
    socket.once('close', leave);
  }
}
