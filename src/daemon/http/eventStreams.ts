/**
 * Events of the daemon for programs and pages: a response that does not end (`GET /events` of the API), in the format of
 * server-sent events. Source: HTML standard, section 9.2.
 */
import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock, Timer } from '../base/clock.js';
import type { TransferEvent, Transfers } from '../base/transfers.js';
import { TEXT_TYPE } from './plainServer.js';

/** Clients at a time. Arbitrary: a few programs of one user. */
const MAX_CLIENTS = 32;
/** What may wait for a client that reads slowly. Arbitrary. */
const MAX_QUEUED_BYTES = 256 * 1024;
/** A comment goes out so often, which shows clients that have gone. Arbitrary. */
const HEARTBEAT_MS = 15_000;

export interface EventStreamsDeps {
  readonly transfers: Pick<Transfers, 'all' | 'listen'>;
  readonly clock: Clock;
  /** Aborted when the daemon stops: responses end then. */
  readonly stopping: AbortSignal;
}

const textOf = ({ name, data }: TransferEvent): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

export class EventStreams {
  readonly #deps: EventStreamsDeps;
  #clients = 0;

  constructor(deps: EventStreamsDeps) {
    this.#deps = deps;
    // Each client listens to it, and their number is bounded here.
    setMaxListeners(0, deps.stopping);
  }

  /** Answers until the client leaves or the daemon stops. The first event says what travels now. */
  answer(_request: IncomingMessage, response: ServerResponse, headers: readonly string[]): void {
    const { transfers, clock, stopping } = this.#deps;
    if (this.#clients >= MAX_CLIENTS || stopping.aborted) {
      const text = `503: ${MAX_CLIENTS} clients listen to events already.`;
      response.writeHead(503, ['Content-Type', TEXT_TYPE, ...headers]).end(text);
      return;
    }
    this.#clients++;
    const head = [
      'Content-Type',
      'text/event-stream',
      'Cache-Control',
      'no-store',
      'X-Accel-Buffering',
      'no',
    ];
    response.writeHead(200, [...head, ...headers]);
    const send = (event: TransferEvent): void => {
      if (response.writableLength <= MAX_QUEUED_BYTES) response.write(textOf(event));
      // Progress is told again soon. An event that would be lost ends the stream: the client asks anew.
      else if (event.name !== 'progress') response.destroy();
    };
    send({ name: 'progress', data: { transfers: transfers.all() } });
    const unlisten = transfers.listen(send);
    let heartbeat: Timer;
    const beat = (): void => {
      if (response.writableLength <= MAX_QUEUED_BYTES) response.write(': still here\n\n');
      heartbeat = clock.after(HEARTBEAT_MS, beat);
    };
    heartbeat = clock.after(HEARTBEAT_MS, beat);
    const onStop = (): void => void response.end();
    stopping.addEventListener('abort', onStop, { once: true });
    response.once('close', () => {
      this.#clients--;
      heartbeat.cancel();
      unlisten();
      stopping.removeEventListener('abort', onStop);
    });
  }
}
