/**
 * Sends the events of the daemon to clients of all protocols: limits the number of clients, and closes slow ones.
 */
import { setMaxListeners } from 'node:events';
import type { Clock, Timer } from '../base/clock.js';
import type { TransferEvent, Transfers } from '../base/transfers.js';

/** Maximum number of event clients. Arbitrary: a few programs of one user. */
export const MAX_CLIENTS = 32;
/** Maximum number of bytes that wait for a slow client before its connection is closed. Arbitrary. */
const MAX_QUEUED_BYTES = 256 * 1024;
/** Milliseconds between keepalives, which detect closed connections. Arbitrary. */
const HEARTBEAT_MS = 15_000;

export interface EventClient {
  /** Number of bytes in this process that wait to be sent to the client. */
  readonly queuedBytes: number;
  send(event: TransferEvent): void;
  /** Sends a keepalive to the client. */
  beat(): void;
  /** Ends the connection and discards the data that waits to be sent. */
  cut(): void;
  /** Ends the connection, because the daemon stops. */
  end(): void;
}

export interface EventFeedDeps {
  readonly transfers: Pick<Transfers, 'all' | 'listen'>;
  readonly clock: Clock;
  /** Signal that aborts when the daemon stops, which ends all connections. */
  readonly stopping: AbortSignal;
}

export class EventFeed {
  readonly #deps: EventFeedDeps;
  #clients = 0;

  constructor(deps: EventFeedDeps) {
    this.#deps = deps;
    // Each client adds a listener to this signal. Node's warning about many listeners is disabled, because `MAX_CLIENTS`
    // limits them.
    setMaxListeners(0, deps.stopping);
  }

  /** Whether the feed accepts one more client. */
  get isOpen(): boolean {
    return this.#clients < MAX_CLIENTS && !this.#deps.stopping.aborted;
  }

  /**
   * Sends events to a client. The first event lists the running transfers. The returned function must be called once, when the
   * connection has ended. `isOpen` must be true.
   */
  serve(client: EventClient): () => void {
    const { transfers, clock, stopping } = this.#deps;
    this.#clients++;
    const send = (event: TransferEvent): void => {
      if (client.queuedBytes <= MAX_QUEUED_BYTES) client.send(event);
      // A slow client may miss a progress event, because the next one follows soon. A client that would miss another event
      // is disconnected, so that it reconnects.
      else if (event.name !== 'progress') client.cut();
    };
    send({ name: 'progress', data: { transfers: transfers.all() } });
    const unlisten = transfers.listen(send);
    let heartbeat: Timer;
    const beat = (): void => {
      if (client.queuedBytes <= MAX_QUEUED_BYTES) client.beat();
      heartbeat = clock.after(HEARTBEAT_MS, beat);
    };
    heartbeat = clock.after(HEARTBEAT_MS, beat);
    const onStop = (): void => client.end();
    stopping.addEventListener('abort', onStop, { once: true });
    return () => {
      this.#clients--;
      heartbeat.cancel();
      unlisten();
      stopping.removeEventListener('abort', onStop);
    };
  }
}
