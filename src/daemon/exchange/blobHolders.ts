/**
 * Interfaces that a download uses. A holder is a peer or an HTTP blob server. A line is a connection to a holder that
 * transfers one blob at a time.
 */

import type { HashedBlob } from '../content/incomingBlob.js';

export type LineOutcome =
  | ({ readonly kind: 'blob' } & HashedBlob)
  /** The holder does not have the blob now. */
  | { readonly kind: 'lacks' }
  /** The line was closed because of a timeout, an invalid response, a lost connection or a call of `close`. */
  | { readonly kind: 'failed'; readonly reason: string };

export interface LineEvents {
  /** The holder begins to send the blob. */
  onComing(): void;
  /** Called when the holder has reported which of the blobs `asked` it has. */
  onAvailability(asked: readonly string[], available: readonly string[]): void;
}

export interface Line {
  /**
   * Requests a blob. If that needs no extra request, also asks which of `others`, the blobs needed next, the holder has.
   * Does not reject. Only the length of the bytes is checked (if `lengthBytes` is not null). The caller compares the hash.
   */
  request(
    hash: string,
    lengthBytes: number | null,
    others: readonly string[],
    events: LineEvents,
  ): Promise<LineOutcome>;
  /** Received bytes of the current blob. */
  readonly receivedBytes: number;
  /** Time of the last received bytes, in milliseconds of the clock. */
  readonly lastBytesMs: number;
  readonly isOpen: boolean;
  close(): void;
}

export interface Holder {
  /** `host:port`, or the address of the server; holders with the same name are the same. */
  readonly name: string;
  /** Opens a line. `onClose` is called when the holder closes it later. Rejects when that fails or the signal aborts. */
  open(onClose: () => void, signal: AbortSignal): Promise<Line>;
}
