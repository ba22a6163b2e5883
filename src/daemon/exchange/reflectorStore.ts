/**
 * Storage of a reflector: uploaded streams in a separate blob store and content database. It serves only blobs of complete
 * streams that are not blocked.
 */
import type { Clock } from '../base/clock.js';
import { DaemonError } from '../base/daemonError.js';
import type { BlobStore } from '../blobs/blobStore.js';
import type { ContentDatabase } from '../content/contentDatabase.js';
import { readDescriptor, type StreamDescriptor } from '../content/descriptor.js';
import { bytesOf, type BlobBytes } from '../content/incomingBlob.js';
import type { OffsiteBlobs } from '../objects/offsiteBlobs.js';
import type { BlobReader, OpenBlob } from './ports.js';

/**
 * Age in seconds at which blobs without a stream are deleted. The descriptor of a stream may arrive after its blobs.
 * Arbitrary.
 */
const ORPHAN_SEC = 86_400;
const MEGABYTE = 1_000_000;

/** Storage of blobs, on this disk or in an object store. Only an object store implements the optional members. */
export interface ReflectorBlobs
  extends
    Pick<BlobStore, 'write' | 'delete'>,
    Pick<BlobReader, 'read' | 'finished'>,
    Required<Pick<BlobReader, 'openParts'>>,
    Partial<Pick<OffsiteBlobs, 'find' | 'adopt' | 'mayTake' | 'usedBytes' | 'taken' | 'setBlocked'>> {}

export interface ReflectorStoreDeps {
  readonly blobs: ReflectorBlobs;
  readonly database: Pick<
    ContentDatabase,
    | 'addStream'
    | 'streamHashOf'
    | 'blobsOfStream'
    | 'withheldBlobs'
    | 'completedWith'
    | 'orphans'
    | 'diskUsage'
  >;
  readonly clock: Clock;
  /** Returns the quota in megabytes (setting `reflector_quota`); 0 means no limit. Called for each blob. */
  readonly quotaMb: () => number;
}

/** Answer of a reflector to the offer of a descriptor. */
export type StreamOffer =
  | { readonly kind: 'wanted' }
  | { readonly kind: 'known'; readonly missing: readonly string[] }
  | { readonly kind: BlobRefusal };

/** Disk space for a blob that a client sends. */
export interface Reservation {
  readonly hash: string;
  /** 0 after the blob counts towards `usedBytes`. */
  sizeBytes: number;
}

/** Reason for refusing a blob. `busy`: the object store does not respond and the disk is full. */
export type BlobRefusal = 'blocked' | 'full' | 'busy';

export class ReflectorStore implements BlobReader {
  readonly #deps: ReflectorStoreDeps;
  /** Hashes of stored blobs that are not served, because their stream is incomplete. */
  #withheld = new Set<string>();
  #blocked: ReadonlySet<string> = new Set();
  /** Blobs whose bytes have arrived and are being stored. */
  readonly #writing = new Map<string, Promise<unknown>>();
  #usedBytes = 0;
  readonly #reservations = new Set<Reservation>();
  readonly finished: BlobReader['finished'];

  constructor(deps: ReflectorStoreDeps) {
    this.#deps = deps;
    this.finished = { has: (hash) => deps.blobs.finished.has(hash) && !this.#withheld.has(hash) };
  }

  async open(): Promise<void> {
    await this.#withhold();
    this.#usedBytes = await this.#measure();
  }

  async #measure(): Promise<number> {
    const { blobs, database } = this.#deps;
    return blobs.usedBytes ? blobs.usedBytes() : (await database.diskUsage()).totalBytes;
  }

  /** Computes again which blobs are withheld. Call after blobs were lost. */
  reload(): Promise<void> {
    return this.#withhold();
  }

  async #withhold(): Promise<void> {
    this.#withheld = new Set(await this.#deps.database.withheldBlobs([...this.#blocked]));
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  get blockedCount(): number {
    return this.#blocked.size;
  }

  /** Sets the descriptors of blocked streams, which are neither accepted nor served. */
  async setBlocked(sdHashes: ReadonlySet<string>): Promise<void> {
    this.#blocked = sdHashes;
    this.#deps.blobs.setBlocked?.(sdHashes);
    await this.#withhold();
  }

  /** Searches the object store for these blobs, which another reflector may have written. */
  async seek(hashes: readonly string[]): Promise<void> {
    await Promise.all(hashes.map((hash) => this.#find(hash)));
  }

  async #find(hash: string): Promise<void> {
    const { blobs } = this.#deps;
    if (!blobs.find || blobs.finished.has(hash)) return;
    const found = await blobs.find(hash, (sdHash) => this.#blocked.has(sdHash));
    // The stream may have been blocked while the search ran.
    if (found !== null && this.#blocked.has(found.sdHash)) await this.#withhold();
    else for (const one of found?.hashes ?? []) this.#withheld.delete(one);
  }

  async read(hash: string): Promise<Uint8Array | null> {
    if (!this.finished.has(hash)) return null;
    const bytes = await this.#deps.blobs.read(hash);
    // A corrupt blob makes its streams incomplete.
    if (bytes === null) await this.#withhold();
    return bytes;
  }

  async openParts(hash: string): Promise<OpenBlob | null> {
    if (!this.finished.has(hash)) return null;
    const open = await this.#deps.blobs.openParts(hash);
    if (open === null) await this.#withhold();
    return open;
  }

  get #isFull(): boolean {
    const quotaMb = this.#deps.quotaMb();
    return quotaMb > 0 && this.#usedBytes >= quotaMb * MEGABYTE;
  }

  /**
   * Reserves space within the quota for a blob that a client may send now; null if the quota has no space for it. Call
   * `unreserve` when the blob is stored or its transfer has failed.
   */
  reserve(hash: string, sizeBytes: number): Reservation | null {
    const quotaMb = this.#deps.quotaMb();
    let bytes = this.#usedBytes + sizeBytes;
    for (const reservation of this.#reservations) bytes += reservation.sizeBytes;
    if (quotaMb > 0 && bytes > quotaMb * MEGABYTE) return null;
    const reservation = { hash, sizeBytes };
    this.#reservations.add(reservation);
    return reservation;
  }

  unreserve(reservation: Reservation): void {
    this.#reservations.delete(reservation);
  }

  async offerStream(sdHash: string): Promise<StreamOffer> {
    await this.#writing.get(sdHash);
    const { blobs, database } = this.#deps;
    if (this.#blocked.has(sdHash)) return { kind: 'blocked' };
    await this.#find(sdHash);
    const streamHash = blobs.finished.has(sdHash) ? await database.streamHashOf(sdHash) : null;
    if (streamHash === null) return { kind: (await this.#refusal(sdHash, true)) ?? 'wanted' };
    const rows = await database.blobsOfStream(streamHash);
    // Blobs that are being stored at the moment need not be sent again.
    await Promise.all(rows.map(({ hash }) => this.#writing.get(hash ?? '')));
    const missing = rows.flatMap(({ hash }) => (hash === null || blobs.finished.has(hash) ? [] : [hash]));
    return { kind: 'known', missing: [...new Set(missing)] };
  }

  async #refusal(hash: string, isDescriptor: boolean): Promise<BlobRefusal | null> {
    if (this.#isFull) return 'full';
    return ((await this.#deps.blobs.mayTake?.(hash, isDescriptor)) ?? true) ? null : 'busy';
  }

  /** Whether the reflector needs a data blob; `full` if the quota is used up. */
  async offerBlob(hash: string): Promise<'wanted' | 'known' | BlobRefusal> {
    await this.#writing.get(hash);
    const { blobs } = this.#deps;
    if (blobs.finished.has(hash)) return 'known';
    // The blob is not served until all blobs of its stream are stored.
    if (await blobs.adopt?.(hash, () => this.#withheld.add(hash))) {
      await this.#release(hash);
      return 'known';
    }
    return (await this.#refusal(hash, false)) ?? 'wanted';
  }

  /**
   * Stores a blob. Returns false for bytes with another hash and for an invalid descriptor. Throws `EnvironmentError` if the
   * blob cannot be stored. After true the blob is on the local disk. With an object store, it stays on the local disk until
   * the object store has it.
   */
  async put(hash: string, blob: BlobBytes, isDescriptor: boolean): Promise<boolean> {
    const writing = this.#put(hash, blob, isDescriptor);
    const settled = writing
      .catch(() => undefined)
      .finally(() => {
        if (this.#writing.get(hash) === settled) this.#writing.delete(hash);
      });
    this.#writing.set(hash, settled);
    return writing;
  }

  async #put(hash: string, blob: BlobBytes, isDescriptor: boolean): Promise<boolean> {
    const { blobs, database, clock } = this.#deps;
    const descriptor = isDescriptor ? parsed(bytesOf(blob)) : null;
    if (isDescriptor && descriptor === null) return false;
    const isNew = !blobs.finished.has(hash);
    // The blob is withheld before it is stored, so that it is not served before its stream is complete.
    if (isNew) this.#withheld.add(hash);
    if (!(await blobs.write(hash, blob))) {
      this.#withheld.delete(hash);
      return false;
    }
    if (isNew) this.#usedBytes += bytesOf(blob).length;
    for (const reservation of this.#reservations) if (reservation.hash === hash) reservation.sizeBytes = 0;
    if (descriptor !== null)
      await database.addStream({
        descriptor,
        sdHash: hash,
        sdLengthBytes: bytesOf(blob).length,
        addedOn: clock.nowSec(),
        isMine: false,
      });
    await this.#release(hash);
    blobs.taken?.();
    return true;
  }

  /** Starts to serve the streams that became complete by this blob. */
  async #release(hash: string): Promise<void> {
    for (const stream of await this.#deps.database.completedWith(hash))
      if (!this.#blocked.has(stream.sdHash)) for (const one of stream.hashes) this.#withheld.delete(one);
  }

  /** Deletes blobs that are older than a day and belong to no stream. */
  async clean(): Promise<void> {
    const { blobs, database, clock } = this.#deps;
    const orphans = await database.orphans(clock.nowSec() - ORPHAN_SEC);
    if (orphans.length === 0) return;
    await blobs.delete(orphans);
    for (const hash of orphans) this.#withheld.delete(hash);
    this.#usedBytes = await this.#measure();
  }
}

function parsed(bytes: Uint8Array): StreamDescriptor | null {
  try {
    return readDescriptor(bytes);
  } catch (error) {
    if (error instanceof DaemonError) return null;
    throw error;
  }
}
