/**
 * Publishing of a file: builds the claim's metadata, the stream and the file of the daemon. Source: lbry-sdk
 * lbry/extras/daemon/daemon.py `jsonrpc_stream_create`, lbry/schema/claim.py `Stream.update`.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { JsonNumber, type JsonValue } from '../../util/json/json.js';
import { environmentError, failureReason } from '../../util/text/environmentError.js';
import type { Logger } from '../../util/logging.js';
import { hashToHex } from '../../util/bytes.js';
import { mediaTypeOfFile } from '../../metadata/mediaTypes.js';
import type { LedgerParams } from '../base/ledgerParams.js';
import { DaemonError, failure } from '../base/daemonError.js';
import { RateWindow } from '../base/rateWindow.js';
import type { Transfers } from '../base/transfers.js';
import { makeStream, type MadeStream, type MakeStreamOptions } from '../blobs/makeStream.js';
import type { FileChoice, FileStream, PreparedFile, PublishingPort } from '../txBuilding/ports.js';
import { contentExtensionOf } from '../media/contentType.js';
import { inspectMedia, type MediaFacts } from '../media/inspection.js';
import { noFfmpeg, VideoAnalyzer, type VideoSettings, type VideoTools } from '../media/videoAnalyzer.js';
import type { Txo } from '../txo/txo.js';
import { sdHashOf, type FileManager } from './fileManager.js';
import type { ManagedFile } from './managedFile.js';
import type { StreamReflector } from './ports.js';

type Given = Readonly<Record<string, JsonValue | undefined>>;

export interface PublishingDeps {
  readonly manager: FileManager;
  readonly making: MakeStreamOptions;
  /** Parameters of the chain that the wallet uses. */
  readonly params: () => LedgerParams;
  /** Searches for ffmpeg; resolves to null if it is missing. */
  readonly findTools: () => Promise<VideoTools | null>;
  readonly videoSettings: () => VideoSettings;
  /** Reflector client; null while no component uploads to reflectors. */
  readonly reflector: () => Pick<StreamReflector, 'reflectNew'> | null;
  /** Records the progress of creating streams. Absent if no progress is recorded. */
  readonly transfers?: Transfers;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

const ZERO_HASH = '00'.repeat(48);
/** Kinds of media types whose claims contain dimensions or a duration. */
const MEASURED = new Set(['video', 'image', 'audio']);

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw environmentError(error, path);
  });
  if (!found?.isFile()) throw new DaemonError('MissingPublishedFileError', `File does not exist: ${path}`);
  if (found.size === 0)
    throw new DaemonError('EmptyPublishedFileError', `Cannot publish empty file: ${path}`);
  return found.size;
}

/** Computes the SHA-384 of a file, in hexadecimal digits. */
async function hashOfFile(path: string): Promise<string> {
  const hash = createHash('sha384');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

const numberOf = (value: number | undefined): JsonValue | undefined =>
  value === undefined ? undefined : new JsonNumber(`${value}`);

/** Claim fields from the file's data. Fields of the command take precedence. */
function factFields(facts: MediaFacts, given: Given): Given {
  return {
    width: given['width'] ?? numberOf(facts.width),
    height: given['height'] ?? numberOf(facts.height),
    duration: given['duration'] ?? numberOf(facts.durationSec),
  };
}

export class Publishing implements PublishingPort {
  readonly #deps: PublishingDeps;
  readonly #stopping = new AbortController();
  /** Streams that are being made. */
  readonly #making = new Set<Promise<unknown>>();

  constructor(deps: PublishingDeps) {
    this.#deps = deps;
  }

  async prepare(choice: FileChoice, given: Given, withHash: boolean): Promise<PreparedFile> {
    // An empty path would become that of the working directory.
    const named = choice.path === '' ? '' : resolve(choice.path);
    await sizeOf(named);
    const checked = await this.#checked(named, choice);
    const { path } = checked;
    const sizeBytes = await sizeOf(path);
    const contentExtension = await contentExtensionOf(path);
    const { kind } = mediaTypeOfFile(basename(path), contentExtension);
    const isGiven = ['width', 'height', 'duration'].every((name) => given[name] !== undefined);
    const found = MEASURED.has(kind) && !isGiven ? await inspectMedia(path) : {};
    // Values that ffprobe found during the check of the video replace the values of the command.
    const { durationSec, width, height } = checked.facts;
    const facts = factFields(found, {
      width: numberOf(width) ?? given['width'],
      height: numberOf(height) ?? given['height'],
      duration: numberOf(durationSec) ?? given['duration'],
    });
    const fields = {
      ...facts,
      file_name: basename(path),
      file_size: given['file_size'] ?? numberOf(sizeBytes),
      file_hash: withHash ? await hashOfFile(path) : ZERO_HASH,
      sd_hash: ZERO_HASH,
      bt_infohash: undefined,
    };
    return { fields, contentExtension, makeStream: () => this.#makeStream(path, sizeBytes) };
  }

  async #checked(path: string, { validate, optimize }: FileChoice) {
    if (!validate && !optimize) return { path, facts: {} };
    const tools = await this.#deps.findTools();
    if (tools === null) throw noFfmpeg();
    const analyzer = new VideoAnalyzer(tools, this.#deps.videoSettings(), this.#deps.log);
    return analyzer.check(path, { validate, repair: optimize });
  }

  /** Runs the creation of a stream and records its progress meanwhile. */
  async #reported<T>(
    path: string,
    bytesTotal: number,
    make: (onBytes: (bytes: number) => void) => Promise<T>,
  ): Promise<T> {
    const { transfers, making } = this.#deps;
    const rate = new RateWindow(making.clock);
    let bytesDone = 0;
    const end = transfers?.begin(
      { kind: 'publish', sdHash: null, claimName: null, path, reflector: null },
      () => ({
        bytesDone,
        bytesTotal,
        bytesPerSecond: rate.perSecond,
        peers: null,
      }),
    );
    try {
      const made = await make((bytes) => {
        bytesDone += bytes;
        rate.add(bytes);
      });
      end?.('finished');
      return made;
    } catch (error) {
      end?.('failed', failureReason(error));
      throw error;
    }
  }

  async #makeStream(path: string, sizeBytes: number): Promise<FileStream> {
    const { manager, making, params } = this.#deps;
    const stored: { file: ManagedFile | null; release: () => void } = {
      file: null,
      release: () => undefined,
    };
    const onStored = async ({ descriptor }: MadeStream): Promise<void> => {
      stored.release = manager.keepWhilePublishing(descriptor.streamHash);
      try {
        stored.file = await manager.add({
          streamHash: descriptor.streamHash,
          place: { fileName: basename(path), directory: dirname(path) },
          status: 'finished',
          isSaved: true,
          contentFee: null,
          addedOn: making.clock.nowSec(),
        });
      } catch (error) {
        stored.release();
        throw error;
      }
    };
    const { signal } = this.#stopping;
    const made = await this.#reported(path, sizeBytes, (onEncrypted) =>
      this.#tracked(makeStream(path, { ...making, signal, onEncrypted, onStored })),
    );
    const { streamHash } = made.descriptor;
    const { file, release } = stored;
    const discard = (): Promise<void> => {
      release();
      return this.#delete(file!, 'stream that was not published');
    };
    if (made.sizeBytes !== sizeBytes) {
      await discard();
      throw failure(
        `The file ${path} changed while it was being published. Publish it again when it is complete.`,
      );
    }
    return {
      sdHash: Buffer.from(made.sdHash, 'hex'),
      fileHash: Buffer.from(made.fileHash, 'hex'),
      discard,
      release,
      published: async (claim, replaced) => {
        await this.#tie(claim, streamHash, params());
        this.#deps.reflector()?.reflectNew(made.sdHash);
        release();
        const old = replaced === null || replaced === made.sdHash ? null : await manager.bySdHash(replaced);
        // Another claim may have the same stream. The file can belong to that claim.
        const owner = old?.row.claim ?? null;
        if (old !== null && (owner === null || owner.claimId === hashToHex(claim.claimId!)))
          await this.#delete(old, 'replaced stream');
      },
    };
  }

  /** Keeps the promise in `#making` until it settles, so that `stop` waits for it. */
  async #tracked<T>(making: Promise<T>): Promise<T> {
    this.#making.add(making);
    try {
      return await making;
    } finally {
      this.#making.delete(making);
    }
  }

  /** Ends the making of streams. Waits until their blobs are deleted. */
  async stop(): Promise<void> {
    this.#stopping.abort(failure('The daemon is stopping.'));
    await Promise.allSettled(this.#making);
  }

  /** Deletes a stream. The caller already has another result to report, so a failure is only logged. */
  async #delete(file: ManagedFile, what: string): Promise<void> {
    const { manager, log } = this.#deps;
    await manager
      .delete(file, false)
      .catch((error: unknown) =>
        log.warn(`The ${what} was not deleted completely: ${(error as Error).message}`),
      );
  }

  /** Links the claim to its file. The claim is already broadcast, so a failure is only logged. */
  async #tie(claim: Txo, streamHash: string, params: LedgerParams): Promise<void> {
    const { manager, log } = this.#deps;
    const problem = await manager
      .keepClaim(claim, params, streamHash)
      .catch((error: unknown) => (error as Error).message);
    if (problem !== null)
      log.warn(`The file of claim ${claim.claimName} could not be linked to the claim: ${problem}`);
  }

  async moved(claim: Txo): Promise<void> {
    const sdHash = sdHashOf(claim);
    const file = sdHash === null ? null : await this.#deps.manager.bySdHash(sdHash);
    if (file !== null) await this.#tie(claim, file.row.streamHash, this.#deps.params());
  }
}
