/**
 * The blobs of a reflector that are in an object store. A blob that comes is written to this disk first and waits there
 * until the store has it; the disk is a cache of the others, bounded in size. Bytes from the store are checked against their
 * hash before anyone gets them. Blobs that another reflector put into the store are found when someone asks for them.
 */
import { EnvironmentError, failureReason } from '../../util/text/environmentError.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { Logger } from '../../util/logging.js';
import { BlobUnavailableError } from '../base/blobUnavailable.js';
import { sleep, type Clock } from '../base/clock.js';
import { DaemonError } from '../base/daemonError.js';
import { MissMemory } from '../base/missMemory.js';
import { Slots } from '../base/slots.js';
import type { BlobStore } from '../blobs/blobStore.js';
import { blobHashOf, isBlobHash } from '../content/blobHash.js';
import type { ContentDatabase } from '../content/contentDatabase.js';
import { readDescriptor, type StreamDescriptor } from '../content/descriptor.js';
import type { DueUpload } from '../content/offsiteRows.js';
import { DiskCache } from './diskCache.js';
import { ObjectStoreError, type S3Bucket } from './s3Bucket.js';
import { StoreHealth } from './storeHealth.js';
import { Uploads } from './uploads.js';

/** Blobs that are read from the store at a time, and how many more wait. Arbitrary: 32 MiB. */
const FETCHES = [8, 64] as const;
/** Questions about blobs that are not known, the same. Arbitrary. */
const FINDS = [8, 256] as const;
/** How long a blob that the store has not got is not asked for again. Arbitrary. */
const MISS_MS = 30_000;
/** Attempts to read a blob, and the pause between them: some stores show an object late. Arbitrary. */
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
  /** `s3://bucket/prefix`, for people. */
  readonly name: string;
  readonly endpoint: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Bytes of blobs on this disk. Read at each use. */
  readonly cacheBytes: () => number;
  /** Blobs that waited on this disk were lost there. */
  readonly onLost: () => void;
  readonly stopping: AbortSignal;
}

/** A complete stream that another reflector put into the store. */
export interface FoundStream {
  readonly sdHash: string;
  /** The hashes of all its blobs, the descriptor too. */
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
  readonly #fetches = new Slots(...FETCHES);
  readonly #finds = new Slots(...FINDS);
  readonly #misses = new MissMemory(MISS_MS);
  /** Reads and searches that are under way, by hash. */
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

  /** Takes up what waits. The store on disk must be open. */
  async open(): Promise<void> {
    const { database, local, name, endpoint, log } = this.#deps;
    const { isMoved, stored, waiting } = await database.openOffsite(`${endpoint} ${name}`);
    if (isMoved)
      log.warn(
        `The blob store is ${name} at ${endpoint} now, another one than before: all blobs on this disk are sent there, and those ` +
          'that only the other store has are not given out.',
      );
    for (const { hash } of stored) this.#offsite.add(hash);
    this.#cache.load(
      waiting,
      stored.filter(({ hash }) => local.finished.has(hash)),
    );
    this.#uploads.start();
    await this.#cache.shrink();
  }

  /** Streams whose blobs are not sent to the store. */
  setBlocked(sdHashes: ReadonlySet<string>): void {
    this.#blocked = [...sdHashes];
    this.#uploads.poke();
  }

  /** What this reflector took; not what it found in the store. */
  usedBytes(): Promise<number> {
    return this.#deps.database.ownOffsiteBytes();
  }

  /**
   * Whether a blob can be taken now. The disk must have room for what waits; blobs of streams that are not known never go to
   * the store, so they get half of it.
   */
  async mayTake(hash: string, isDescriptor: boolean): Promise<boolean> {
    const limit = this.#deps.cacheBytes();
    const { waiting, bytes } = this.#cache;
    if (waiting.bytes >= limit || (this.#health.isDegraded && bytes >= limit)) return false;
    if (isDescriptor || waiting.bytes < limit / 2) return true;
    return (await this.#deps.database.ofKnownStreams([hash])).length > 0;
  }

  /** Like `BlobStore.write`: true means that the blob is on disk; it is uploaded once its stream is known. */
  async write(hash: string, bytes: Uint8Array): Promise<boolean> {
    const { local, database, clock } = this.#deps;
    if (!(await local.write(hash, bytes))) return false;
    if (this.#offsite.has(hash)) {
      this.#cache.addStored(hash, bytes.length);
      return true;
    }
    await database.noteWaiting({ hash, lengthBytes: bytes.length }, clock.nowSec());
    this.#cache.addWaiting(hash, bytes.length);
    this.#misses.forget(hash);
    return true;
  }

  /** The rows of what was written are complete: it may go to the store. */
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

  /** Null if the store cannot be asked. */
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

  /** Neither the disk nor the store has the blob any more. */
  async #lose(hash: string): Promise<void> {
    this.#offsite.delete(hash);
    this.#cache.remove(hash);
    await this.#deps.database.loseOffsite([hash]);
  }

  /** Null as `BlobStore.read`. Throws `BlobUnavailableError` where the store cannot be read now. */
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

  /** Like `read`, in parts; the blob is then on disk, unless the disk fails. */
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

  /** The file of a blob is damaged or gone, which the database was told. */
  async #mend(hash: string): Promise<void> {
    if (this.#deps.local.finished.has(hash)) return;
    if (!this.#offsite.has(hash)) {
      await this.#lose(hash);
      return;
    }
    this.#cache.remove(hash);
    await this.#deps.database.keepFinished(hash);
  }

  /** Brings a blob from the store to this disk; calls for one blob share the work. */
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
    const what = problem === 'missing' ? 'has lost' : 'has other bytes in the place of';
    log.warn(`The blob store ${what} the blob ${hash}. It is not given out until it is sent again.`);
    await this.#lose(hash);
    return null;
  }

  /** Writes a blob from the store to this disk. False if the bytes have another hash. */
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
      log.warn(`A blob from the blob store could not be kept on this disk: ${failureReason(error)}.`);
      return blobHashOf(bytes) === hash;
    }
  }

  /**
   * Looks for a blob that another reflector put into the store, and takes over its stream. Null if the blob is known, the
   * store has no complete stream with it, the stream is blocked, or the store cannot be asked.
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
    // A descriptor is put last: where it is, the stream is complete.
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
   * Whether the store has a blob of a known stream that is offered: then it need not be sent. `onFound` is called before
   * `finished` shows it.
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

  /** Forgets blobs and removes their files. Nothing is removed from the store: other reflectors may use it. */
  async delete(hashes: readonly string[]): Promise<void> {
    await this.#deps.database.loseOffsite(hashes);
    for (const hash of hashes) {
      this.#offsite.delete(hash);
      this.#cache.remove(hash);
    }
    await this.#deps.local.delete(hashes);
  }

  /** A line for `status` where the store fails; null if it works. */
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

  /** `stopping` must be aborted before; the database and the store on disk must still be open. */
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

/** The descriptor in the bytes; null if they have another hash or hold none. */
function verified(sdHash: string, bytes: Uint8Array): StreamDescriptor | null {
  if (blobHashOf(bytes) !== sdHash) return null;
  try {
    return readDescriptor(bytes);
  } catch (error) {
    if (error instanceof DaemonError) return null;
    throw error;
  }
}
