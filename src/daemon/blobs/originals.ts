/**
 * Blobs that are not on disk, because they can be made at any time from the published file (`keep_blobs: false`). The piece
 * of the file is encrypted again with the key and the initialization vector from the descriptor, and the hash of the result
 * is checked. A change of the file is detected by its size, its modification time, or the hash of a made blob; then the
 * blobs of the stream are not offered any more.
 */
import { stat } from 'node:fs/promises';
import { systemErrorCode, systemErrorReason } from '../../util/text/environmentError.js';
import { SerialQueue } from '../../scheduler/serialQueue.js';
import type { Logger } from '../../util/logging.js';
import type { ContentDatabase } from '../content/contentDatabase.js';
import type { MadeRow, OriginalRow, StreamBlobRow } from '../content/rows.js';
import type { BlobThreads } from './blobThreads.js';
import { decryptBlob } from './cipher.js';
import { originalStamp, pieceLength, type CipherKey } from './blobWork.js';

/** Number of files that are checked together. Arbitrary. */
const LOOKS_AT_ONCE = 64;
/** Number of streams whose initialization vectors are cached. Arbitrary: bounds the memory. */
const KEPT_STREAMS = 16;
const AES_BLOCK_BYTES = 16;

export interface OriginalsDeps {
  readonly database: Pick<
    ContentDatabase,
    'originals' | 'noteOriginal' | 'removeOriginal' | 'blobsOfStream' | 'streamKey'
  >;
  readonly threads: Pick<BlobThreads, 'make'>;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  /** Called with the hashes of blobs that can no longer be made, because the file changed. */
  readonly lost: (hashes: readonly string[]) => Promise<void>;
  readonly isOnDisk: (hash: string) => boolean;
  /** Called with blobs that can be made (again) because their file is unchanged. */
  readonly found: (blobs: readonly StreamBlobRow[]) => Promise<void>;
}

interface Original {
  row: OriginalRow;
  /** Hashes of the blobs that are not on disk and are made from the file on demand. */
  readonly hashes: Set<string>;
}

interface Piece {
  readonly original: Original;
  readonly position: number;
}

/** AES key of a stream and initialization vectors of its blobs, by position. */
interface Secrets {
  readonly key: Buffer;
  readonly blobs: readonly StreamBlobRow[];
}

/** State of a file path: the file's stamp, or the reason why it cannot be used. */
interface Look {
  readonly stamp: string;
  /** Size of the file; null if the file cannot be used for the reason in `reason`. */
  readonly sizeBytes: number | null;
  readonly reason: string;
}

async function lookAt(path: string): Promise<Look> {
  try {
    const found = await stat(path, { bigint: true });
    if (!found.isFile())
      return { stamp: 'no file', sizeBytes: null, reason: 'it is not a regular file any more' };
    return { stamp: originalStamp(found), sizeBytes: Number(found.size), reason: 'it has another size' };
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === null) throw error;
    return { stamp: code, sizeBytes: null, reason: systemErrorReason(code) };
  }
}

/** Number of bytes of the encrypted blob at a position of the stream. */
const blobLength = (sizeBytes: number, position: number): number =>
  (Math.floor(pieceLength(sizeBytes, position) / AES_BLOCK_BYTES) + 1) * AES_BLOCK_BYTES;

export class Originals {
  readonly #deps: OriginalsDeps;
  readonly #pieces = new Map<string, Piece>();
  readonly #byStream = new Map<string, Original>();
  /** Keys and initialization vectors by stream hash. The most recently used stream is the last. */
  readonly #secrets = new Map<string, Secrets>();
  readonly #comparing = new SerialQueue();
  #isClosed = false;
  /** Sum of the sizes of the blobs that are made on demand, which use no disk space. */
  madeBytes = 0;

  constructor(deps: OriginalsDeps) {
    this.#deps = deps;
  }

  /** Number of blobs that are made on demand. */
  get size(): number {
    return this.#pieces.size;
  }

  /** Number of published files that changed after publishing. */
  get changedCount(): number {
    return [...this.#byStream.values()].filter(({ row }) => !row.isSame).length;
  }

  has(hash: string): boolean {
    return this.#pieces.has(hash);
  }

  /** Whether the stream's file still has the published content. Null if the blobs of the stream are on disk. */
  stateOf(streamHash: string): 'unchanged' | 'changed' | null {
    const original = this.#byStream.get(streamHash);
    return original === undefined ? null : original.row.isSame ? 'unchanged' : 'changed';
  }

  /** Whether `sdHash` is the descriptor of a stream whose published file was changed. Such a stream is not announced. */
  isWithheld(sdHash: string): boolean {
    for (const { row } of this.#byStream.values()) if (row.sdHash === sdHash && !row.isSame) return true;
    return false;
  }

  /** Loads the rows of the published files. `made` contains those blobs of their streams that are not on disk. */
  async load(made: readonly MadeRow[]): Promise<void> {
    for (const row of await this.#deps.database.originals())
      this.#byStream.set(row.streamHash, { row, hashes: new Set() });
    for (const { streamHash, hash, position } of made)
      this.#addPiece(this.#byStream.get(streamHash)!, hash, position);
  }

  #addPiece(original: Original, hash: string, position: number): void {
    if (this.#pieces.has(hash)) return;
    this.#pieces.set(hash, { original, position });
    original.hashes.add(hash);
    this.madeBytes += blobLength(original.row.sizeBytes, position);
  }

  /** Adds a published file and the blobs of its stream, after their rows were stored. */
  add(row: OriginalRow, blobs: readonly { readonly hash: string; readonly position: number }[]): void {
    const original = { row, hashes: new Set<string>() };
    this.#byStream.set(row.streamHash, original);
    for (const { hash, position } of blobs) this.#addPiece(original, hash, position);
  }

  /** Removes a blob that is now on disk or was deleted. */
  forget(hash: string): void {
    const piece = this.#pieces.get(hash);
    if (piece === undefined) return;
    this.#pieces.delete(hash);
    piece.original.hashes.delete(hash);
    this.madeBytes -= blobLength(piece.original.row.sizeBytes, piece.position);
  }

  /** Removes the entries of a deleted stream. */
  removeStream(streamHash: string): void {
    for (const hash of this.#byStream.get(streamHash)?.hashes ?? []) this.forget(hash);
    this.#byStream.delete(streamHash);
    this.#secrets.delete(streamHash);
  }

  async #secretsOf(streamHash: string): Promise<Secrets> {
    const { database } = this.#deps;
    let known = this.#secrets.get(streamHash);
    if (known === undefined) {
      const key = await database.streamKey(streamHash);
      known = { key: Buffer.from(key ?? '', 'hex'), blobs: await database.blobsOfStream(streamHash) };
    }
    this.#secrets.delete(streamHash);
    this.#secrets.set(streamHash, known);
    const [oldest] = this.#secrets.keys();
    if (this.#secrets.size > KEPT_STREAMS) this.#secrets.delete(oldest!);
    return known;
  }

  /**
   * Makes a blob from its published file and returns the bytes; with `cipher`, returns the piece of the file. Null if the
   * file was changed.
   */
  async read(hash: string, cipher: CipherKey | null): Promise<Uint8Array | null> {
    const piece = this.#pieces.get(hash);
    if (piece === undefined) return null;
    const { row } = piece.original;
    const { key, blobs } = await this.#secretsOf(row.streamHash);
    const own = { key, iv: Buffer.from(blobs[piece.position]!.iv, 'hex') };
    const isOwn = cipher !== null && own.key.equals(cipher.key) && own.iv.equals(cipher.iv);
    const made = await this.#deps.threads.make(row, piece.position, own, hash, isOwn ? 'piece' : 'blob');
    if (made.kind === 'changed') {
      // The blob may have been deleted during the read; in that case it is not reported.
      if (this.#pieces.has(hash)) await this.#lose(piece.original, made.stamp, made.reason);
      return null;
    }
    return cipher === null || isOwn ? made.bytes : decryptBlob(made.bytes, cipher.key, cipher.iv);
  }

  async #note(original: Original, change: Pick<OriginalRow, 'goodStamp' | 'seenStamp' | 'isSame'>) {
    original.row = { ...original.row, ...change };
    await this.#deps.database.noteOriginal(original.row);
  }

  /** Removes the blobs of a published file that changed, and logs the change once. */
  async #lose(original: Original, stamp: string, reason: string): Promise<void> {
    const { row } = original;
    if (!row.isSame) return this.#note(original, { ...row, seenStamp: stamp });
    await this.#note(original, { goodStamp: row.goodStamp, seenStamp: stamp, isSame: false });
    const hashes = [...original.hashes];
    for (const hash of hashes) this.forget(hash);
    await this.#deps.lost(hashes);
    this.#deps.log.warn(
      `The file ${row.path} differs from the published content: ${reason}. Its stream ${row.sdHash} is ` +
        'neither offered nor announced until the file is restored.',
    );
  }

  async #regain(original: Original, stamp: string): Promise<void> {
    const { row } = original;
    if (!row.isSame) {
      await this.#offer(original);
      this.#deps.log.info(`The file ${row.path} has the published content again: its stream is offered.`);
    }
    await this.#note(original, { goodStamp: stamp, seenStamp: stamp, isSame: true });
  }

  async #offer(original: Original): Promise<void> {
    const { blobs } = await this.#secretsOf(original.row.streamHash);
    const missing = blobs.filter(({ hash }) => hash !== null && !this.#deps.isOnDisk(hash));
    for (const { hash, position } of missing) this.#addPiece(original, hash!, position);
    await this.#deps.found(missing);
  }

  /**
   * Offers the blobs of a stream whose rows were rebuilt. Resolves to the path of the stream's file; null if its blobs are
   * not made on demand.
   */
  async adopt(streamHash: string): Promise<string | null> {
    const original = this.#byStream.get(streamHash);
    if (original === undefined) return null;
    this.#secrets.delete(streamHash);
    if (original.row.isSame) await this.#offer(original);
    return original.row.path;
  }

  /** Checks all published files for changes. A file whose modification time changed is read and compared as a whole. */
  async check(): Promise<void> {
    const all = [...this.#byStream.keys()];
    for (let at = 0; at < all.length && !this.#isClosed; at += LOOKS_AT_ONCE) {
      const compared = await Promise.all(all.slice(at, at + LOOKS_AT_ONCE).map((hash) => this.#look(hash)));
      await Promise.all(compared.map((comparison) => comparison?.()));
    }
  }

  /** Checks the file of one stream for changes. If its content must be compared, the comparison continues in the background. */
  async lookAt(streamHash: string): Promise<void> {
    const compare = await this.#look(streamHash);
    compare?.().catch((error: unknown) => this.#deps.log.warn((error as Error).message));
  }

  /**
   * Checks the stamp (size and times) of the published file. Returns a function that compares the content, or null if the
   * stamp is unchanged.
   */
  async #look(streamHash: string): Promise<(() => Promise<void>) | null> {
    const original = this.#byStream.get(streamHash);
    if (original === undefined) return null;
    const { path, seenStamp, goodStamp, sizeBytes } = original.row;
    const look = await lookAt(path);
    if (look.stamp === seenStamp || this.#byStream.get(streamHash) !== original) return null;
    if (look.stamp === goodStamp) await this.#regain(original, look.stamp);
    else if (look.sizeBytes !== sizeBytes) await this.#lose(original, look.stamp, look.reason);
    else return () => this.#comparing.run(() => this.#compare(original, look.stamp));
    return null;
  }

  /** Makes all blobs of a file and compares their hashes with those of the stream. */
  async #compare(original: Original, stamp: string): Promise<void> {
    const { row } = original;
    if (row.seenStamp === stamp) return;
    const { key, blobs } = await this.#secretsOf(row.streamHash);
    // The rows of the stream were lost and have not been rebuilt yet.
    if (blobs.length === 0) return;
    for (const { hash, position, iv } of blobs) {
      if (this.#isClosed || this.#byStream.get(row.streamHash) !== original) return;
      if (hash === null) continue;
      const cipher = { key, iv: Buffer.from(iv, 'hex') };
      const made = await this.#deps.threads.make(row, position, cipher, hash, 'nothing');
      if (made.kind === 'changed') return this.#lose(original, made.stamp, made.reason);
      // A program is writing the file. The next check compares from the start.
      if (made.stamp !== stamp) return;
    }
    await this.#regain(original, stamp);
  }

  /** Streams whose blobs are made from a published file. If `sdHash` is not null, only the stream of this descriptor. */
  streams(sdHash: string | null): readonly OriginalRow[] {
    const rows = [...this.#byStream.values()].map(({ row }) => row);
    return sdHash === null ? rows : rows.filter((row) => row.sdHash === sdHash);
  }

  /** Hashes of a stream's blobs that are made on demand. */
  madeOf(streamHash: string): readonly string[] {
    return [...(this.#byStream.get(streamHash)?.hashes ?? [])];
  }

  /** Removes the published file of a stream. Called when all blobs of the stream are on disk. */
  async release(streamHash: string): Promise<void> {
    await this.#deps.database.removeOriginal(streamHash);
    this.removeStream(streamHash);
  }

  close(): void {
    this.#isClosed = true;
  }
}
