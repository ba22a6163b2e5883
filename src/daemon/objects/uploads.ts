/**
 * Uploads blobs to the object store. The queue is in the database, so that nothing is lost if the process is killed. A few
 * uploads run concurrently. While the store fails, only one upload is attempted after each pause.
 */
import { failureReason } from '../../util/text/environmentError.js';
import type { Logger } from '../../util/logging.js';
import { sleep, type Clock } from '../base/clock.js';
import type { DueUpload } from '../content/offsiteRows.js';
import { ObjectStoreError } from './s3Bucket.js';
import type { StoreHealth } from './storeHealth.js';

/**
 * Number of concurrent uploads. Each upload needs twice the size of its blob in memory. Arbitrary: bounds the memory to 16
 * MiB.
 */
const PARALLEL = 4;
/** Number of waiting blobs that one database query returns. Arbitrary. */
const BATCH = 64;
/** Pause in ms after a local failure such as a full disk. Arbitrary. */
const PAUSE_MS = 10_000;
/** Number of failures of the same blob after which the log names the blob. Arbitrary. */
const NOTABLE_FAILURES = 3;

export interface UploadsDeps {
  readonly clock: Clock;
  readonly health: StoreHealth;
  readonly log: Pick<Logger, 'warn'>;
  readonly stopping: AbortSignal;
  /** Returns at most `limit` blobs that must be uploaded, without those in `except`. */
  readonly due: (limit: number, except: readonly string[]) => Promise<DueUpload[]>;
  /** Uploads a blob. Rejects with `ObjectStoreError` if the store does not accept it. */
  readonly send: (blob: DueUpload) => Promise<void>;
}

export class Uploads {
  readonly #deps: UploadsDeps;
  /**
   * Blobs whose upload failed, with their numbers of failures. Blobs that are not due are removed when no other blob
   * is due.
   */
  readonly #failed = new Map<string, number>();
  #wake: () => void = () => undefined;
  #isPoked = true;
  #done: Promise<void> = Promise.resolve();
  /** Number of uploads in progress. */
  running = 0;
  sent = 0;

  constructor(deps: UploadsDeps) {
    this.#deps = deps;
    deps.stopping.addEventListener('abort', () => this.poke(), { once: true });
  }

  start(): void {
    this.#done = this.#run();
  }

  /** Wakes the loop of uploads. Call when a blob may have to be uploaded. */
  poke(): void {
    this.#isPoked = true;
    this.#wake();
  }

  /** Resolves when no upload is running. Abort `stopping` before the call. */
  ended(): Promise<void> {
    return this.#done;
  }

  async #run(): Promise<void> {
    const { clock, stopping, health, log } = this.#deps;
    while (!stopping.aborted) {
      try {
        const due = await this.#next();
        if (due.length === 0) await this.#poked();
        else await this.#sendAll(due);
        if (health.pauseMs > 0) await sleep(clock, health.pauseMs, stopping);
      } catch (error) {
        if (stopping.aborted) return;
        log.warn(`Blobs could not be sent to the blob store: ${failureReason(error)}.`);
        await sleep(clock, PAUSE_MS, stopping);
      }
    }
  }

  /**
   * Returns the blobs to upload next. Blobs whose upload failed before are last. While the store fails, only one blob is
   * returned.
   */
  async #next(): Promise<DueUpload[]> {
    this.#isPoked = false;
    const limit = this.#deps.health.pauseMs > 0 || this.#deps.health.isDegraded ? 1 : BATCH;
    const due = await this.#deps.due(limit, [...this.#failed.keys()].slice(-BATCH));
    if (due.length > 0 || this.#failed.size === 0) return due;
    const again = await this.#deps.due(BATCH, []);
    // Removes the records of failures for blobs that do not wait any more.
    const hashes = new Set(again.map(({ hash }) => hash));
    for (const hash of this.#failed.keys()) if (!hashes.has(hash)) this.#failed.delete(hash);
    const fewest = again.toSorted(
      (a, b) => (this.#failed.get(a.hash) ?? 0) - (this.#failed.get(b.hash) ?? 0),
    );
    return fewest.slice(0, limit);
  }

  async #poked(): Promise<void> {
    if (this.#isPoked) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Uploads the blobs concurrently. Stops early when the store fails. */
  async #sendAll(due: readonly DueUpload[]): Promise<void> {
    const rest = [...due];
    const { stopping } = this.#deps;
    let isFailing = false;
    const work = async (): Promise<void> => {
      for (let blob = rest.shift(); blob && !isFailing && !stopping.aborted; blob = rest.shift())
        if (!(await this.#send(blob))) isFailing = true;
    };
    const works = await Promise.allSettled(Array.from({ length: PARALLEL }, work));
    for (const one of works) if (one.status === 'rejected') throw one.reason;
  }

  async #send(blob: DueUpload): Promise<boolean> {
    const { health, log, stopping, send } = this.#deps;
    this.running++;
    try {
      await send(blob);
      this.sent++;
      this.#failed.delete(blob.hash);
      health.worked();
      return true;
    } catch (error) {
      if (!(error instanceof ObjectStoreError)) throw error;
      if (stopping.aborted) return false;
      const failures = (this.#failed.get(blob.hash) ?? 0) + 1;
      // Moves the blob to the end of the map, so that the map is sorted by the time of the last failure.
      this.#failed.delete(blob.hash);
      this.#failed.set(blob.hash, failures);
      health.failed(error);
      if (failures === NOTABLE_FAILURES && !health.isDegraded)
        log.warn(`The blob store refused the blob ${blob.hash}: ${error.message}. The upload is retried.`);
      return false;
    } finally {
      this.running--;
    }
  }
}
