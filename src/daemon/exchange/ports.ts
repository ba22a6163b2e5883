/** What the blob exchange takes from other parts of the daemon, and what it gives them. */
import type { PeerSource } from '../dht/peerSource.js';

/**
 * Where blobs are read from. Only verified bytes come out of it; `BlobStore` is one. Reads reject with `BlobUnavailableError`
 * where the blob is kept in a place that cannot be reached now.
 */
export interface BlobReader {
  /** Hashes of the blobs that are there. */
  readonly finished: Pick<ReadonlySet<string>, 'has'>;
  /** The verified bytes of a blob; null if it is not there or damaged. */
  read(hash: string): Promise<Uint8Array | null>;
  /** The same in parts, so that little of it is in memory. Where it is missing, blobs are read as a whole. */
  openParts?(hash: string): Promise<OpenBlob | null>;
  /** Whether this blob can be read only as a whole, by `read`. Where it is missing, none is. */
  readsWhole?(hash: string): boolean;
  /** Looks in the object store for blobs that are not on disk; `finished` shows those that were found. Missing without a store. */
  seek?(hashes: readonly string[]): Promise<void>;
}

export interface OpenBlob {
  readonly lengthBytes: number;
  /**
   * Bytes from a position on; fewer at the end. `into`, of at least `count` bytes, may be used for them. Rejects where the blob
   * cannot be read or was changed.
   */
  read(at: number, count: number, into?: Uint8Array): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Stores downloaded blobs; `BlobStore` implements it. */
export interface BlobKeeper extends BlobReader {
  /**
   * Checks the bytes against the hash and keeps them. False if the bytes have another hash. Throws `EnvironmentError` where
   * they cannot be kept, as on a full disk.
   */
  write(hash: string, bytes: Uint8Array): Promise<boolean>;
}

/** A source of peers for a stream. */
export interface NamedPeerSource extends PeerSource {
  /** For the log: `DHT`, `trackers`. */
  readonly name: string;
  /** Whether fixed peers wait for what it finds. Where it is missing, they do. */
  readonly precedesFixed?: () => boolean;
}

/** Urgency of a blob: a reader waits for it, or one may come soon. */
export type Urgency = 'reader' | 'ahead';

export interface FetchOptions {
  /** The sd blob of the stream: peers are searched by its hash. A blob of no stream is searched by its own. */
  readonly sdHash: string;
  /** Ends the wait. The fetch of a blob ends when its last caller has gone. */
  readonly signal: AbortSignal;
  /** Default: `reader`. */
  readonly urgency?: Urgency;
}

export interface BlobFetcher {
  /**
   * Downloads a blob from whichever peer or server has it, and keeps it. Resolves to its verified bytes. It tries until the
   * signal aborts, then rejects with the signal's reason; it rejects with `EnvironmentError` where the blob cannot be kept.
   * `lengthBytes` is null if the length is not known. Calls for one blob share the work.
   */
  fetchBlob(hash: string, lengthBytes: number | null, options: FetchOptions): Promise<Uint8Array>;
  /** How the download of a stream goes; null if nothing of it is under way. */
  progressOf(sdHash: string): DownloadProgress | null;
}

export interface DownloadProgress {
  /** Peers and servers with a connection. */
  readonly peers: number;
  /** Peers and servers that were found. */
  readonly knownPeers: number;
  /** Over the last seconds. */
  readonly bytesPerSecond: number;
}

/** How the upload of a stream to a reflector goes. */
export interface UploadProgress {
  readonly sdHash: string;
  /** `host:port`. */
  readonly reflector: string;
  readonly blobsSent: number;
  /** Blobs that the reflector wants and this daemon has. */
  readonly blobsToSend: number;
  readonly bytesSent: number;
  /** Together with what was sent already; 0 before the reflector said what it wants. */
  readonly bytesToSend: number;
  readonly bytesPerSecond: number;
}
