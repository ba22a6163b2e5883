/** Dependencies and results of `BlobStore`. */
import type { Logger } from '../../util/logging.js';
import type { Clock } from '../base/clock.js';
import type { ContentDatabase } from '../content/contentDatabase.js';
import type { BlobFiles } from './blobFiles.js';
import type { BlobThreads } from './blobThreads.js';

export interface BlobStoreDeps {
  /** The folder `blobfiles`. */
  readonly folder: string;
  readonly database: Pick<
    ContentDatabase,
    | 'addBlobs'
    | 'setPending'
    | 'reconcile'
    | 'forgetBlobs'
    | 'endDeletion'
    | 'doomedBlobs'
    | 'noteChecked'
    | 'blobCheck'
    | 'blobChecks'
    | 'removeStream'
    | 'blobsOnlyOf'
    | 'originals'
    | 'noteOriginal'
    | 'removeOriginal'
    | 'blobsOfStream'
    | 'streamKey'
  >;
  readonly threads: BlobThreads;
  /** Access to blob files. Tests replace it to count reads. */
  readonly files?: BlobFiles;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  /** Returns whether downloaded blobs are written (setting `save_blobs`); default true. Called for each blob. */
  readonly savesBlobs?: () => boolean;
}

/** Read-only view of the hashes of blobs. */
export interface BlobSet extends Iterable<string> {
  readonly size: number;
  has(hash: string): boolean;
}

/** A blob that was made by encrypting a piece of a file. */
export interface EncryptedBlob {
  readonly hash: string;
  /** Bytes. */
  readonly length: number;
  /** Resolves when the blob is on disk and the database has its row. */
  readonly kept: Promise<void>;
}

/** Result of writing all blobs to disk that were made on demand from published files. */
export interface Restored {
  readonly streams: number;
  readonly blobs: number;
  readonly bytes: number;
  /** Descriptors of streams whose blobs cannot be made, because the published file was changed. */
  readonly changed: readonly string[];
}
