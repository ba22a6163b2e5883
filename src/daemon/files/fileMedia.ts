/**
 * Files as the media server reads them: any range of bytes, while their blobs are still coming. Source: lbry-sdk
 * lbry/stream/managed_stream.py `stream_file`, lbry/extras/daemon/daemon.py `handle_stream_get_request`.
 */
import { decodeClaim } from '../../metadata/claim.js';
import { mediaTypeOfFile } from '../../metadata/mediaTypes.js';
import { parseUrl } from '../../metadata/url.js';
import { DaemonError } from '../base/daemonError.js';
import type { ContentDatabase } from '../content/contentDatabase.js';
import type { BlobReader } from '../exchange/ports.js';
import type { WalletPort } from '../making/ports.js';
import type { Resolver } from '../resolve/resolver.js';
import { Txo } from '../txo/txo.js';
import type { Downloads } from './download.js';
import { sdHashOf, type FileManager } from './fileManager.js';
import type { ManagedFile } from './managedFile.js';
import { dataBlobs, type OpenStream } from './streamReader.js';

export interface MediaAccess {
  /** False where only what is here may be looked at. */
  readonly mayDownload: boolean;
  readonly signal: AbortSignal;
}

export interface FileMediaDeps {
  readonly manager: FileManager;
  readonly database: Pick<ContentDatabase, 'streamSize' | 'setStreamSize'>;
  readonly blobs: Pick<BlobReader, 'finished'>;
  /** Throw where the component `wallet` does not run. */
  readonly downloads: () => Downloads;
  readonly resolver: () => Pick<Resolver, 'resolve'>;
  readonly wallet: () => WalletPort & { readonly accountIds: readonly string[] };
}

/** The size that the claim names; null without one. */
function claimedSize({ row }: ManagedFile): number | null {
  if (row.claim === null) return null;
  try {
    const { type } = decodeClaim(Buffer.from(row.claim.value, 'hex')).claim;
    const size = type.case === 'stream' ? Number(type.value.source?.size ?? 0n) : 0;
    return size > 0 ? size : null;
  } catch {
    return null;
  }
}

/** Bytes of a decrypted blob that is not the last of its stream: full blobs are padded by one byte. */
const plainLength = (length: number): number => length - 1;

export class FileMedia {
  readonly #deps: FileMediaDeps;

  constructor(deps: FileMediaDeps) {
    this.#deps = deps;
  }

  /** The stream of a file; null where no file has this descriptor. */
  async open(sdHash: string, access: MediaAccess) {
    const file = this.#deps.manager.bySdHash(sdHash);
    if (file === null) return null;
    const sizeBytes = await this.#sizeOf(file, access);
    return {
      sizeBytes,
      mimeType: mediaTypeOfFile(file.suggestedFileName).mediaType,
      read: (from: number, to: number, signal: AbortSignal) => this.#read(file, from, to, signal),
    };
  }

  /** The descriptor to which a URL leads. With `mayDownload` its stream becomes a file, as by `get`. */
  async find(url: string, { mayDownload }: MediaAccess): Promise<string> {
    const wallet = this.#deps.wallet();
    if (mayDownload) {
      const file = await this.#deps.downloads().get({ url, wallet, accountIds: wallet.accountIds });
      return file.row.sdHash;
    }
    if (!parseUrl(url)?.stream)
      throw new DaemonError('InvalidStreamURLError', `Invalid LBRY stream URL: '${url}'`);
    const found = (await this.#deps.resolver().resolve([url])).get(url) ?? null;
    const sdHash = found instanceof Txo ? sdHashOf(found) : null;
    if (sdHash === null) throw new DaemonError('ResolveError', `Failed to resolve '${url}'.`);
    return sdHash;
  }

  /**
   * The size of the claim where the stream can have it, else what is known of the file, else what its last blob shows. Null where
   * that would have to be downloaded and may not be.
   */
  async #sizeOf(file: ManagedFile, { mayDownload, signal }: MediaAccess): Promise<number | null> {
    const { lower, upper } = file.bounds;
    const claimed = claimedSize(file);
    if (claimed !== null && claimed >= lower && claimed <= upper) return claimed;
    const { database, manager, blobs } = this.#deps;
    const known = await database.streamSize(file.row.streamHash);
    if (known !== null) return known;
    if (!mayDownload && !blobs.finished.has(file.row.sdHash)) return null;
    const stream = await manager.reader.open(file.row.sdHash, signal);
    const data = dataBlobs(stream.descriptor);
    const last = data.at(-1);
    if (last === undefined) return 0;
    if (!mayDownload && !blobs.finished.has(last.blobHash!)) return null;
    const bytes = await manager.reader.blob(stream, data.length - 1, signal);
    const before = data.slice(0, -1).reduce((sum, { length }) => sum + plainLength(length), 0);
    await database.setStreamSize(file.row.streamHash, before + bytes.length);
    return before + bytes.length;
  }

  /** The file is running as long as somebody reads. What the claim's size has beyond the stream is zeros. */
  async *#read(file: ManagedFile, from: number, to: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { reader } = this.#deps.manager;
    let leave: () => void = () => undefined;
    const left = new Promise<void>((resolve) => (leave = resolve));
    const reading = file.withReader(() => left);
    try {
      const stream: OpenStream = await reader.open(file.row.sdHash, signal);
      const data = dataBlobs(stream.descriptor);
      let at = from;
      for (let n = 0, start = 0; n < data.length && at < to; n++) {
        const isLast = n === data.length - 1;
        const end = start + plainLength(data[n]!.length);
        if (at < end || isLast) {
          reader.ahead(stream, n, signal);
          const bytes = await reader.blob(stream, n, signal);
          const part = bytes.subarray(at - start, Math.min(bytes.length, to - start));
          if (part.length > 0) yield part;
          at += part.length;
        }
        start = end;
      }
      if (at < to) yield new Uint8Array(to - at);
    } finally {
      leave();
      await reading;
    }
  }
}
