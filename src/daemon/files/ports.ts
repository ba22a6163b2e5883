/** What the file manager takes from other parts of the daemon. */
import type { BlobStore } from '../blobs/blobStore.js';
import type { Clock } from '../base/clock.js';
import type { ContentDatabase } from '../content/contentDatabase.js';
import type { BlobFetcher } from '../exchange/ports.js';
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

export interface FilesDeps {
  readonly database: ContentDatabase;
  readonly blobs: BlobStore;
  /** Null while no component downloads. */
  readonly fetcher: () => BlobFetcher | null;
  readonly settings: () => FileSettings;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}
