/**
 * Downloads blobs that other nodes announced near this node's id, in order to serve them to peers. The downloads are limited
 * by `network_storage_limit`. The blobs belong to streams without a local file and without rows in the database, so they
 * count as network blobs. Source: lbry-sdk lbry/stream/background_downloader.py `BackgroundDownloader`,
 * lbry/extras/daemon/components.py `BackgroundDownloaderComponent`.
 */
import { failureReason } from '../../util/text/environmentError.js';
import type { Logger } from '../../util/logging.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { sleep, type Clock } from '../base/clock.js';
import { DaemonError } from '../base/daemonError.js';
import type { BlobStore } from '../blobs/blobStore.js';
import type { DiskSpace } from '../blobs/diskSpace.js';
import type { ContentDatabase } from '../content/contentDatabase.js';
import type { Announcements } from '../dht/announcements.js';
import { readDescriptor, type StreamDescriptor } from '../content/descriptor.js';
import type { BlobFetcher, FetchOptions } from '../exchange/ports.js';

/** Pause in ms between two rounds of downloads. Source: `download_loop_delay_seconds`. */
const ROUND_MS = 60_000;
const MIB = 1024 * 1024;
/** Minimum free space in bytes for a new download. Source: `download_blobs_in_background`. */
const LEAST_FREE_BYTES = 10 * MIB;
/** Timeout of a data blob, as a multiple of the timeout of a descriptor. Source: `download_stream_blob`. */
const DATA_TIMEOUTS = 10;
/** Milliseconds for which a hash is skipped after an attempt. lbry-sdk instead tries the same failing hash each minute. */
const LEFT_ALONE_MS = 6 * 3600_000;
/** Maximum number of skipped hashes that are remembered. Arbitrary. */
const MAX_LEFT_ALONE = 10_000;

export interface BackgroundDownloaderDeps {
  /** The DHT node; null while the component `dht` does not run. */
  readonly dht: () => {
    readonly nodeId: Buffer;
    readonly announcements: Pick<Announcements, 'keysBeginningWith'>;
  } | null;
  /** Client that downloads blobs; null while no component downloads. */
  readonly fetcher: () => Pick<BlobFetcher, 'fetchBlob'> | null;
  readonly blobs: Pick<BlobStore, 'finished' | 'delete'>;
  readonly database: Pick<ContentDatabase, 'alwaysAnnounce' | 'streamHashOf'>;
  readonly space: Pick<DiskSpace, 'freeNetworkBytes' | 'networkLimitBytes'>;
  /** Whether downloaded blobs are written to disk (setting `save_blobs`). Called in each round. */
  readonly savesBlobs: () => boolean;
  /** Returns the time limit for a descriptor in milliseconds (setting `blob_download_timeout`). Called for each download. */
  readonly blobTimeoutMs: () => number;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn' | 'debug'>;
}

export class BackgroundDownloader {
  readonly #deps: BackgroundDownloaderDeps;
  readonly #stopping = new AbortController();
  /** Skipped hashes, each with the time until which it is not tried again. */
  readonly #leftAlone = new Map<string, number>();
  #rounds: Promise<void> | null = null;
  #ongoing: Promise<void> | null = null;
  #freeBytes: number | null = null;
  /** Limit in bytes for blobs without a stream, as of the last round. */
  #limitBytes = 0;

  constructor(deps: BackgroundDownloaderDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#rounds = this.#work();
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the daemon is stopping'));
    await this.#rounds;
    await this.#ongoing;
    this.#rounds = null;
  }

  /** Member of `status`. `available_free_space_mb` is null before the first round. Source: `get_status`. */
  status(): JsonOut {
    return {
      running: this.#rounds !== null && !this.#stopping.signal.aborted,
      available_free_space_mb: this.#freeBytes === null ? null : Math.floor(this.#freeBytes / MIB),
      ongoing_download: this.#ongoing !== null,
    };
  }

  async #work(): Promise<void> {
    const { clock, log } = this.#deps;
    const { signal } = this.#stopping;
    do
      try {
        await this.#round();
      } catch (error) {
        if (!signal.aborted) log.warn(`The background downloader failed: ${failureReason(error)}.`);
      }
    while (await sleep(clock, ROUND_MS, signal));
  }

  /** Checks the free space. Starts a download if there is enough space and no download is running. */
  async #round(): Promise<void> {
    const { space, savesBlobs } = this.#deps;
    this.#freeBytes = await space.freeNetworkBytes();
    const { networkLimitBytes } = space;
    // Skipped streams may fit into the higher limit.
    if (networkLimitBytes > this.#limitBytes) this.#leftAlone.clear();
    this.#limitBytes = networkLimitBytes;
    if (this.#ongoing !== null || this.#stopping.signal.aborted) return;
    if (this.#freeBytes <= LEAST_FREE_BYTES || !savesBlobs()) return;
    this.#ongoing = this.#downloadOne().finally(() => (this.#ongoing = null));
  }

  /** Downloads one announced stream. If a stream is already complete, continues with the next one. Never rejects. */
  async #downloadOne(): Promise<void> {
    for (const hash of this.#nearHashes()) {
      if (this.#stopping.signal.aborted) return;
      this.#leaveAlone(hash);
      if (await this.#download(hash)) return;
    }
  }

  /**
   * Announced hashes whose first byte equals that of the node's id, except for skipped hashes. Source:
   * `MIN_PREFIX_COLLIDING_BITS`.
   */
  #nearHashes(): string[] {
    const { dht, clock } = this.#deps;
    const node = dht();
    if (node === null) return [];
    const keys = node.announcements.keysBeginningWith(node.nodeId[0]!);
    return keys
      .map((key) => key.toString('hex'))
      .filter((hash) => (this.#leftAlone.get(hash) ?? -Infinity) <= clock.nowMs());
  }

  #leaveAlone(hash: string): void {
    this.#leftAlone.delete(hash);
    if (this.#leftAlone.size >= MAX_LEFT_ALONE) {
      const [oldest] = this.#leftAlone.keys();
      this.#leftAlone.delete(oldest!);
    }
    this.#leftAlone.set(hash, this.#deps.clock.nowMs() + LEFT_ALONE_MS);
  }

  /**
   * Downloads the blob and, if it is a descriptor, the blobs of its stream. Resolves to whether a blob was requested. Never
   * rejects. An interrupted stream continues at the next attempt.
   */
  async #download(hash: string): Promise<boolean> {
    const { log, database, blobs, space } = this.#deps;
    const wasThere = blobs.finished.has(hash);
    try {
      // Streams that the database knows are downloaded only at the user's request.
      if ((await database.streamHashOf(hash)) !== null) return false;
      const bytes = await this.#fetch(hash, hash, null, 1);
      // The blob is announced permanently, because peers search it by this hash, whatever its content is.
      if (!wasThere) await database.alwaysAnnounce([hash]);
      const data = descriptorIn(bytes)?.blobs.filter(({ blobHash }) => blobHash !== null) ?? [];
      const missing = new Map(data.map(({ blobHash, length }) => [blobHash!, length]));
      for (const one of missing.keys()) if (blobs.finished.has(one)) missing.delete(one);
      const neededBytes = [...missing.values()].reduce((sum, length) => sum + length, 0);
      if (neededBytes > (await space.freeNetworkBytes())) {
        // The descriptor is deleted again, because it is useless to peers without the data blobs.
        if (!wasThere) await blobs.delete([hash]);
        log.debug('net', () => `stream ${hash} is too large for the remaining disk space`);
        return true;
      }
      const { networkLimitBytes: allowedBytes } = space;
      for (const [one, length] of missing) {
        if (space.networkLimitBytes < allowedBytes && length > (await space.freeNetworkBytes()))
          throw new Error('network_storage_limit became too small');
        await this.#fetch(one, hash, length, DATA_TIMEOUTS, { into: null });
      }
      if (missing.size > 0)
        log.info(
          `The background downloader has downloaded data blobs of the stream ${hash}: ${missing.size}.`,
        );
      return !wasThere || missing.size > 0;
    } catch (error) {
      log.debug('net', () => `the background download of ${hash} ended: ${failureReason(error)}`);
      return true;
    }
  }

  async #fetch(
    hash: string,
    sdHash: string,
    lengthBytes: number | null,
    timeouts: number,
    target: Pick<FetchOptions, 'into'> = {},
  ): Promise<Uint8Array> {
    const { fetcher, clock, blobTimeoutMs } = this.#deps;
    const running = fetcher();
    if (running === null) throw new Error('the component that downloads blobs is not running');
    const late = new AbortController();
    const timer = clock.after(timeouts * blobTimeoutMs(), () =>
      late.abort(new Error('no blob arrived in time')),
    );
    try {
      const signal = AbortSignal.any([late.signal, this.#stopping.signal]);
      return await running.fetchBlob(hash, lengthBytes, { sdHash, signal, urgency: 'ahead', ...target });
    } finally {
      timer.cancel();
    }
  }
}

/** Parses a descriptor. Returns null for any other blob, which is stored as a single blob. */
function descriptorIn(bytes: Uint8Array): StreamDescriptor | null {
  try {
    return readDescriptor(bytes);
  } catch (error) {
    if (error instanceof DaemonError) return null;
    throw error;
  }
}
