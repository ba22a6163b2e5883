/**
 * Blobs of a reflector in an object store. A received blob is written to the local disk and waits there for its upload. For
 * all other blobs the local disk is a cache of limited size. Bytes from the store are verified against their hash before
 * use. Blobs that another reflector uploaded are found on request.
 */
import { EnvironmentError, failureReason } from '../../util/text/environmentError.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { Logger } from '../../util/logging.js';
import { BlobUnavailableError } from '../base/blobUnavailable.js';
import { sleep, type Clock } from '../base/clock.js';
import { DaemonError } from '../base/daemonError.js';
import { MissMemory } from '../base/missMemory.js';
import { TaskSlots } from '../../scheduler/taskSlots.js';
import type { BlobStore } from '../blobs/blobStore.js';
import { blobHashOf, isBlobHash } from '../content/blobHash.js';
import type { ContentDatabase } from '../content/contentDatabase.js';
import { readDescriptor, type StreamDescriptor } from '../content/descriptor.js';
import { bytesOf, type BlobBytes } from '../content/incomingBlob.js';
import type { DueUpload } from '../content/offsiteRows.js';
import { DiskCache } from './diskCache.js';
import { ObjectStoreError, type S3Bucket } from './s3Bucket.js';
import { StoreHealth } from './storeHealth.js';
import { Uploads } from './uploads.js';

/** Maximum number of concurrent reads from the object store, and of reads that wait. Arbitrary: bounds the memory to 32 MiB. */
const FETCHES = [8, 64] as const;
/** Maximum number of concurrent searches of the object store for unknown blobs, and of searches that wait. Arbitrary. */
const FINDS = [8, 256] as const;
/** Time in ms for which a blob that the store lacked is not requested from the store again. Arbitrary. */
const MISS_MS = 30_000;
/**
 * Number of attempts to read a blob, and milliseconds between them. Some stores return a new object only after a delay.
 * Arbitrary.
 */
const ATTEMPTS = 2;
const RETRY_MS = 500;

export interface OffsiteBlobsDeps {
  readonly local: Pick<BlobStore, 'finished' | 'read' | 'openParts' | 'write' | 'delete' | 'evict'>;
  readonly database: Pick<
    ContentDatabase,
    | 'openOffsite'
    | 'noteWaiting'
    | 'noteStored'
    | 'dueUploads'
    | 'noteFound'
    | 'ofKnownStreams'
    | 'keepFinished'
    | 'loseOffsite'
    | 'waitAgain'
    | 'noteUsed'
    | 'ownOffsiteBytes'
    | 'addStream'
  >;
  readonly bucket: Pick<S3Bucket, 'put' | 'head' | 'get'>;
  /** Name of the bucket for display: `s3://bucket/prefix`. */
  readonly name: string;
  readonly endpoint: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Returns the size limit of the disk cache in bytes. Called for each blob. */
  readonly cacheBytes: () => number;
  /** Called when blobs that waited for their upload were lost. */
  readonly onLost: () => void;
  readonly stopping: AbortSignal;
}

/** A complete stream that another reflector uploaded. */
export interface FoundStream {
  readonly sdHash: string;
  /** Hashes of all blobs of the stream, including the descriptor. */
  readonly hashes: readonly string[];
}

interface OpenBytes {
  readonly lengthBytes: number;
  read(at: number, count: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

export class OffsiteBlobs {
  readonly finished: { has(hash: string): boolean; readonly size: number };
  readonly #deps: OffsiteBlobsDeps;
  readonly #offsite = new Set<string>();
  readonly #cache: DiskCache;
  readonly #health: StoreHealth;
  readonly #uploads: Uploads;
  readonly #fetches = new TaskSlots(...FETCHES);
  readonly #finds = new TaskSlots(...FINDS);
  readonly #misses = new MissMemory(MISS_MS);
  /** Reads and searches that are running, by blob hash. */
  readonly #fetching = new Map<string, Promise<Uint8Array | null>>();
  readonly #finding = new Map<string, Promise<FoundStream | null>>();
  #blocked: readonly string[] = [];
  #fetched = 0;

  constructor(deps: OffsiteBlobsDeps) {
    this.#deps = deps;
    const { local, database, clock, random, log, name, stopping } = deps;
    const offsite = this.#offsite;
    const cache = new DiskCache({
      ...deps,
      isInStore: (hash, lengthBytes) => this.#isInStore(hash, lengthBytes),
      onMissing: async (hash) => {
        offsite.delete(hash);
        await database.waitAgain(hash);
        this.#uploads.poke();
      },
    });
    this.#cache = cache;
    this.finished = {
      has: (hash) => offsite.has(hash) || local.finished.has(hash),
      get size() {
        return offsite.size + cache.waiting.count;
      },
    };
    this.#health = new StoreHealth({
      name,
      clock,
      random,
      log,
      waiting: () => ({ blobs: cache.waiting.count, bytes: cache.waiting.bytes }),
    });
    this.#uploads = new Uploads({
      clock,
      log,
      stopping,
      health: this.#health,
      due: (limit, except) => database.dueUploads(limit, this.#blocked, except),
      send: (blob) => this.#upload(blob),
    });
  }

  /** Resumes the uploads of an earlier run. The disk store must be open. */
  async open(): Promise<void> {
    const { database, local, name, endpoint, log } = this.#deps;
    const { isMoved, stored, waiting } = await database.openOffsite(`${endpoint} ${name}`);
    if (isMoved)
      log.warn(
        `The blob store is now ${name} at ${endpoint}, and was another one before: all blobs on this disk ` +
          'are uploaded to it, and blobs that are only in the other store are not served.',
      );
    for (const { hash } of stored) this.#offsite.add(hash);
    this.#cache.load(
      waiting,
      stored.filter(({ hash }) => local.finished.has(hash)),
    );
    this.#uploads.start();
    await this.#cache.shrink();
  }

  /** Sets the blocked streams, whose blobs are not uploaded. */
  setBlocked(sdHashes: ReadonlySet<string>): void {
    this.#blocked = [...sdHashes];
    this.#uploads.poke();
  }

  /** Number of bytes that this reflector received from uploaders. Blobs that it found in the store do not count. */
  usedBytes(): Promise<number> {
    return this.#deps.database.ownOffsiteBytes();
  }

  /**
   * Whether a blob can be accepted, because the disk has space for blobs that wait for their upload. Blobs of unknown
   * streams may use only half of the space, because they are not uploaded until their stream is known.
   */
  async mayTake(hash: string, isDescriptor: boolean): Promise<boolean> {
    const limit = this.#deps.cacheBytes();
    const { waiting, bytes } = this.#cache;
    if (waiting.bytes >= limit || (this.#health.isDegraded && bytes >= limit)) return false;
    if (isDescriptor || waiting.bytes < limit / 2) return true;
    return (await this.#deps.database.ofKnownStreams([hash])).length > 0;
  }

  /**
   * Stores a blob on the local disk, like `BlobStore.write`: resolves to true when the blob is on disk. The blob is uploaded
   * once its stream is known.
   */
  async write(hash: string, blob: BlobBytes): Promise<boolean> {
    const { local, database, clock } = this.#deps;
    const { length } = bytesOf(blob);
    if (!(await local.write(hash, blob))) return false;
    if (this.#offsite.has(hash)) {
      this.#cache.addStored(hash, length);
      return true;
    }
    await database.noteWaiting({ hash, lengthBytes: length }, clock.nowSec());
    this.#cache.addWaiting(hash, length);
    this.#misses.forget(hash);
    return true;
  }

  /** Called when the database rows of written blobs are complete, so that the blobs may be uploaded. */
  taken(): void {
    this.#uploads.poke();
    void this.#cache.shrink();
  }

  async #upload({ hash, sdHash }: DueUpload): Promise<void> {
    const { local, bucket, database } = this.#deps;
    const bytes = await local.read(hash);
    if (bytes === null) {
      await this.#lose(hash);
      this.#deps.onLost();
      return;
    }
    await bucket.put(hash, bytes, sdHash);
    await database.noteStored(hash);
    this.#offsite.add(hash);
    this.#cache.addStored(hash, bytes.length);
    this.#uploads.poke();
    await this.#cache.shrink();
  }

  /** Whether the object store has the blob; null if it is unreachable. */
  async #isInStore(hash: string, lengthBytes: number): Promise<boolean | null> {
    try {
      const head = await this.#deps.bucket.head(hash);
      this.#health.worked();
      return head?.lengthBytes === lengthBytes;
    } catch (error) {
      this.#failed(error);
      return null;
    }
  }

  #failed(error: unknown): void {
    if (!(error instanceof ObjectStoreError)) throw error;
    if (!this.#deps.stopping.aborted) this.#health.failed(error);
  }

  /** Updates the state after a blob was lost both on disk and in the store. */
  async #lose(hash: string): Promise<void> {
    this.#offsite.delete(hash);
    this.#cache.remove(hash);
    await this.#deps.database.loseOffsite([hash]);
  }

  /**
   * Reads a blob from the local disk or, if it is not there, from the store. Resolves to null if neither has the blob with
   * correct bytes. Rejects with `BlobUnavailableError` if the store is unreachable.
   */
  async read(hash: string): Promise<Uint8Array | null> {
    const { local } = this.#deps;
    if (local.finished.has(hash)) {
      this.#cache.touch(hash);
      const bytes = await local.read(hash);
      if (bytes !== null) return bytes;
      await this.#mend(hash);
    }
    return this.#offsite.has(hash) ? this.#fetch(hash) : null;
  }

  /** Like `read`, but returns an object that reads the bytes in parts. The blob is then on disk, unless writing failed. */
  async openParts(hash: string): Promise<OpenBytes | null> {
    const { local } = this.#deps;
    for (;;) {
      if (local.finished.has(hash)) {
        this.#cache.touch(hash);
        const open = await local.openParts(hash);
        if (open !== null) return open;
        if (!local.finished.has(hash)) await this.#mend(hash);
      }
      if (!this.#offsite.has(hash)) return null;
      const bytes = await this.#fetch(hash);
      if (bytes === null) return null;
      if (!local.finished.has(hash)) return inMemory(bytes);
    }
  }

  /** Updates the state of a blob whose file is corrupt or missing. The database has recorded the loss before. */
  async #mend(hash: string): Promise<void> {
    if (this.#deps.local.finished.has(hash)) return;
    if (!this.#offsite.has(hash)) {
      await this.#lose(hash);
      return;
    }
    this.#cache.remove(hash);
    await this.#deps.database.keepFinished(hash);
  }

  /** Downloads a blob from the object store to the local disk. Concurrent calls for one blob share the download. */
  #fetch(hash: string): Promise<Uint8Array | null> {
    const running = this.#fetching.get(hash);
    if (running) return running;
    if (this.#fetches.isFull) throw new BlobUnavailableError('too many blobs are being read from the store');
    const fetching = this.#fetches.run(() => this.#fetchNow(hash)).finally(() => this.#fetching.delete(hash));
    this.#fetching.set(hash, fetching);
    return fetching;
  }

  async #fetchNow(hash: string): Promise<Uint8Array | null> {
    const { bucket, clock, stopping, log } = this.#deps;
    let problem: 'missing' | 'wrong' | ObjectStoreError = 'missing';
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      if (attempt > 1 && !(await sleep(clock, RETRY_MS, stopping))) break;
      try {
        const bytes = await bucket.get(hash);
        this.#health.worked();
        problem = bytes === null ? 'missing' : 'wrong';
        if (bytes !== null && (await this.#keep(hash, bytes))) return bytes;
      } catch (error) {
        this.#failed(error);
        problem = error as ObjectStoreError;
      }
    }
    if (problem instanceof ObjectStoreError || stopping.aborted)
      throw new BlobUnavailableError(`the blob store cannot be read: ${(problem as Error).message}`);
    const what = problem === 'missing' ? 'has lost' : 'has other contents for';
    log.warn(`The blob store ${what} the blob ${hash}. The blob is not served until it is uploaded again.`);
    await this.#lose(hash);
    return null;
  }

  /** Writes a blob from the object store to the local disk. Returns false if the bytes do not have the hash. */
  async #keep(hash: string, bytes: Uint8Array): Promise<boolean> {
    const { local, log } = this.#deps;
    try {
      if (!(await local.write(hash, bytes))) return false;
      this.#fetched++;
      this.#cache.addStored(hash, bytes.length);
      void this.#cache.shrink();
      return true;
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      log.warn(`A blob from the blob store could not be saved on this disk: ${failureReason(error)}.`);
      return blobHashOf(bytes) === hash;
    }
  }

  /**
   * Searches the store for a blob of another reflector and adopts its stream. Returns null if the blob is known, the store
   * has no complete stream with it, the stream is blocked, or the store is unreachable.
   */
  async find(hash: string, isBlocked: (sdHash: string) => boolean): Promise<FoundStream | null> {
    if (this.#isUseless(hash)) return null;
    const running = this.#finding.get(hash);
    if (running) return running;
    const finding = this.#finds
      .run(() => this.#findNow(hash, isBlocked))
      .catch((error: unknown) => {
        this.#failed(error);
        return null;
      })
      .finally(() => this.#finding.delete(hash));
    this.#finding.set(hash, finding);
    return finding;
  }

  #isUseless(hash: string): boolean {
    const isKnown = this.finished.has(hash) || this.#misses.has(hash, this.#deps.clock.nowMs());
    return isKnown || this.#health.isDegraded || this.#deps.stopping.aborted;
  }

  async #findNow(hash: string, isBlocked: (sdHash: string) => boolean): Promise<FoundStream | null> {
    const { bucket, clock } = this.#deps;
    const head = await bucket.head(hash);
    this.#health.worked();
    const sdHash = head?.sdHash;
    if (isBlobHash(sdHash) && isBlocked(sdHash)) return null;
    // The descriptor of a stream is uploaded last, so its presence in the store means that the stream is complete.
    const bytes = isBlobHash(sdHash) ? await bucket.get(sdHash) : null;
    const descriptor = bytes === null ? null : verified(sdHash!, bytes);
    const blobs = (descriptor?.blobs ?? []).flatMap(({ blobHash, length }) =>
      blobHash === null ? [] : [{ hash: blobHash, lengthBytes: length }],
    );
    if (descriptor === null || (hash !== sdHash && !blobs.some((blob) => blob.hash === hash))) {
      this.#misses.note(hash, clock.nowMs());
      return null;
    }
    return this.#takeOver(sdHash!, bytes!, descriptor, blobs);
  }

  async #takeOver(
    sdHash: string,
    bytes: Uint8Array,
    descriptor: StreamDescriptor,
    data: readonly { readonly hash: string; readonly lengthBytes: number }[],
  ): Promise<FoundStream> {
    const { database, clock } = this.#deps;
    const addedOn = clock.nowSec();
    await database.addStream({ descriptor, sdHash, sdLengthBytes: bytes.length, addedOn, isMine: false });
    await database.noteFound([...data, { hash: sdHash, lengthBytes: bytes.length }], addedOn);
    const hashes = [...data.map(({ hash }) => hash), sdHash];
    for (const hash of hashes) this.#noteOffsite(hash);
    await this.#keep(sdHash, bytes);
    return { sdHash, hashes };
  }

  #noteOffsite(hash: string): void {
    this.#offsite.add(hash);
    this.#misses.forget(hash);
    this.#cache.nowStored(hash);
  }

  /**
   * Checks whether the store already has an offered blob of a known stream, so that the uploader need not send it. `onFound`
   * is called before `finished` includes the blob.
   */
  async adopt(hash: string, onFound: () => void): Promise<boolean> {
    if (this.#isUseless(hash)) return false;
    const { database, bucket, clock } = this.#deps;
    if ((await database.ofKnownStreams([hash])).length === 0) return false;
    try {
      const head = await this.#finds.run(() => bucket.head(hash));
      if (head === null) return false;
      this.#health.worked();
      if (!isBlobHash(head.sdHash)) return false;
      await database.noteFound([{ hash, lengthBytes: head.lengthBytes }], clock.nowSec());
      onFound();
      this.#noteOffsite(hash);
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  /**
   * Removes blobs from the database and the local disk. The objects in the store are not deleted, because other reflectors
   * may use them.
   */
  async delete(hashes: readonly string[]): Promise<void> {
    await this.#deps.database.loseOffsite(hashes);
    for (const hash of hashes) {
      this.#offsite.delete(hash);
      this.#cache.remove(hash);
    }
    await this.#deps.local.delete(hashes);
  }

  /** Warning for `status` while requests to the store fail; null while the store works. */
  get warning(): string | null {
    return this.#health.warning;
  }

  status(): JsonOut {
    const { waiting, stored, bytes } = this.#cache;
    return {
      place: this.#deps.name,
      endpoint: this.#deps.endpoint,
      state: this.#health.isDegraded ? 'degraded' : 'ok',
      reason: this.#health.reason,
      stored_blobs: this.#offsite.size,
      waiting_blobs: waiting.count,
      waiting_bytes: waiting.bytes,
      uploads: this.#uploads.running,
      uploaded_blobs: this.#uploads.sent,
      fetched_blobs: this.#fetched,
      cached_blobs: stored.count,
      disk_bytes: bytes,
      disk_limit_bytes: this.#deps.cacheBytes(),
    };
  }

  /**
   * Ends uploads and reads. Abort the signal `stopping` before, and close the database and the disk store after.
   */
  async close(): Promise<void> {
    await this.#uploads.ended();
    await Promise.allSettled([...this.#fetching.values(), ...this.#finding.values()]);
    await this.#cache.close();
  }
}

function inMemory(bytes: Uint8Array): OpenBytes {
  return {
    lengthBytes: bytes.length,
    read: (at, count) => Promise.resolve(bytes.subarray(at, at + count)),
    close: () => Promise.resolve(),
  };
}

/** Parses a descriptor; null if the bytes do not have the hash or are invalid. */
function verified(sdHash: string, bytes: Uint8Array): StreamDescriptor | null {
  if (blobHashOf(bytes) !== sdHash) return null;
  try {
    return readDescriptor(bytes);
  } catch (error) {
    if (error instanceof DaemonError) return null;
    throw error;
  }
}
