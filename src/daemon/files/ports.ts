/** Interfaces of other daemon parts that the file manager uses. */
import type { BlobStore } from '../blobs/blobStore.js';
import type { Clock } from '../base/clock.js';
import type { Transfers } from '../base/transfers.js';
import type { ContentDatabase } from '../content/contentDatabase.js';
import type { BlobFetcher, UploadProgress } from '../exchange/ports.js';
import type { Logger } from '../../util/logging.js';

/** Settings for files. They are read at each use, so a change applies immediately. */
export interface FileSettings {
  readonly downloadDir: string;
  readonly savesFiles: boolean;
  readonly downloadTimeoutMs: number;
  readonly blobTimeoutMs: number;
  /** Number of decrypted blobs in the cache of the readers. */
  readonly cachedBlobs: number;
}

/** Interface for uploading streams to reflectors. `Reflecting` implements it. */
export interface StreamReflector {
  /** Starts the upload of a newly published stream if the settings enable that. The caller ignores failures. */
  reflectNew(sdHash: string): void;
  /** Descriptor hashes of the streams that are being uploaded. */
  readonly uploading: readonly string[];
  progressOf(sdHash: string): UploadProgress | null;
  /** Reason why the last upload of the stream failed; null if it did not fail or none was tried. */
  failureOf(sdHash: string): string | null;
  /** Cancels the upload of a stream before its deletion. */
  cancel(sdHash: string): Promise<void>;
}

export interface FilesDeps {
  readonly database: ContentDatabase;
  readonly blobs: BlobStore;
  /** Blob fetcher; null while no component downloads. */
  readonly fetcher: () => BlobFetcher | null;
  /** Reflector client; null while no component uploads to reflectors. */
  readonly reflector: () => StreamReflector | null;
  /** Records the progress of saving files. Absent if no progress is recorded. */
  readonly transfers?: Transfers;
  readonly settings: () => FileSettings;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}
