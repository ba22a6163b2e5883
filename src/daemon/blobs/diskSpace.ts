/**
 * Disk usage of blobs, and deletion of blobs beyond the limits of the settings.
 * Source: lbry-sdk lbry/blob/disk_space_manager.py `DiskSpaceManager`.
 */
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { failureReason } from '../../util/text/environmentError.js';
import type { Logger } from '../../util/logging.js';
import type { ContentDatabase } from '../content/contentDatabase.js';
import type { DiskUsage, StoredBlob } from '../content/rows.js';
import type { BlobStore } from './blobStore.js';
import type { Originals } from './originals.js';

const MIB = 1024 * 1024;
/** Source: `cleaning_interval`. */
const INTERVAL_MS = 30 * 60_000;
/** Number of blobs that are chosen and deleted in one query. Arbitrary. */
const BLOBS_AT_ONCE = 5000;

export interface DiskLimits {
  /**
   * Maximum size in MiB of all blobs of streams, including own blobs (those of streams that this daemon published); 0 means
   * no limit.
   */
  readonly contentMib: number;
  /** Limit in MiB for blobs without a stream; 0 deletes all of them. */
  readonly networkMib: number;
}

export interface DiskSpaceDeps {
  readonly database: Pick<ContentDatabase, 'diskUsage' | 'removableContent' | 'removableNetwork'>;
  readonly store: Pick<BlobStore, 'tryDelete' | 'repeatDeletions'> & {
    readonly originals: Pick<Originals, 'madeBytes'>;
  };
  /** Returns the current limits. Called at each cleaning. */
  readonly limits: () => DiskLimits;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** Returns blobs from the start of the list until the sum of their sizes reaches `bytes`. */
function chooseBlobs(blobs: readonly StoredBlob[], bytes: number): StoredBlob[] {
  let left = bytes;
  const chosen: StoredBlob[] = [];
  for (const blob of blobs) {
    if (left <= 0) break;
    chosen.push(blob);
    left -= blob.lengthBytes;
  }
  return chosen;
}

export class DiskSpace {
  readonly #deps: DiskSpaceDeps;
  #timer: NodeJS.Timeout | null = null;
  #usage: DiskUsage | null = null;
  #measured: Promise<void> = Promise.resolve();

  constructor(deps: DiskSpaceDeps) {
    this.#deps = deps;
  }

  /** Starts to measure the disk usage in the background, and to delete blobs above the limits every 30 minutes. */
  start(): void {
    this.#measured = this.#measure().then(
      (usage) => void (this.#usage ??= usage),
      (error: unknown) =>
        this.#deps.log.warn(`The disk space of blobs could not be measured: ${failureReason(error)}`),
    );
    this.#timer = setInterval(() => {
      this.clean().catch((error: unknown) =>
        this.#deps.log.warn(
          `Blobs above the disk space limits could not be deleted: ${failureReason(error)}`,
        ),
      );
    }, INTERVAL_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    await this.#measured;
  }

  /**
   * Deletes blobs beyond the limits. Own blobs (of streams that this daemon published) and blobs of pinned streams and
   * channels are never deleted, even if their size alone exceeds the limit. QUIRK: lbry-sdk deletes at least one blob though
   * all fit, counts a blob below 1 MiB as nothing, and treats sd blobs of streams as blobs without a stream.
   */
  async clean(): Promise<void> {
    const { database, limits, log, store } = this.#deps;
    const { contentMib, networkMib } = limits();
    const used = await this.#measure();
    const contentBytes = contentMib === 0 ? 0 : used.contentBytes + used.privateBytes - contentMib * MIB;
    const errors: unknown[] = [];
    const failed = (error: unknown): void => void errors.push(error);
    // Files that the system refused to remove earlier.
    await store.repeatDeletions().catch(failed);
    const count =
      (await this.#remove((limit) => database.removableContent(limit), contentBytes, failed)) +
      (await this.#remove(
        (limit) => database.removableNetwork(limit),
        used.networkBytes - networkMib * MIB,
        failed,
      ));
    if (count > 0) log.info(`Blobs deleted because of the disk space limits in the settings: ${count}.`);
    this.#usage = count === 0 && errors.length === 0 ? used : await this.#measure();
    if (errors.length > 0) throw errors[0];
  }

  /**
   * Deletes the first removable blobs until at least `excessBytes` bytes are freed. Resolves to the number of blobs whose files are
   * removed. A file that the system refuses to remove counts as freed, because its row is deleted; its removal is repeated later.
   * Calls `failed` with the errors.
   */
  async #remove(
    list: (limit: number) => Promise<readonly StoredBlob[]>,
    excessBytes: number,
    failed: (error: unknown) => void,
  ): Promise<number> {
    let count = 0;
    for (let left = excessBytes; left > 0;) {
      const chosen = chooseBlobs(await list(BLOBS_AT_ONCE), left);
      if (chosen.length === 0) break;
      try {
        const { removed, refusal } = await this.#deps.store.tryDelete(chosen.map(({ hash }) => hash));
        count += removed;
        if (refusal !== null) failed(refusal);
      } catch (error) {
        failed(error);
      }
      left -= chosen.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0);
    }
    return count;
  }

  /** Measures the disk usage. Blobs that are made from published files on demand use no space. */
  async #measure(): Promise<DiskUsage> {
    const { database, store } = this.#deps;
    const usage = await database.diskUsage();
    const { madeBytes } = store.originals;
    return {
      ...usage,
      privateBytes: usage.privateBytes - madeBytes,
      totalBytes: usage.totalBytes - madeBytes,
    };
  }

  /** Limit in bytes for blobs without a stream. */
  get networkLimitBytes(): number {
    return this.#deps.limits().networkMib * MIB;
  }

  /** Bytes that remain for blobs without a stream. Source: `get_free_space_mb`. */
  async freeNetworkBytes(): Promise<number> {
    const { networkBytes } = await this.#deps.database.diskUsage();
    return Math.max(0, this.networkLimitBytes - networkBytes);
  }

  /** Disk usage in whole MiB, as measured at the start or at the last cleaning. */
  status(): JsonOut {
    const usage = this.#usage;
    if (usage === null)
      return { space_used: '0', network_seeding_space_used: '0', running: this.#timer !== null };
    const mib = (bytes: number): number => Math.floor(bytes / MIB);
    return {
      total_used_mb: mib(usage.totalBytes),
      published_blobs_storage_used_mb: mib(usage.privateBytes),
      content_blobs_storage_used_mb: mib(usage.contentBytes),
      seed_blobs_storage_used_mb: mib(usage.networkBytes),
      running: this.#timer !== null,
    };
  }
}
