/** Types of the content database. Times are Unix seconds. */
import type { PackedHashes } from './blobHashes.js';
import type { StoredChunkTable } from './chunkTable.js';
import type { StreamDescriptor } from './descriptor.js';

/** A verified file of a blob. */
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

/** Fields of a blob that the disk cleaning uses. */
export interface StoredBlob {
  readonly hash: string;
  readonly lengthBytes: number;
}

/** Result of comparing the folder of blobs with the database. */
export interface Reconciled {
  /** Blobs that the folder and the database have, and those made on demand. */
  readonly finished: PackedHashes;
  /** Files named like blobs that the database does not know as finished, with a stamp of an earlier check if there is one. */
  readonly unknown: readonly (readonly [hash: string, stamp: string | null])[];
  /** Finished blobs without a file that can be made from an original. */
  readonly made: readonly MadeRow[];
  /** Whether the rows were lost. Then all blobs in the folder may be own ones. */
  readonly isLost: boolean;
}

/** A stream whose blobs are made from the file that was published. */
export interface OriginalRow {
  readonly streamHash: string;
  readonly sdHash: string;
  readonly path: string;
  readonly sizeBytes: number;
  /** Stamp of the file at the last check at which it had the published content. */
  readonly goodStamp: string;
  /** The stamp of the file at its last check, or the reason why it could not be used. */
  readonly seenStamp: string;
  /** Whether the file had the published content at its last check. */
  readonly isSame: boolean;
}

/** A blob that is made on demand. */
export interface MadeRow {
  readonly streamHash: string;
  readonly hash: string;
  readonly position: number;
}

/** Sums of finished blobs in bytes, sd blobs of known streams left out. */
export interface DiskUsage {
  /** Bytes of blobs in streams of others. */
  readonly contentBytes: number;
  /** Own. */
  readonly privateBytes: number;
  /** Bytes of blobs without a stream. */
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

/** A peer of the DHT as it is stored for the next start. */
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

/** Result of checking a slice of the saved files. */
export interface LostOutputs {
  /** Stream hashes of deleted files. */
  readonly lost: readonly string[];
  /** Row number after which the next slice begins; null after the last one. */
  readonly next: number | null;
}

/** One page of a long list of hashes. */
export interface HashPage {
  readonly hashes: readonly string[];
  /** Row number after which the next page begins; null after the last one. */
  readonly next: number | null;
}

/** Filter for files. An undefined member matches all files. */
export interface FileFilter {
  readonly sdHash?: string | undefined;
  readonly streamHash?: string | undefined;
  readonly fileName?: string | undefined;
  readonly rowid?: number | undefined;
}

/** A stream whose blobs are all on disk. */
export interface CompletedStream {
  readonly sdHash: string;
  /** The hashes of all blobs of the stream, including the descriptor. */
  readonly hashes: readonly string[];
}

export type PinKind = 'stream' | 'channel';

/** Content that the cleaning spares: a stream by its stream hash, or all streams of a channel by its claim id as printed. */
export interface Pin {
  readonly kind: PinKind;
  readonly id: string;
}

/** A claim at the time when it was resolved or created. */
export interface StoredClaim {
  /** `txid:nout` as printed. */
  readonly outpoint: string;
  /** Id in the hex form that programs print. */
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
  /** The payment transaction of the file, as hexadecimal digits. */
  readonly contentFee: string | null;
  readonly addedOn: number;
}

export type FileStatus = 'running' | 'finished' | 'stopped';

export interface FileRow {
  readonly rowid: number;
  readonly streamHash: string;
  readonly sdHash: string;
  /** 32 hexadecimal digits. */
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
