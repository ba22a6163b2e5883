/**
 * The components `database`, `blob_manager` and `disk_space`: content database, blob storage and its disk use. Source:
 * lbry-sdk lbry/extras/daemon/components.py `DatabaseComponent`, `BlobComponent`, `DiskSpaceComponent`.
 */
import { join } from 'node:path';
import { failureReason } from '../../../util/text/environmentError.js';
import type { Logger } from '../../../util/logging.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import type { ComponentName } from '../../api/declaration.js';
import type { Settings } from '../../api/settings.js';
import { sleep, type Clock } from '../../base/clock.js';
import { BlobStore } from '../../blobs/blobStore.js';
import { BlobThreads } from '../../blobs/blobThreads.js';
import { DiskSpace } from '../../blobs/diskSpace.js';
import { openContentDatabase, type ContentDatabase } from '../../content/contentDatabase.js';
import { BLOB_FOLDER_NAME } from '../../content/openDatabases.js';
import type { Component } from '../components.js';

/** Milliseconds between checks of the published files from which blobs are made on demand. Arbitrary. */
const ORIGINALS_ROUND_MS = 60_000;

/** A service that uses blobs while the component `blob_manager` runs, but is not a component. */
export interface BesideBlobs {
  /** Called after the blob store was opened. */
  start(): void;
  /** Called before the blob store is closed. */
  stop(): Promise<void>;
  /** Returns the member `connections` of `status`. */
  connections(): JsonOut;
}

export interface ContentPartsDeps {
  readonly settings: Settings;
  readonly log: Logger;
  readonly clock: Clock;
  readonly beside: BesideBlobs;
}

/** Returns the value of a component. Throws if the value is null, because the component does not run. */
function running<T>(value: T | null, name: ComponentName): T {
  if (value === null) throw new Error(`the component ${name} is not running`);
  return value;
}

export class ContentParts {
  readonly components: readonly Component[];
  readonly #deps: ContentPartsDeps;
  #database: ContentDatabase | null = null;
  #blobs: BlobStore | null = null;
  #diskSpace: DiskSpace | null = null;
  #threads: BlobThreads | null = null;

  constructor(deps: ContentPartsDeps) {
    this.#deps = deps;
    this.components = [this.#databasePart(), this.#blobPart(), this.#diskSpacePart()];
  }

  get content(): ContentDatabase {
    return running(this.#database, 'database');
  }

  get blobs(): BlobStore {
    return running(this.#blobs, 'blob_manager');
  }

  /** Whether the blob is stored and may be served; false while the component `blob_manager` does not run. */
  hasBlob(hash: string): boolean {
    const blobs = this.#blobs;
    return blobs !== null && blobs.finished.has(hash) && !blobs.originals.isWithheld(hash);
  }

  get threads(): BlobThreads {
    return running(this.#threads, 'blob_manager');
  }

  get diskSpace(): DiskSpace {
    return running(this.#diskSpace, 'disk_space');
  }

  #databasePart(): Component {
    const { settings, log, clock } = this.#deps;
    return {
      name: 'database',
      dependsOn: [],
      start: async () => {
        const dataDir = settings.get('data_dir');
        const database = openContentDatabase({ dataDir, nowSec: clock.nowSec() }, (text) => log.info(text));
        this.#database = database;
        // The first query fails if the database is unusable, so that the component does not start.
        await database.isLibraryLost();
      },
      stop: async () => {
        await this.#database?.close();
        this.#database = null;
      },
      status: () => null,
    };
  }

  #blobPart(): Component {
    const { settings, log, clock } = this.#deps;
    const watching = new AbortController();
    return {
      name: 'blob_manager',
      dependsOn: ['database'],
      start: async () => {
        const threads = (this.#threads = new BlobThreads());
        const folder = join(settings.get('data_dir'), BLOB_FOLDER_NAME);
        const blobs = (this.#blobs = new BlobStore({
          folder,
          database: this.content,
          threads,
          clock,
          log,
          savesBlobs: () => settings.get('save_blobs'),
        }));
        await blobs.open();
        if (watching.signal.aborted) return;
        this.#lookAtOriginals(blobs, watching.signal);
        this.#deps.beside.start();
      },
      stop: async () => {
        watching.abort();
        await this.#deps.beside.stop();
        await this.#blobs?.close();
        await this.#threads?.close();
        this.#threads = null;
        this.#blobs = null;
      },
      status: (): JsonOut => ({
        finished_blobs: this.#blobs?.finished.size ?? 0,
        made_blobs: this.#blobs?.originals.size ?? 0,
        changed_files: this.#blobs?.originals.changedCount ?? 0,
        connections: this.#deps.beside.connections(),
      }),
    };
  }

  /**
   * Checks the published files immediately and then each minute. Changed files and errors are logged. An error does not end
   * the checks.
   */
  #lookAtOriginals(blobs: BlobStore, signal: AbortSignal): void {
    const { clock, log } = this.#deps;
    const watch = async (): Promise<void> => {
      do
        await blobs.originals.check().catch((error: unknown) => {
          if (!signal.aborted) log.warn(`Published files could not be checked: ${failureReason(error)}`);
        });
      while (await sleep(clock, ORIGINALS_ROUND_MS, signal));
    };
    void watch();
  }

  #diskSpacePart(): Component {
    const { settings, log } = this.#deps;
    return {
      name: 'disk_space',
      dependsOn: ['database', 'blob_manager'],
      start: () => {
        this.#diskSpace = new DiskSpace({
          database: this.content,
          store: this.blobs,
          limits: () => ({
            contentMib: settings.get('blob_storage_limit'),
            networkMib: settings.get('network_storage_limit'),
          }),
          log,
        });
        this.#diskSpace.start();
        return Promise.resolve();
      },
      stop: async () => {
        await this.#diskSpace?.stop();
        this.#diskSpace = null;
      },
      status: (): JsonOut =>
        this.#diskSpace?.status() ?? { space_used: '0', network_seeding_space_used: '0', running: false },
    };
  }
}
