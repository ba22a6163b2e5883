/** Interfaces between the blob exchange and other parts of the daemon. */
import type { ReceivedBlob } from '../content/incomingBlob.js';
import type { PeerSource } from '../dht/peerSource.js';

/**
 * Source of verified blobs, such as `BlobStore`. Reads reject with `BlobUnavailableError` while the storage of the blob is
 * unreachable.
 */
export interface BlobReader {
  /** Hashes of the complete blobs that can be served. */
  readonly finished: Pick<ReadonlySet<string>, 'has'>;
  /** Reads and verifies a blob; null if the blob is missing or corrupt. */
  read(hash: string): Promise<Uint8Array | null>;
  /**
   * Opens a blob in order to read it in parts, which needs little memory. A reader without this method provides only whole
   * blobs.
   */
  openParts?(hash: string): Promise<OpenBlob | null>;
  /** Whether the blob can be read only as a whole by `read`. If the method is missing, every blob can be read in parts. */
  readsWhole?(hash: string): boolean;
  /**
   * Searches an object store for blobs that are not on disk, and adds the found blobs to `finished`. Absent if there is no
   * object store.
   */
  seek?(hashes: readonly string[]): Promise<void>;
  /** Called with blobs that a peer probably requests soon. */
  prepare?(hashes: readonly string[]): void;
  /**
   * Reads a whole verified blob into the start of `into`, off the calling thread. Resolves to its length; to null if the blob
   * must be opened by `openParts` or `read`, which report the reason. `into` must not be used before the promise settles. Absent
   * if the reader does not support this.
   */
  readInto?(hash: string, into: Uint8Array): Promise<number | null>;
}

export interface OpenBlob {
  readonly lengthBytes: number;
  /**
   * Reads up to `count` bytes from position `at`; fewer only at the end. The result may use the memory of `into`, which
   * needs at least `count` bytes. Rejects if the blob cannot be read or has changed.
   */
  read(at: number, count: number, into?: Uint8Array): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Stores downloaded blobs; `BlobStore` implements it. */
export interface BlobKeeper extends BlobReader {
  /**
   * Accepts a blob that was requested by its hash. Resolves to false if the bytes have another hash. After true the blob can
   * be read, although it may not be on disk yet. Rejects with `EnvironmentError` if it cannot be stored, for example on a
   * full disk. Adds itself as a user of the blob as long as it needs the bytes.
   */
  receive(hash: string, blob: ReceivedBlob): Promise<boolean>;
}

/** A source of peers for a stream. */
export interface NamedPeerSource extends PeerSource {
  /** Name in the log: `DHT` or `trackers`. */
  readonly name: string;
  /** Whether the use of fixed peers waits for the results of this source. If the method is missing, fixed peers wait. */
  readonly precedesFixed?: () => boolean;
}

/** Urgency of a blob. `reader`: a reader waits for it. `ahead`: it is prefetched. */
export type Urgency = 'reader' | 'ahead';

export interface FetchOptions {
  /**
   * Hash of the stream's descriptor (sd blob), by which peers are searched. For a blob that belongs to no stream it is the
   * blob's own hash.
   */
  readonly sdHash: string;
  /** Ends the wait of this caller. The fetch of a blob ends when its last caller has left. */
  readonly signal: AbortSignal;
  /** Default: `reader`. */
  readonly urgency?: Urgency;
  /**
   * Buffer for the bytes, large enough for the blob; the result is the used part of it. Null: the caller does not need the
   * bytes, and the result is empty. Default: new memory, which the caller may keep.
   */
  readonly into?: Uint8Array | null | undefined;
}

export interface BlobFetcher {
  /**
   * Downloads a blob from any peer or server. Resolves to its verified bytes, which may not be on disk yet. Retries until the signal aborts,
   * then rejects with the signal's reason. Rejects with `EnvironmentError` if the blob cannot be stored. `lengthBytes` is
   * null if unknown. Concurrent calls for the same blob share one download.
   */
  fetchBlob(hash: string, lengthBytes: number | null, options: FetchOptions): Promise<Uint8Array>;
  /** Progress of the download of a stream; null if no part of it is being downloaded. */
  progressOf(sdHash: string): DownloadProgress | null;
}

export interface DownloadProgress {
  /** Number of connected peers and servers that may have the stream. */
  readonly peers: number;
  /** Number of known peers and servers that may have the stream. */
  readonly knownPeers: number;
  /** Download rate in bytes per second over the last seconds. */
  readonly bytesPerSecond: number;
}

/** Progress of the upload of a stream to a reflector. */
export interface UploadProgress {
  readonly sdHash: string;
  /** `host:port`. */
  readonly reflector: string;
  readonly blobsSent: number;
  /** Number of blobs that the reflector does not have and this daemon can send. */
  readonly blobsToSend: number;
  readonly bytesSent: number;
  /** Total bytes of the upload, including those already sent; 0 before the reflector has reported which blobs it needs. */
  readonly bytesToSend: number;
  readonly bytesPerSecond: number;
}
