/** What the content database takes and gives. Times are Unix seconds. */
import type { StreamDescriptor } from './descriptor.js';

export interface BlobRow {
  readonly hash: string;
  readonly lengthBytes: number;
  readonly addedOn: number;
  readonly isMine: boolean;
}

/** A blob as cleaning sees it. */
export interface StoredBlob {
  readonly hash: string;
  readonly lengthBytes: number;
}

/** What the folder of blobs holds, beside what the database says. */
export interface Reconciled {
  /** Blobs that are there by both. */
  readonly finished: readonly string[];
  /** Files named like blobs that the database does not know as finished, with a stamp of an earlier check if there is one. */
  readonly unknown: readonly (readonly [hash: string, stamp: string | null])[];
}

/** Sums of finished blobs in bytes, sd blobs of known streams left out. */
export interface DiskUsage {
  /** In a stream and not own. */
  readonly contentBytes: number;
  /** Own. */
  readonly privateBytes: number;
  /** In no stream and not own. */
  readonly networkBytes: number;
  readonly totalBytes: number;
}

export interface NewStream {
  readonly descriptor: StreamDescriptor;
  readonly sdHash: string;
  readonly sdLengthBytes: number;
  readonly addedOn: number;
  readonly isMine: boolean;
}

/** A peer of the DHT as it is kept over restarts. */
export interface PeerRow {
  /** 48 bytes. */
  readonly nodeId: Uint8Array;
  readonly address: string;
  readonly udpPort: number;
  readonly tcpPort: number | null;
}

export interface StreamBlobRow {
  readonly hash: string | null;
  readonly position: number;
  readonly iv: string;
  readonly lengthBytes: number;
  readonly isFinished: boolean;
}

/** Which files are meant; what is undefined does not matter. */
export interface FileFilter {
  readonly sdHash?: string | undefined;
  readonly streamHash?: string | undefined;
  readonly fileName?: string | undefined;
  readonly rowid?: number | undefined;
}

/** A stream of which all blobs are there. */
export interface CompletedStream {
  readonly sdHash: string;
  /** Of all its blobs, the descriptor too. */
  readonly hashes: readonly string[];
}

export type PinKind = 'stream' | 'channel';
