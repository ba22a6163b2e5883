/**
 * The space that blobs take, and the deletion of blobs that exceed the limits of the settings.
 * Source: lbry-sdk lbry/blob/disk_space_manager.py `DiskSpaceManager`.
 */
import type { JsonOut } from '../../util/jsonWrite.js';
import { failureReason } from '../../util/environmentError.js';
import type { Logger } from '../../util/logging.js';
import type { ContentDatabase } from '../content/contentDatabase.js';
import type { DiskUsage, StoredBlob } from '../content/rows.js';
import type { BlobStore } from './blobStore.js';
import type { Originals } from './originals.js';

const MIB = 1024 * 1024;
/** Source: `cleaning_interval`. */
const INTERVAL_MS = 30 * 60_000;

export interface DiskLimits {
  /** For blobs of streams, own ones counted; 0 for none. */
  readonly contentMib: number;
  /** For blobs of no stream; 0 keeps none. */
  readonly networkMib: number;
}

export interface DiskSpaceDeps {
  readonly database: Pick<ContentDatabase, 'diskUsage' | 'removableContent' | 'removableNetwork'>;
  readonly store: Pick<BlobStore, 'delete'> & { readonly originals: Pick<Originals, 'madeBytes'> };
  /** Read at each cleaning. */
  readonly limits: () => DiskLimits;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** The first of the blobs whose removal brings the sum to the limit; none while it fits. */
function chooseBlobs(blobs: readonly StoredBlob[], usedBytes: number, limitBytes: number): string[] {
  let rest = usedBytes;
  const chosen: string[] = [];
  for (const { hash, lengthBytes } of blobs) {
    if (rest <= limitBytes) break;
    chosen.push(hash);
    rest -= lengthBytes;
  }
  return chosen;
}

export class DiskSpace {
  readonly #deps: DiskSpaceDeps;
  #timer: NodeJS.Timeout | null = null;
  #usage: DiskUsage | null = null;

  constructor(deps: DiskSpaceDeps) {
    this.#deps = deps;
  }

  /** Resolves when the sums are known, and cleans every half an hour from then on. */
  async start(): Promise<void> {
    this.#usage = await this.#measure();
    this.#timer = setInterval(() => {
      this.clean().catch((error: unknown) =>
        this.#deps.log.warn(`Blobs could not be cleaned: ${failureReason(error)}`),
      );
    }, INTERVAL_MS);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  /**
   * Deletes what exceeds the limits. Own blobs and those of pinned streams and channels stay, even where they exceed it alone.
   * QUIRK: lbry-sdk deletes at least one blob though all fit, counts a blob below 1 MiB as nothing, and takes sd blobs of streams
   * for blobs of no stream.
   */
  async clean(): Promise<void> {
    const { database, store, limits, log } = this.#deps;
    const { contentMib, networkMib } = limits();
    const used = await this.#measure();
    const content =
      contentMib === 0
        ? []
        : chooseBlobs(
            await database.removableContent(),
            used.contentBytes + used.privateBytes,
            contentMib * MIB,
          );
    const network = chooseBlobs(await database.removableNetwork(), used.networkBytes, networkMib * MIB);
    const chosen = [...content, ...network];
    if (chosen.length > 0) {
      await store.delete(chosen);
      log.info(`${chosen.length} blobs were deleted, to keep to the limits of the settings.`);
    }
    this.#usage = await this.#measure();
  }

  /** Blobs that are made from files of one's own take no space. */
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

  /** Bytes that blobs of no stream may still take. Source: `get_free_space_mb`. */
  async freeNetworkBytes(): Promise<number> {
    const { database, limits } = this.#deps;
    const { networkBytes } = await database.diskUsage();
    return Math.max(0, limits().networkMib * MIB - networkBytes);
  }

  /** Sums in whole MiB as of the start or the last cleaning. */
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
