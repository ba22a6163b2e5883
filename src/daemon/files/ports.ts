/** What the file manager takes from other parts of the daemon. */
import type { BlobStore } from '../blobs/blobStore.js';
import type { Clock } from '../base/clock.js';
import type { Transfers } from '../base/transfers.js';
import type { ContentDatabase } from '../content/contentDatabase.js';
import type { BlobFetcher, UploadProgress } from '../exchange/ports.js';
import type { Logger } from '../../util/logging.js';

/** Settings as they are at each use. */
export interface FileSettings {
  readonly downloadDir: string;
  readonly savesFiles: boolean;
  readonly downloadTimeoutMs: number;
  readonly blobTimeoutMs: number;
  /** Decrypted blobs that are kept in memory for readers. */
  readonly cachedBlobs: number;
}

/** Uploads of streams to reflectors; `Reflecting` is one. */
export interface StreamReflector {
  /** Begins to send a stream that was just published, where the settings want that. What fails does not matter here. */
  reflectNew(sdHash: string): void;
  /** Descriptors of the streams that are being sent. */
  readonly uploading: readonly string[];
  progressOf(sdHash: string): UploadProgress | null;
  /** Reason for the failure of the last upload; null if none failed. */
  failureOf(sdHash: string): string | null;
  /** Ends the upload of a stream that is to be deleted. */
  cancel(sdHash: string): Promise<void>;
}

export interface FilesDeps {
  readonly database: ContentDatabase;
  readonly blobs: BlobStore;
  /** Null while no component downloads. */
  readonly fetcher: () => BlobFetcher | null;
  /** Null while no component sends streams to reflectors. */
  readonly reflector: () => StreamReflector | null;
  /** Takes note of files that are saved; without it none is taken. */
  readonly transfers?: Transfers;
  readonly settings: () => FileSettings;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}
