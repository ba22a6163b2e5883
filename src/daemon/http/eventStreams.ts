/**
 * Events of the daemon for programs and pages: a response that does not end (`GET /events` of the API), in the format of
 * server-sent events. Source: HTML standard, section 9.2.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TransferEvent } from '../base/transfers.js';
import { MAX_CLIENTS, type EventFeed } from './eventFeed.js';
import { TEXT_TYPE } from './plainServer.js';

const HEAD = ['Content-Type', 'text/event-stream', 'Cache-Control', 'no-store', 'X-Accel-Buffering', 'no'];

const textOf = ({ name, data }: TransferEvent): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

export class EventStreams {
  readonly #feed: EventFeed;

  constructor(feed: EventFeed) {
    this.#feed = feed;
  }

  /** Sends events until the client leaves or the daemon stops. */
  answer(_request: IncomingMessage, response: ServerResponse, headers: readonly string[]): void {
    if (!this.#feed.isOpen) {
      const text = `503: The maximum of ${MAX_CLIENTS} event listeners is connected.`;
      response.writeHead(503, ['Content-Type', TEXT_TYPE, ...headers]).end(text);
      return;
    }
    response.writeHead(200, [...HEAD, ...headers]);
    const leave = this.#feed.serve({
      get queuedBytes() {
        return response.writableLength;
      },
      send: (event) => void response.write(textOf(event)),
      beat: () => void response.write(': still here\n\n'),
      cut: () => void response.destroy(),
      end: () => void response.end(),
    });
    response.once('close', leave);
  }
}
