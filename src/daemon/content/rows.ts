/** Types of the content database. Times are Unix seconds. */
import type { PackedHashes } from './blobHashes.js';
import type { StoredChunkTable } from './chunkTable.js';
import type { StreamDescriptor } from './descriptor.js';

/** Result of verifying the file of a blob. */
export interface BlobCheckRow {
  readonly hash: string;
  /** See `FileStamp`. */
  readonly stamp: string;
  readonly table: StoredChunkTable;
}

export interface BlobRow {
  readonly hash: string;
  readonly lengthBytes: number;
  readonly addedOn: number;
  readonly isMine: boolean;
}

/** Blob with the fields that the disk cleaning needs. */
export interface StoredBlob {
  readonly hash: string;
  readonly lengthBytes: number;
}

/** Result of a comparison of the blob folder with the database. */
export interface Reconciled {
  /** Blobs that both the folder and the database have, and blobs that are made on demand. */
  readonly finished: PackedHashes;
  /**
   * Files that are named like blobs but are not finished blobs in the database. Each has the stamp of an earlier check, or
   * null.
   */
  readonly unknown: readonly (readonly [hash: string, stamp: string | null])[];
  /** Blobs recorded as finished that are not on disk, and that can be made from a published file. */
  readonly made: readonly MadeRow[];
  /** Whether the rows of the library were lost. In that case any blob in the folder may belong to a stream of the user. */
  readonly isLost: boolean;
}

/** A published file from which the blobs of its stream are made on demand. */
export interface OriginalRow {
  readonly streamHash: string;
  readonly sdHash: string;
  readonly path: string;
  readonly sizeBytes: number;
  /** Stamp of the file when a check last found the published content in it. */
  readonly goodStamp: string;
  /** Stamp of the file at its last check, or the reason why the file could not be used. */
  readonly seenStamp: string;
  /** Whether the file had the published content at its last check. */
  readonly isSame: boolean;
}

/** A blob that is not on disk and is made on demand from a published file. */
export interface MadeRow {
  readonly streamHash: string;
  readonly hash: string;
  readonly position: number;
}

/** Sums of the sizes of finished blobs in bytes. Descriptors of known streams are not included. */
export interface DiskUsage {
  /** Bytes of blobs that belong to streams of others. */
  readonly contentBytes: number;
  /** Bytes of blobs of own streams. */
  readonly privateBytes: number;
  /** Bytes of blobs that belong to no known stream. */
  readonly networkBytes: number;
  readonly totalBytes: number;
}

export interface NewStreamRow {
  readonly descriptor: StreamDescriptor;
  readonly sdHash: string;
  readonly sdLengthBytes: number;
  readonly addedOn: number;
  readonly isMine: boolean;
}

/** A DHT peer, as stored for the next start. */
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

/** Result of checking which of a part of the saved files exist. */
export interface LostOutputs {
  /** Stream hashes of streams whose saved files were deleted. */
  readonly lost: readonly string[];
  /** Row number after which the next slice begins; null after the last slice. */
  readonly next: number | null;
}

/** One page of a long list of hashes, and the position of the next page. */
export interface HashPage {
  readonly hashes: readonly string[];
  /** Row number after which the next page begins; null after the last page. */
  readonly next: number | null;
}

/** A stream whose blobs are all on disk. */
export interface CompletedStream {
  readonly sdHash: string;
  /** The hashes of all blobs of the stream, including the descriptor. */
  readonly hashes: readonly string[];
}

export type PinKind = 'stream' | 'channel';

/**
 * Content that the cleaning never removes: a stream by its stream hash, or all streams of a channel by the claim id in
 * printed order.
 */
export interface Pin {
  readonly kind: PinKind;
  readonly id: string;
}

/** A claim in the state in which it was last resolved or created. */
export interface StoredClaim {
  /** Outpoint of the claim in the form `txid:nout`, with the txid in printed order. */
  readonly outpoint: string;
  /** Claim id in the hex form that programs print. */
  readonly claimId: string;
  readonly name: string;
  readonly amountDewies: bigint;
  /** Height of the claim's block; below 1 for an unconfirmed claim. */
  readonly height: number;
  /** Bytes of the claim's value, as hexadecimal digits. */
  readonly value: string;
  readonly channelClaimId: string | null;
  readonly address: string;
}

/** A claim that a hub returned for a URL, and the hash of its stream descriptor (null if it has none). */
export interface ResolvedClaim {
  readonly claim: StoredClaim;
  readonly sdHash: string | null;
}

/** The name and folder of a saved file. */
export interface SavedPlace {
  readonly fileName: string;
  readonly directory: string;
}

export interface NewFile {
  readonly streamHash: string;
  readonly place: SavedPlace | null;
  readonly status: FileStatus;
  readonly isSaved: boolean;
  /** Raw transaction that paid for the file, as hexadecimal digits. */
  readonly contentFee: string | null;
  readonly addedOn: number;
}

export type FileStatus = 'running' | 'finished' | 'stopped';

export interface FileRow {
  readonly rowid: number;
  readonly streamHash: string;
  readonly sdHash: string;
  /** AES key of the stream, 32 hexadecimal digits. */
  readonly key: string;
  readonly streamName: string;
  readonly suggestedFileName: string;
  readonly fileName: string | null;
  readonly directory: string | null;
  readonly status: string;
  readonly isSaved: boolean;
  readonly contentFee: string | null;
  readonly addedOn: number;
  /** Data blobs. */
  readonly blobsInStream: number;
  /** Sum of the sizes of the data blobs. */
  readonly dataBytes: number;
  readonly claim: StoredClaim | null;
  readonly channelName: string | null;
}
