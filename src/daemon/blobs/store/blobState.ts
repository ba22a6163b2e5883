/** State that the parts of `BlobStore` share. */
import type { KeyedQueue } from '../../../scheduler/keyedQueue.js';
import type { BlobHashes } from '../../content/blobHashes.js';
import type { BlobStoreDeps } from '../blobStorePorts.js';
import type { HeldBlobs } from './heldBlobs.js';
import type { Originals } from '../originals.js';

/** Suffix appended to the name of a corrupt blob file, so that the file is not used as a blob. */
export const QUARANTINE_SUFFIX = '.damaged';

export interface BlobState {
  readonly deps: BlobStoreDeps;
  /** Hashes of all blobs on disk and of the blobs that are made on demand. */
  readonly finished: BlobHashes;
  readonly originals: Originals;
  readonly held: HeldBlobs;
  /** Runs the changes of a blob's file one after the other. */
  readonly queue: KeyedQueue;
  /** Returns the path of a blob's file. */
  readonly pathOf: (hash: string) => string;
}
