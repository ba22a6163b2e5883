/**
 * Clients that listen to the events of the daemon, whatever protocol brings these to them: how many there are, what each gets,
 * what a slow one costs.
 */
import { setMaxListeners } from 'node:events';
import type { Clock, Timer } from '../base/clock.js';
import type { TransferEvent, Transfers } from '../base/transfers.js';

/** Clients at a time. Arbitrary: a few programs of one user. */
export const MAX_CLIENTS = 32;
/** What may wait for a client that reads slowly. Arbitrary. */
const MAX_QUEUED_BYTES = 256 * 1024;
/** So often a client gets a sign of life, which shows that one has gone. Arbitrary. */
const HEARTBEAT_MS = 15_000;

export interface EventClient {
  /** What was sent and still waits in this process. */
  readonly queuedBytes: number;
  send(event: TransferEvent): void;
  /** Sends a sign of life. */
  beat(): void;
  /** Ends the connection without waiting for what was sent. */
  cut(): void;
  /** Ends the connection, because the daemon stops. */
  end(): void;
}

export interface EventFeedDeps {
  readonly transfers: Pick<Transfers, 'all' | 'listen'>;
  readonly clock: Clock;
  /** Aborted when the daemon stops: connections end then. */
  readonly stopping: AbortSignal;
}

export class EventFeed {
  readonly #deps: EventFeedDeps;
  #clients = 0;

  constructor(deps: EventFeedDeps) {
    this.#deps = deps;
    // Each client listens to it, and their number is bounded here.
    setMaxListeners(0, deps.stopping);
  }

  /** Whether one more client can be served. */
  get isOpen(): boolean {
    return this.#clients < MAX_CLIENTS && !this.#deps.stopping.aborted;
  }

  /**
   * Sends events to a client, the first of which says what travels now. The result must be called once, when the connection
   * has ended. `isOpen` must hold.
   */
  serve(client: EventClient): () => void {
    const { transfers, clock, stopping } = this.#deps;
    this.#clients++;
    const send = (event: TransferEvent): void => {
      if (client.queuedBytes <= MAX_QUEUED_BYTES) client.send(event);
      // The next report of progress comes soon. A client that would lose another event is cut off, and asks again.
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
