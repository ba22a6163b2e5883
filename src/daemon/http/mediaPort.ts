/** Interface of the daemon's files for the media server. */

/** A stream that can be read from any position. */
export interface MediaStream {
  /** Size of the stream in bytes; null if it is unknown and cannot be found without a download. */
  readonly sizeBytes: number | null;
  readonly mimeType: string;
  /**
   * Yields the bytes from `from` (inclusive) to `to` (exclusive) in pieces of any length. Missing blobs are downloaded in
   * the order of the bytes. Throws `DaemonError`, `TimeoutError`, and the signal's reason.
   */
  read(from: number, to: number, signal: AbortSignal): AsyncIterable<Uint8Array>;
}

export interface MediaOptions {
  /** Whether the daemon may pay, download or save. If false, only local data is used. */
  readonly mayDownload: boolean;
  readonly signal: AbortSignal;
}

export interface MediaSource {
  /** Opens the stream of a file in `file_list`; null if no file has this descriptor. */
  open(sdHash: string, options: MediaOptions): Promise<MediaStream | null>;
  /**
   * Descriptor hash of the stream that a URL names, as hexadecimal digits. With `mayDownload` the stream becomes a file of
   * the daemon, as with `get`. Throws `DaemonError` with the error text of `get`.
   */
  find(url: string, options: MediaOptions): Promise<string>;
}
