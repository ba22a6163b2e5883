/**
 * What a reflector keeps: streams that others sent, in a blob store and a content database of its own. Only blobs of complete
 * streams that are not blocked are given out.
 */
import type { Clock } from '../base/clock.js';
import { DaemonError } from '../base/daemonError.js';
import type { BlobStore } from '../blobs/blobStore.js';
import type { ContentDatabase } from '../content/contentDatabase.js';
import { readDescriptor, type StreamDescriptor } from '../content/descriptor.js';
import type { BlobReader, OpenBlob } from './ports.js';

/** Blobs of no stream are deleted so long after they came: their descriptor may come later. Arbitrary. */
const ORPHAN_SEC = 86_400;
const MEGABYTE = 1_000_000;

export interface ReflectorStoreDeps {
  readonly blobs: Pick<BlobStore, 'finished' | 'read' | 'openParts' | 'write' | 'delete'>;
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
  /** Megabytes (`reflector_quota`); 0 for no limit. Read at each use. */
  readonly quotaMb: () => number;
}

/** What a reflector says to the offer of a descriptor. */
export type StreamOffer =
  | { readonly kind: 'wanted' }
  | { readonly kind: 'known'; readonly missing: readonly string[] }
  | { readonly kind: 'blocked' | 'full' };

export class ReflectorStore implements BlobReader {
  readonly #deps: ReflectorStoreDeps;
  /** Blobs that are there and are not given out. */
  #withheld = new Set<string>();
  #blocked: ReadonlySet<string> = new Set();
  /** Blobs whose bytes came and are not kept yet. */
  readonly #writing = new Map<string, Promise<unknown>>();
  #usedBytes = 0;
  readonly finished: BlobReader['finished'];

  constructor(deps: ReflectorStoreDeps) {
    this.#deps = deps;
    this.finished = { has: (hash) => deps.blobs.finished.has(hash) && !this.#withheld.has(hash) };
  }

  async open(): Promise<void> {
    await this.#withhold();
    this.#usedBytes = (await this.#deps.database.diskUsage()).totalBytes;
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

  /** Descriptors of streams that are neither taken nor given out. */
  async setBlocked(sdHashes: ReadonlySet<string>): Promise<void> {
    this.#blocked = sdHashes;
    await this.#withhold();
  }

  async read(hash: string): Promise<Uint8Array | null> {
    if (!this.finished.has(hash)) return null;
    const bytes = await this.#deps.blobs.read(hash);
    // A damaged blob makes its streams incomplete.
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

  async offerStream(sdHash: string): Promise<StreamOffer> {
    await this.#writing.get(sdHash);
    const { blobs, database } = this.#deps;
    if (this.#blocked.has(sdHash)) return { kind: 'blocked' };
    const streamHash = blobs.finished.has(sdHash) ? await database.streamHashOf(sdHash) : null;
    if (streamHash === null) return { kind: this.#isFull ? 'full' : 'wanted' };
    const rows = await database.blobsOfStream(streamHash);
    // What is being kept just now need not be sent once more.
    await Promise.all(rows.map(({ hash }) => this.#writing.get(hash ?? '')));
    const missing = rows.flatMap(({ hash }) => (hash === null || blobs.finished.has(hash) ? [] : [hash]));
    return { kind: 'known', missing: [...new Set(missing)] };
  }

  /** Whether a data blob is wanted; `full` when the quota is used up. */
  async offerBlob(hash: string): Promise<'wanted' | 'known' | 'full'> {
    await this.#writing.get(hash);
    if (this.#deps.blobs.finished.has(hash)) return 'known';
    return this.#isFull ? 'full' : 'wanted';
  }

  /**
   * Keeps a blob. False for bytes of another hash, and for a descriptor that is none. Throws `EnvironmentError` where it cannot be
   * kept. When it resolves to true, the blob is on disk.
   */
  async put(hash: string, bytes: Uint8Array, isDescriptor: boolean): Promise<boolean> {
    const writing = this.#put(hash, bytes, isDescriptor);
    const settled = writing
      .catch(() => undefined)
      .finally(() => {
        if (this.#writing.get(hash) === settled) this.#writing.delete(hash);
      });
    this.#writing.set(hash, settled);
    return writing;
  }

  async #put(hash: string, bytes: Uint8Array, isDescriptor: boolean): Promise<boolean> {
    const { blobs, database, clock } = this.#deps;
    const descriptor = isDescriptor ? parsed(bytes) : null;
    if (isDescriptor && descriptor === null) return false;
    const isNew = !blobs.finished.has(hash);
    // Before it is there, so that it is not given out meanwhile.
    if (isNew) this.#withheld.add(hash);
    if (!(await blobs.write(hash, bytes))) {
      this.#withheld.delete(hash);
      return false;
    }
    if (isNew) this.#usedBytes += bytes.length;
    if (descriptor !== null)
      await database.addStream({
        descriptor,
        sdHash: hash,
        sdLengthBytes: bytes.length,
        addedOn: clock.nowSec(),
        isMine: false,
      });
    for (const stream of await database.completedWith(hash))
      if (!this.#blocked.has(stream.sdHash)) for (const one of stream.hashes) this.#withheld.delete(one);
    return true;
  }

  /** Deletes what belongs to no stream after a day. */
  async clean(): Promise<void> {
    const { blobs, database, clock } = this.#deps;
    const orphans = await database.orphans(clock.nowSec() - ORPHAN_SEC);
    if (orphans.length === 0) return;
    await blobs.delete(orphans);
    for (const hash of orphans) this.#withheld.delete(hash);
    this.#usedBytes = (await database.diskUsage()).totalBytes;
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
