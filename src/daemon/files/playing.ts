/**
 * Streams for players: bytes from any position, in the order of the reader. Missing blobs are downloaded on demand. Source:
 * lbry-sdk lbry/stream/managed_stream.py `stream_file`, `_prepare_range_response_headers`.
 */
import { decodeClaim } from '../../metadata/claim.js';
import { mediaTypeOfFile } from '../../metadata/mediaTypes.js';
import { failureReason } from '../../util/text/environmentError.js';
import type { Clock, Timer } from '../base/clock.js';
import { DaemonError } from '../base/daemonError.js';
import type { ContentDatabase } from '../content/contentDatabase.js';
import type { FileManager } from './fileManager.js';
import type { ManagedFile } from './managedFile.js';
import type { FilesDeps } from './ports.js';
import { BlobChangedError } from '../blobs/blobParts.js';
import { BLOCK_BYTES, encryptPiece } from '../blobs/cipher.js';
import { bytesInMemory, decrypted, wholePlain, type PlainBlob } from '../blobs/plainBlob.js';
import { CHUNK_BYTES, ChunkTable, chunkTableOf } from '../content/chunkTable.js';
import { dataBlobs, type OpenStream } from './streamReader.js';

/** Maximum number of streams that stay open in a cache, since a player sends many requests. Arbitrary. */
const KEPT_STREAMS = 16;
/**
 * Numbers of bytes that are decrypted and sent in one step. The first piece is small, so that the player receives data early. It
 * ends with the chunk of its first byte, because each further chunk must be read and verified too. If it would have fewer than
 * `MIN_FIRST_BYTES`, it has one chunk more. The next pieces grow: larger pieces need less work per byte, but a player that seeks
 * often disconnects after the first bytes. Arbitrary.
 */
const MIN_FIRST_BYTES = 8 * 1024;
const PIECE_BYTES = 256 * 1024;
/** Number of blobs that are prepared for seeks. Arbitrary: 2 GiB. */
const PREPARED_BLOBS = 1024;
/**
 * Time in ms of reading after which a file counts as running. A reader that leaves earlier does not change the row, because the sync
 * of a write would delay the database reads of the next request. Arbitrary.
 */
const RUNNING_MS = 50;
/** Maximum number of attempts to open a blob if its file changes during the read. Arbitrary. */
const OPENINGS = 3;
/** Hash that no blob has. */
const NO_HASH = '0'.repeat(96);

export interface PlayableStream {
  /** Size of the stream in bytes; null if it is unknown and cannot be found without a download. */
  readonly sizeBytes: number | null;
  readonly mimeType: string;
  read(from: number, to: number, signal: AbortSignal): AsyncGenerator<Uint8Array>;
}

export interface PlayOptions {
  /** Whether missing blobs may be downloaded. If false, only local data is used. */
  readonly mayDownload: boolean;
  readonly signal: AbortSignal;
}

export interface PlayingDeps {
  readonly manager: FileManager;
  readonly files: Pick<FilesDeps, 'blobs' | 'clock' | 'log'> & {
    readonly database: Pick<ContentDatabase, 'streamSize' | 'setStreamSize' | 'playable'>;
  };
}

/** File size in the claim, if the blobs of the stream can contain a file of this size; else null. */
function claimedSize({ row, bounds }: ManagedFile): number | null {
  const value = row.claim?.value ?? '';
  if (value === '') return null;
  try {
    const { type } = decodeClaim(Buffer.from(value, 'hex')).claim;
    const size = type.case === 'stream' ? Number(type.value.source?.size ?? 0n) : 0;
    // The last blob has between 1 and 16 bytes of padding.
    return size > 0 && size >= bounds.lower && size < bounds.upper ? size : null;
  } catch {
    return null;
  }
}

/** Offset of each data blob in the file. All data blobs except the last have exactly one byte of padding. */
function startsOf(stream: OpenStream): readonly number[] {
  const starts: number[] = [];
  let start = 0;
  for (const { length } of dataBlobs(stream.descriptor)) {
    starts.push(start);
    start += length - 1;
  }
  return starts;
}

/** A stream that was opened recently. It stays open for the next request. */
interface Kept {
  readonly file: ManagedFile;
  /** Size of the file that an earlier request found; null if unknown. */
  learned: number | null;
  stream: OpenStream | null;
  /** Whether the blobs of the stream were prepared for seeks. */
  isPrepared: boolean;
}

/**
 * Marks the file as being read: in memory until `end` is called, and in its row if `end` is not called within `RUNNING_MS` after
 * `onFirst`.
 */
function beginReading(
  file: ManagedFile,
  clock: Pick<Clock, 'after'>,
  onFailure: (error: unknown) => void,
): { readonly onFirst: () => void; readonly end: () => void } {
  let release: () => void = () => undefined;
  let begin: (isLong: boolean) => void = () => undefined;
  let timer: Timer | null = null;
  const held = new Promise<void>((resolve) => (release = resolve));
  const begun = new Promise<boolean>((resolve) => (begin = resolve));
  file.withReader(() => held, begun).catch(onFailure);
  return {
    onFirst: () => (timer ??= clock.after(RUNNING_MS, () => begin(true))),
    end: () => {
      timer?.cancel();
      begin(false);
      release();
    },
  };
}

/** Size of the first piece, which starts at this position of a blob. */
function firstPieceBytes(position: number): number {
  const rest = CHUNK_BYTES - (position % CHUNK_BYTES);
  return rest < MIN_FIRST_BYTES ? rest + CHUNK_BYTES : rest;
}

/** Size of the piece that follows a piece of this size: whole chunks. */
const largerPiece = (pieceBytes: number): number =>
  Math.min(PIECE_BYTES, Math.max(CHUNK_BYTES, pieceBytes - (pieceBytes % CHUNK_BYTES)) * 2);

const sizeError = ({ sdHash }: OpenStream, at: number, bytes: number, wanted: number): DaemonError =>
  new DaemonError(
    'InvalidDataError',
    `The stream ${sdHash} does not match its claim or descriptor: blob ${at} has ${bytes} instead of ${wanted} bytes.`,
  );

/** Closes a blob that was opened ahead and is not needed. */
async function abandon(coming: Promise<PlainBlob> | null): Promise<void> {
  await (await coming?.catch(() => null))?.close();
}

export class Playing {
  readonly #deps: PlayingDeps;
  /** Cached descriptors. The most recently used is the last. */
  readonly #kept = new Map<string, Kept>();

  constructor(deps: PlayingDeps) {
    this.#deps = deps;
  }

  /**
   * Opens the stream of a listed file; null if no file has this descriptor. Throws the signal's reason. Throws `DaemonError`
   * and `TimeoutError` if a blob needed to find the size does not arrive, and `DownloadCancelledError` if the file is deleted.
   */
  async open(sdHash: string, options: PlayOptions): Promise<PlayableStream | null> {
    const kept = await this.#keep(sdHash);
    if (kept === null) return null;
    const signal = AbortSignal.any([options.signal, kept.file.deleted]);
    const sizeBytes = await this.#sizeOf(kept, { ...options, signal });
    return {
      sizeBytes,
      mimeType: mediaTypeOfFile(kept.file.suggestedFileName).mediaType,
      read: (from, to, signal) => this.#read(kept, sizeBytes, { from, to, signal }),
    };
  }

  /**
   * Runs the code that the first stream needs, without a stream, so that the first player does not wait until code, ciphers
   * and statements are loaded.
   */
  async warmUp(): Promise<void> {
    const { manager, files } = this.#deps;
    await Promise.all([manager.bySdHash(NO_HASH), files.database.playable(NO_HASH)]);
    const cipher = { key: new Uint8Array(BLOCK_BYTES), iv: new Uint8Array(BLOCK_BYTES) };
    const bytes = encryptPiece(new Uint8Array(BLOCK_BYTES - 1), cipher.key, cipher.iv);
    ChunkTable.parse(chunkTableOf(bytes), bytes.length)?.matches(0, bytes);
    await wholePlain(await decrypted(bytesInMemory(bytes), cipher, true));
  }

  async #keep(sdHash: string): Promise<Kept | null> {
    const { manager, files } = this.#deps;
    let kept = this.#kept.get(sdHash);
    if (kept === undefined || !manager.isCurrent(kept.file)) {
      this.#kept.delete(sdHash);
      // The rows replace a descriptor only if its blob is on disk. Otherwise the blob is created again for other peers.
      const hasRows = files.blobs.finished.has(sdHash);
      const [file, rows] = await Promise.all([
        manager.bySdHash(sdHash),
        hasRows ? files.database.playable(sdHash) : null,
      ]);
      if (file === null) return null;
      if (rows !== null && rows.firstCheck !== null) files.blobs.rememberCheck(rows.firstCheck);
      kept =
        rows === null
          ? {
              file,
              learned: await files.database.streamSize(file.row.streamHash),
              stream: null,
              isPrepared: false,
            }
          : { file, learned: rows.sizeBytes, stream: { sdHash, ...rows }, isPrepared: false };
    }
    this.#kept.delete(sdHash);
    this.#kept.set(sdHash, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_STREAMS) this.#kept.delete(oldest!);
    return kept;
  }

  /** After the first bytes: prepares for seeks. */
  #prepare(kept: Kept, at: number): void {
    if (kept.isPrepared || kept.stream === null) return;
    kept.isPrepared = true;
    this.#deps.manager.reader.prepare(kept.stream, at, PREPARED_BLOBS);
  }

  async #descriptor(kept: Kept, signal: AbortSignal): Promise<OpenStream> {
    return (kept.stream ??= await this.#deps.manager.reader.open(kept.file.row.sdHash, signal));
  }

  /** Size of the stream in bytes: from the cache, else from the claim, else computed from the padding of the last blob. */
  async #sizeOf(kept: Kept, { mayDownload, signal }: PlayOptions): Promise<number | null> {
    const { file } = kept;
    if (file.row.blobsInStream === 0) return 0;
    const known = kept.learned ?? claimedSize(file);
    if (known !== null) return known;
    if (!mayDownload && !this.#deps.files.blobs.finished.has(file.row.sdHash)) return null;
    const stream = await this.#descriptor(kept, signal);
    const last = await this.#lastBlob(stream, mayDownload, signal);
    return last === null ? null : this.#learnSize(kept, stream, last);
  }

  /** Number of file bytes in the last blob; null if the blob is missing and may not be downloaded. */
  async #lastBlob(stream: OpenStream, mayDownload: boolean, signal: AbortSignal): Promise<number | null> {
    const { manager, files } = this.#deps;
    const data = dataBlobs(stream.descriptor);
    if (mayDownload) {
      const blob = await manager.reader.blob(stream, data.length - 1, signal);
      await blob.close();
      return blob.lengthBytes;
    }
    const { blobHash, iv } = data.at(-1)!;
    const cipher = { key: Buffer.from(stream.descriptor.key, 'hex'), iv: Buffer.from(iv, 'hex') };
    return (await files.blobs.read(blobHash!, cipher))?.length ?? null;
  }

  async #learnSize(kept: Kept, stream: OpenStream, lastBytes: number): Promise<number> {
    const sizeBytes = startsOf(stream).at(-1)! + lastBytes;
    kept.learned = sizeBytes;
    await this.#deps.files.database.setStreamSize(kept.file.row.streamHash, sizeBytes);
    return sizeBytes;
  }

  /**
   * Yields the bytes of a range. Opens the next blob while the current blob is sent. Throws if a blob has an unexpected
   * size, because the player would otherwise receive bytes of another position. Throws `DownloadCancelledError` at the next
   * blob if the file is stopped or deleted.
   */
  async *#read(
    kept: Kept,
    sizeBytes: number | null,
    { from, to, signal }: { from: number; to: number; signal: AbortSignal },
  ): AsyncGenerator<Uint8Array> {
    const { manager, files } = this.#deps;
    const reading = beginReading(kept.file, files.clock, (error) => files.log.warn(failureReason(error)));
    // The download ahead is aborted when the player disconnects.
    const leaving = new AbortController();
    const both = AbortSignal.any([signal, leaving.signal, kept.file.deleted, kept.file.stopped]);
    let coming: Promise<PlainBlob> | null = null;
    try {
      const stream = await this.#descriptor(kept, both);
      const data = dataBlobs(stream.descriptor);
      const starts = startsOf(stream);
      const open = (at: number): Promise<PlainBlob> => {
        manager.reader.ahead(stream, at, both);
        return manager.reader.blob(stream, at, both, at + 1 < data.length);
      };
      let at = Math.max(
        0,
        starts.findLastIndex((start) => start <= from),
      );
      let pieceBytes = 0;
      for (; at < data.length && starts[at]! < to; at++) {
        const start = starts[at]!;
        const isLast = at + 1 === data.length;
        const wanted = isLast ? (sizeBytes ?? 0) - start : data[at]!.length - 1;
        let next = Math.max(from, start);
        const stop = Math.min(to, start + wanted);
        for (let opening = 1; ; opening++) {
          const blob: PlainBlob = await (coming ?? open(at));
          coming = null;
          try {
            if (blob.lengthBytes !== wanted) {
              if (isLast) await this.#learnSize(kept, stream, blob.lengthBytes);
              throw sizeError(stream, at, blob.lengthBytes, wanted);
            }
            while (next < stop) {
              pieceBytes = pieceBytes === 0 ? firstPieceBytes(next - start) : largerPiece(pieceBytes);
              const bytes = await blob.read(next - start, Math.min(pieceBytes, stop - next));
              reading.onFirst();
              yield bytes;
              this.#prepare(kept, at);
              next += bytes.length;
              // The next blob is opened only after the first bytes of the current blob were sent.
              if (coming === null && !isLast && starts[at + 1]! < to) {
                coming = open(at + 1);
                coming.catch(() => undefined);
              }
            }
            break;
          } catch (error) {
            if (!(error instanceof BlobChangedError) || opening === OPENINGS) throw error;
            await abandon(coming);
            coming = null;
          } finally {
            await blob.close();
          }
        }
      }
    } finally {
      leaving.abort(new Error('the player disconnected'));
      reading.end();
      await abandon(coming);
    }
  }
}
