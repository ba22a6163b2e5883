/** What the media server takes from the files of the daemon. */

/** A stream that can be read from any position. */
export interface MediaStream {
  /** Null if the size is not known, and nothing may be downloaded to find it. */
  readonly sizeBytes: number | null;
  readonly mimeType: string;
  /**
   * The bytes from one position up to (and without) another, in pieces of any length. Blobs that are not here are downloaded in
   * this order. Throws `DaemonError` and `TimeoutError`, and the signal's reason.
   */
  read(from: number, to: number, signal: AbortSignal): AsyncIterable<Uint8Array>;
}

export interface MediaOptions {
  /** False if only what is here may be looked at: nothing is paid, downloaded or saved. */
  readonly mayDownload: boolean;
  readonly signal: AbortSignal;
}

export interface MediaSource {
  /** The stream of a file that `file_list` lists; null if there is none with this descriptor. */
  open(sdHash: string, options: MediaOptions): Promise<MediaStream | null>;
  /**
   * The hash of the descriptor to which a URL leads, as hexadecimal digits. With `mayDownload` the stream becomes a file of the
   * daemon, as by `get`. Throws `DaemonError` with the text that `get` answers.
   */
  find(url: string, options: MediaOptions): Promise<string>;
}
