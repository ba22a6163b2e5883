/**
 * Streams as players read them: bytes from any position on, in the order of the reader; blobs that are not here are downloaded
 * on the way. Source: lbry-sdk lbry/stream/managed_stream.py `stream_file`, `_prepare_range_response_headers`.
 */
import { decodeClaim } from '../../metadata/claim.js';
import { mediaTypeOfFile } from '../../metadata/mediaTypes.js';
import { failureReason } from '../../util/text/environmentError.js';
import { DaemonError } from '../base/daemonError.js';
import type { ContentDatabase } from '../content/contentDatabase.js';
import type { FileManager } from './fileManager.js';
import type { ManagedFile } from './managedFile.js';
import type { FilesDeps } from './ports.js';
import { dataBlobs, type OpenStream } from './streamReader.js';

/** Descriptors that are kept parsed, since each request of a player needs one. Arbitrary. */
const KEPT_DESCRIPTORS = 16;

export interface PlayableStream {
  /** Null if it is not known, and nothing may be downloaded to find it. */
  readonly sizeBytes: number | null;
  readonly mimeType: string;
  read(from: number, to: number, signal: AbortSignal): AsyncGenerator<Uint8Array>;
}

export interface PlayOptions {
  /** False if only what is here may be looked at. */
  readonly mayDownload: boolean;
  readonly signal: AbortSignal;
}

export interface PlayingDeps {
  readonly manager: FileManager;
  readonly files: Pick<FilesDeps, 'blobs' | 'log'> & {
    readonly database: Pick<ContentDatabase, 'streamSize' | 'setStreamSize'>;
  };
}

/** The size that the claim gives, if the blobs of the stream can hold a file of that size. */
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

/** Offset of each data blob in the file. All except the last have exactly one byte of padding. */
function startsOf(stream: OpenStream): readonly number[] {
  const starts: number[] = [];
  let start = 0;
  for (const { length } of dataBlobs(stream.descriptor)) {
    starts.push(start);
    start += length - 1;
  }
  return starts;
}

/** Marks the file as being read, until the result is called. */
function beginReading(file: ManagedFile, onFailure: (error: unknown) => void): () => void {
  let end: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (end = resolve));
  file.withReader(() => held).catch(onFailure);
  return end;
}

export class Playing {
  readonly #deps: PlayingDeps;
  /** The most recently used last. */
  readonly #descriptors = new Map<string, OpenStream>();

  constructor(deps: PlayingDeps) {
    this.#deps = deps;
  }

  /**
   * The stream of a file that is listed; null if there is none with this descriptor. Throws `DaemonError` and `TimeoutError`
   * where the size must be found by a blob that does not come, and the signal's reason.
   */
  async open(sdHash: string, options: PlayOptions): Promise<PlayableStream | null> {
    const file = await this.#deps.manager.bySdHash(sdHash);
    if (file === null) return null;
    const sizeBytes = await this.#sizeOf(file, options);
    return {
      sizeBytes,
      mimeType: mediaTypeOfFile(file.suggestedFileName).mediaType,
      read: (from, to, signal) => this.#read(file, sizeBytes, { from, to, signal }),
    };
  }

  async #descriptor(sdHash: string, signal: AbortSignal): Promise<OpenStream> {
    const kept = this.#descriptors.get(sdHash);
    const stream = kept ?? (await this.#deps.manager.reader.open(sdHash, signal));
    this.#descriptors.delete(sdHash);
    this.#descriptors.set(sdHash, stream);
    const [oldest] = this.#descriptors.keys();
    if (this.#descriptors.size > KEPT_DESCRIPTORS) this.#descriptors.delete(oldest!);
    return stream;
  }

  /** What was found before, what the claim says, else what the padding of the last blob tells. */
  async #sizeOf(file: ManagedFile, { mayDownload, signal }: PlayOptions): Promise<number | null> {
    const { blobsInStream, sdHash, streamHash } = file.row;
    if (blobsInStream === 0) return 0;
    const known = (await this.#deps.files.database.streamSize(streamHash)) ?? claimedSize(file);
    if (known !== null) return known;
    if (!mayDownload && !this.#deps.files.blobs.finished.has(sdHash)) return null;
    const stream = await this.#descriptor(sdHash, signal);
    const last = await this.#lastBlob(stream, mayDownload, signal);
    return last === null ? null : this.#learnSize(streamHash, stream, last.length);
  }

  /** The decrypted last blob; null if it is not here and may not be downloaded. */
  async #lastBlob(stream: OpenStream, mayDownload: boolean, signal: AbortSignal): Promise<Uint8Array | null> {
    const { manager, files } = this.#deps;
    const { descriptor } = stream;
    const data = dataBlobs(descriptor);
    if (mayDownload) return manager.reader.blob(stream, data.length - 1, signal);
    const { blobHash, iv } = data.at(-1)!;
    return files.blobs.read(blobHash!, {
      key: Buffer.from(descriptor.key, 'hex'),
      iv: Buffer.from(iv, 'hex'),
    });
  }

  async #learnSize(streamHash: string, stream: OpenStream, lastBytes: number): Promise<number> {
    const sizeBytes = startsOf(stream).at(-1)! + lastBytes;
    await this.#deps.files.database.setStreamSize(streamHash, sizeBytes);
    return sizeBytes;
  }

  /**
   * While one blob is sent the next one is read. Throws where a blob has another size than it must have at its place: a player
   * must not get bytes of another position.
   */
  async *#read(
    file: ManagedFile,
    sizeBytes: number | null,
    { from, to, signal }: { from: number; to: number; signal: AbortSignal },
  ): AsyncGenerator<Uint8Array> {
    const { manager, files } = this.#deps;
    const { sdHash, streamHash } = file.row;
    const end = beginReading(file, (error) => files.log.warn(failureReason(error)));
    // The blob that is read ahead is abandoned when the player leaves.
    const leaving = new AbortController();
    const both = AbortSignal.any([signal, leaving.signal]);
    try {
      const stream = await this.#descriptor(sdHash, both);
      const data = dataBlobs(stream.descriptor);
      const starts = startsOf(stream);
      const blob = (at: number): Promise<Uint8Array> => {
        manager.reader.ahead(stream, at, both);
        return manager.reader.blob(stream, at, both);
      };
      let at = Math.max(
        0,
        starts.findLastIndex((start) => start <= from),
      );
      let coming: Promise<Uint8Array> | null = null;
      for (; at < data.length && starts[at]! < to; at++) {
        const start = starts[at]!;
        const bytes: Uint8Array = await (coming ?? blob(at));
        const wanted = at + 1 < data.length ? data[at]!.length - 1 : (sizeBytes ?? 0) - start;
        if (bytes.length !== wanted) {
          if (at + 1 === data.length) await this.#learnSize(streamHash, stream, bytes.length);
          throw new DaemonError(
            'InvalidDataError',
            `The stream ${sdHash} is not what its claim or descriptor says: blob ${at} holds ${bytes.length} instead of ${wanted} bytes.`,
          );
        }
        coming = at + 1 < data.length && starts[at + 1]! < to ? blob(at + 1) : null;
        coming?.catch(() => undefined);
        yield bytes.subarray(Math.max(0, from - start), Math.min(bytes.length, to - start));
      }
    } finally {
      leaving.abort(new Error('the player left'));
      end();
    }
  }
}
