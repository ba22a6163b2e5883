/**
 * Interfaces that a download uses. A holder is a peer or an HTTP blob server. A line is a connection to a holder that
 * transfers one blob at a time.
 */

import type { ReceivedBlob } from '../content/incomingBlob.js';

export type LineOutcome =
  | { readonly kind: 'blob'; readonly blob: ReceivedBlob }
  /** The holder answered that it does not have the blob. */
  | { readonly kind: 'lacks' }
  /** The line was closed because of a timeout, an invalid response, a lost connection or a call of `close`. */
  | { readonly kind: 'failed'; readonly reason: string };

export interface LineEvents {
  /** Called when the holder begins to send the blob. */
  onComing(): void;
  /**
   * Called once if the blob will probably be complete soon. From then on, until the request ends, the caller may use
   * `requestEarly`. Lines that cannot send a request early do not call it.
   */
  onEnding(): void;
  /** Called when the holder has reported which of the blobs `asked` it has. */
  onAvailability(asked: readonly string[], available: readonly string[]): void;
}

export interface Line {
  /**
   * Requests a blob. If no extra request is needed, also asks which of `others` (the blobs that are needed next) the holder
   * has. Does not reject. Only the length of the bytes is checked (if `lengthBytes` is not null). The caller must compare
   * the hash.
   */
  request(
    hash: string,
    lengthBytes: number | null,
    others: readonly string[],
    events: LineEvents,
  ): Promise<LineOutcome>;
  /**
   * Sends the request for the next blob while the current one arrives, so that the holder does not wait for it. The caller must
   * call `request` with the same hash when the current blob has arrived, or close the line.
   */
  requestEarly?(hash: string, others: readonly string[]): void;
  /** Number of received bytes of the current blob. */
  readonly receivedBytes: number;
  /** Time at which the last bytes arrived, in milliseconds of the clock. */
  readonly lastBytesMs: number;
  readonly isOpen: boolean;
  close(): void;
}

export interface Holder {
  /** Name of the holder: `host:port`, or the address of the server. Two holders with the same name are the same holder. */
  readonly name: string;
  /**
   * Opens a connection. `onClose` is called when the holder closes the connection later. Rejects if the connection fails or
   * the signal aborts.
   */
  open(onClose: () => void, signal: AbortSignal): Promise<Line>;
}
