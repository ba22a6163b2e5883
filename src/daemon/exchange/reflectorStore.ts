/**
 * What a reflector keeps: streams that others sent, in a blob store and a content database of its own. Only blobs of complete
 * streams that are not blocked are given out.
 */
import type { Clock } from '../base/clock.js';
import { DaemonError } from '../base/daemonError.js';
import type { BlobStore } from '../blobs/blobStore.js';
import type { ContentDatabase } from '../content/contentDatabase.js';
import { readDescriptor, type StreamDescriptor } from '../content/descriptor.js';
import type { OffsiteBlobs } from '../objects/offsiteBlobs.js';
import type { BlobReader, OpenBlob } from './ports.js';

/** Blobs of no stream are deleted so long after they came: their descriptor may come later. Arbitrary. */
const ORPHAN_SEC = 86_400;
const MEGABYTE = 1_000_000;

/** Blobs on this disk, or in an object store; only those in a store have the optional members. */
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
  /** Megabytes (`reflector_quota`); 0 for no limit. Read at each use. */
  readonly quotaMb: () => number;
}

/** Answer of a reflector to the offer of a descriptor. */
export type StreamOffer =
  | { readonly kind: 'wanted' }
  | { readonly kind: 'known'; readonly missing: readonly string[] }
  | { readonly kind: Refusal };

/** `busy`: the object store does not answer, and this disk has no room for more. */
export type Refusal = 'blocked' | 'full' | 'busy';

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
    this.#usedBytes = await this.#measure();
  }

  async #measure(): Promise<number> {
    const { blobs, database } = this.#deps;
    return blobs.usedBytes ? blobs.usedBytes() : (await database.diskUsage()).totalBytes;
  }

  /** Looks again which blobs are not given out, after some were lost. */
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

  /** Descriptors of streams that are neither taken nor given out. */
  async setBlocked(sdHashes: ReadonlySet<string>): Promise<void> {
    this.#blocked = sdHashes;
    this.#deps.blobs.setBlocked?.(sdHashes);
    await this.#withhold();
  }

  /** Looks for blobs that another reflector put into the object store. */
  async seek(hashes: readonly string[]): Promise<void> {
    await Promise.all(hashes.map((hash) => this.#find(hash)));
  }

  async #find(hash: string): Promise<void> {
    const { blobs } = this.#deps;
    if (!blobs.find || blobs.finished.has(hash)) return;
    const found = await blobs.find(hash, (sdHash) => this.#blocked.has(sdHash));
    // It may have been blocked meanwhile.
    if (found !== null && this.#blocked.has(found.sdHash)) await this.#withhold();
    else for (const one of found?.hashes ?? []) this.#withheld.delete(one);
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
    await this.#find(sdHash);
    const streamHash = blobs.finished.has(sdHash) ? await database.streamHashOf(sdHash) : null;
    if (streamHash === null) return { kind: (await this.#refusal(sdHash, true)) ?? 'wanted' };
    const rows = await database.blobsOfStream(streamHash);
    // What is being kept just now need not be sent again.
    await Promise.all(rows.map(({ hash }) => this.#writing.get(hash ?? '')));
    const missing = rows.flatMap(({ hash }) => (hash === null || blobs.finished.has(hash) ? [] : [hash]));
    return { kind: 'known', missing: [...new Set(missing)] };
  }

  async #refusal(hash: string, isDescriptor: boolean): Promise<Refusal | null> {
    if (this.#isFull) return 'full';
    return ((await this.#deps.blobs.mayTake?.(hash, isDescriptor)) ?? true) ? null : 'busy';
  }

  /** Whether a data blob is wanted; `full` when the quota is used up. */
  async offerBlob(hash: string): Promise<'wanted' | 'known' | Refusal> {
    await this.#writing.get(hash);
    const { blobs } = this.#deps;
    if (blobs.finished.has(hash)) return 'known';
    // It is not given out before its stream is complete.
    if (await blobs.adopt?.(hash, () => this.#withheld.add(hash))) {
      await this.#release(hash);
      return 'known';
    }
    return (await this.#refusal(hash, false)) ?? 'wanted';
  }

  /**
   * Keeps a blob. False for bytes of another hash, and for a descriptor that is none. Throws `EnvironmentError` where it cannot be
   * kept. When it resolves to true, the blob is on this disk; it stays there until an object store has it, where there is one.
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
    await this.#release(hash);
    blobs.taken?.();
    return true;
  }

  /** Gives out the streams that are complete with a blob. */
  async #release(hash: string): Promise<void> {
    for (const stream of await this.#deps.database.completedWith(hash))
      if (!this.#blocked.has(stream.sdHash)) for (const one of stream.hashes) this.#withheld.delete(one);
  }

  /** Deletes what belongs to no stream after a day. */
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
