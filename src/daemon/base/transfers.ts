/**
 * Running transfers: saved files, files that become streams, streams sent to reflectors. The modules that run a transfer
 * report its progress to this module; `status`, the events of the API and the command line show it.
 */
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { Clock, Timer } from './clock.js';

/** Interval of progress events in ms. */
export const REPORT_MS = 1000;

export type TransferKind = 'download' | 'publish' | 'reflect';
export type TransferOutcome = 'finished' | 'stopped' | 'failed';

export interface TransferSubject {
  readonly kind: TransferKind;
  /** Hash of the sd blob; null while a stream is being created. */
  readonly sdHash: string | null;
  readonly claimName: string | null;
  /** Path of the file that the transfer reads or writes. */
  readonly path: string | null;
  /** `host:port`. */
  readonly reflector: string | null;
}

export interface TransferState {
  readonly bytesDone: number;
  /** Total number of bytes; null while it is unknown. */
  readonly bytesTotal: number | null;
  readonly bytesPerSecond: number;
  /** Number of connected peers; null for a transfer without peers. */
  readonly peers: number | null;
}

export type TransferEvent =
  | { readonly name: 'begun'; readonly data: JsonOut }
  /** Event that is sent once a second during a transfer. */
  | { readonly name: 'progress'; readonly data: JsonOut }
  | { readonly name: 'ended'; readonly data: JsonOut };

/** Function that ends a transfer. `error` is the reason for a failure. */
export type EndTransfer = (outcome: TransferOutcome, error?: string) => void;

interface Transfer {
  readonly id: number;
  readonly subject: TransferSubject;
  readonly state: () => TransferState;
}

type Members = Readonly<Record<string, JsonOut>>;

function shown({ id, subject, state }: Transfer): Members {
  const { bytesDone, bytesTotal, bytesPerSecond, peers } = state();
  const left = bytesTotal === null ? null : Math.max(0, bytesTotal - bytesDone);
  return {
    id,
    kind: subject.kind,
    sd_hash: subject.sdHash,
    claim_name: subject.claimName,
    path: subject.path,
    reflector: subject.reflector,
    bytes_done: bytesDone,
    bytes_total: bytesTotal,
    bytes_per_second: bytesPerSecond,
    seconds_left: left === null || bytesPerSecond === 0 ? null : Math.ceil(left / bytesPerSecond),
    peers,
  };
}

export class Transfers {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #running = new Map<number, Transfer>();
  readonly #listeners = new Set<(event: TransferEvent) => void>();
  #lastId = 0;
  #timer: Timer | null = null;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /**
   * Begins a transfer. `state` is called for each progress report. The returned function must be called once, at the end of
   * the transfer.
   */
  begin(subject: TransferSubject, state: () => TransferState): EndTransfer {
    const transfer = { id: ++this.#lastId, subject, state };
    this.#running.set(transfer.id, transfer);
    this.#tell(() => ({ name: 'begun', data: shown(transfer) }));
    this.#reportLater();
    return (outcome, error) => {
      if (!this.#running.delete(transfer.id)) return;
      this.#tell(() => ({ name: 'ended', data: { ...shown(transfer), outcome, error: error ?? null } }));
    };
  }

  /** All running transfers in the form of answers, sorted from the oldest. */
  all(): readonly Members[] {
    return [...this.#running.values()].map(shown);
  }

  /** Calls the listener for each later event. The returned function removes the listener. */
  listen(listener: (event: TransferEvent) => void): () => void {
    this.#listeners.add(listener);
    this.#reportLater();
    return () => {
      this.#listeners.delete(listener);
    };
  }

  #tell(event: () => TransferEvent): void {
    if (this.#listeners.size === 0) return;
    const made = event();
    for (const listener of this.#listeners) listener(made);
  }

  /** Starts the timer for progress events. It runs only while there are a listener and a transfer. */
  #reportLater(): void {
    if (this.#listeners.size === 0 || this.#running.size === 0) return;
    this.#timer ??= this.#clock.after(REPORT_MS, () => {
      this.#timer = null;
      if (this.#running.size === 0) return;
      this.#tell(() => ({ name: 'progress', data: { transfers: this.all() } }));
      this.#reportLater();
    });
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#listeners.clear();
  }
}
