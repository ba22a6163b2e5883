/** What a download sees of a peer or of an HTTP server of blobs: a holder, and a line to it that brings one blob at a time. */

export type LineOutcome =
  | { readonly kind: 'blob'; readonly bytes: Buffer }
  /** The holder lacks the blob at present. */
  | { readonly kind: 'lacks' }
  /** The line is closed: a timeout, a lie, a lost connection, or `close` was called. */
  | { readonly kind: 'failed'; readonly reason: string };

export interface LineEvents {
  /** The holder begins to send the blob. */
  onComing(): void;
  /** Called when the holder has reported which of the blobs `asked` it has. */
  onAvailability(asked: readonly string[], available: readonly string[]): void;
}

export interface Line {
  /**
   * Asks for a blob, and where that costs nothing for which of `others` (wanted next) the holder has. It does not reject. Only
   * the length of the bytes is checked (where `lengthBytes` is not null), the hash is not.
   */
  request(
    hash: string,
    lengthBytes: number | null,
    others: readonly string[],
    events: LineEvents,
  ): Promise<LineOutcome>;
  /** Bytes of the blob under way that came so far. */
  readonly receivedBytes: number;
  /** When bytes came last, in milliseconds of the clock. */
  readonly lastBytesMs: number;
  readonly isOpen: boolean;
  close(): void;
}

export interface Holder {
  /** `host:port`, or the address of the server; two with one name are the same. */
  readonly name: string;
  /** Opens a line. `onClose` is called when the holder closes it later. Rejects when that fails or the signal aborts. */
  open(onClose: () => void, signal: AbortSignal): Promise<Line>;
}
