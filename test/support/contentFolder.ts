/** A folder with a content database and a blob store in the test's process. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BlobFiles } from '../../src/daemon/blobs/blobFiles.js';
import { BlobStore } from '../../src/daemon/blobs/blobStore.js';
import { BlobThreads } from '../../src/daemon/blobs/blobThreads.js';
import { systemClock, systemRandom } from '../../src/daemon/base/clock.js';
import type { MakeStreamOptions } from '../../src/daemon/blobs/makeStream.js';
import { openContentDatabase, type ContentDatabase } from '../../src/daemon/content/contentDatabase.js';

export const NOW_SEC = 1_700_000_000;

export class ContentFolder {
  readonly path: string;
  readonly blobFolder: string;
  readonly clock = { ...systemClock, nowSec: () => NOW_SEC };
  readonly warnings: string[] = [];
  readonly threads: BlobThreads;
  files = new BlobFiles();
  /** The settings `save_blobs` and `keep_blobs`. */
  savesBlobs = true;
  keepsBlobs = true;
  database!: ContentDatabase;
  store!: BlobStore;

  /** A new folder, unless one is given. */
  constructor(threads = new BlobThreads(2), path = mkdtempSync(join(tmpdir(), 'lbcnet-content-'))) {
    this.threads = threads;
    this.path = path;
    this.blobFolder = join(this.path, 'blobfiles');
    mkdirSync(this.blobFolder, { recursive: true });
  }

  /** Resolves when the store has checked all files that the database does not know. */
  async open(): Promise<void> {
    this.database = openContentDatabase({ dataDir: this.path, nowSec: NOW_SEC }, (text) =>
      this.warnings.push(text),
    );
    this.store = new BlobStore({
      folder: this.blobFolder,
      database: this.database,
      threads: this.threads,
      files: this.files,
      clock: this.clock,
      log: { warn: (text) => this.warnings.push(text), info: () => undefined },
      savesBlobs: () => this.savesBlobs,
    });
    await this.store.open();
    await this.store.settled;
  }

  get making(): MakeStreamOptions {
    const { store, threads, database, clock } = this;
    return { store, threads, database, clock, random: systemRandom, keepsBlobs: () => this.keepsBlobs };
  }

  blobPath(hash: string): string {
    return join(this.blobFolder, hash);
  }

  async close(): Promise<void> {
    await this.store.close();
    await this.database.close();
  }

  async reopen(): Promise<void> {
    await this.close();
    await this.open();
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
