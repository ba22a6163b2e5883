/**
 * Schedules uploads of streams to reflectors: in the background one after another by the settings, or on demand. Source:
 * lbry-sdk lbry/stream/stream_manager.py `_reflect_streams`, `reflect_stream`.
 */
import { failureReason } from '../../util/text/environmentError.js';
import { sleep, type Clock, type DaemonRandom } from '../base/clock.js';
import type { EndTransfer, Transfers } from '../base/transfers.js';
import { readDescriptor } from '../content/descriptor.js';
import type { HashPage } from '../content/rows.js';
import { placeText, type BlobPlace } from './links.js';
import type { UploadProgress } from './ports.js';
import { ReflectorSession } from './reflectorSession.js';
import { StreamUpload, type UploadDeps, type UploadedStream, type UploadResult } from './streamUpload.js';

/** Source: `_reflect_streams`. */
const ROUND_MS = 300_000;
/**
 * Time in ms for which a reflector that was unreachable is used only if no other is available. Arbitrary: longer than a
 * round.
 */
const AVOID_MS = 600_000;
/** Number of descriptors that one query returns. Arbitrary. */
const STREAMS_AT_ONCE = 500;

/** Stores which streams are on reflectors; `ContentDatabase` implements it. */
export interface ReflectedNotes {
  /**
   * Page of descriptor hashes after `after`: streams that have a file and at least one blob, and are not recorded as
   * uploaded.
   */
  streamsToReflect(after: number, limit: number): Promise<HashPage>;
  noteReflected(sdHash: string, reflectorAddress: string, nowSec: number): Promise<void>;
}

export interface ReflectingSettings {
  /** Setting `reflect_streams`: whether streams are uploaded automatically. */
  readonly isOn: boolean;
  readonly servers: readonly (readonly [host: string, port: number])[];
  /** Maximum number of concurrent uploads. */
  readonly concurrent: number;
}

export interface ReflectingDeps extends UploadDeps {
  readonly notes: ReflectedNotes;
  readonly clock: Clock;
  readonly random: DaemonRandom;
  /** Returns the settings. Called at each use. */
  readonly settings: () => ReflectingSettings;
  /** Records the progress of uploads. Absent if no progress is recorded. */
  readonly transfers?: Transfers;
}

interface RunningUpload {
  readonly upload: StreamUpload;
  readonly result: Promise<UploadResult>;
  readonly ending: AbortController;
}

export class Reflecting {
  readonly #deps: ReflectingDeps;
  readonly #uploads = new Map<string, RunningUpload>();
  readonly #stopping = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  #running = 0;
  #waiting: (() => void)[] = [];
  /** Time of the last failed connection, by name of the reflector. */
  readonly #unreached = new Map<string, number>();
  /** Whether the last upload reached its reflector (`null` before the first upload). */
  isReached: boolean | null = null;
  /** Reason for the failure of the last upload, by descriptor hash. */
  readonly #failures = new Map<string, string>();

  constructor(deps: ReflectingDeps) {
    this.#deps = deps;
  }

  /** Starts the upload of all streams that were never uploaded, every five minutes. */
  start(): void {
    this.#loop = this.#rounds();
  }

  async #rounds(): Promise<void> {
    const { clock, settings, debug } = this.#deps;
    do {
      const { isOn, servers } = settings();
      if (!isOn || servers.length === 0) continue;
      try {
        await this.#round();
      } catch (error) {
        debug(() => `looking for streams to reflect failed: ${failureReason(error)}`);
      }
    } while (await sleep(clock, ROUND_MS, this.#stopping.signal));
  }

  /** Reads only as many streams as can be uploaded at the same time, so that few descriptors are in memory. */
  async #round(): Promise<void> {
    const { notes, blobs, settings } = this.#deps;
    for (let after: number | null = 0; after !== null && !this.#stopping.signal.aborted;) {
      const page: HashPage = await notes.streamsToReflect(after, STREAMS_AT_ONCE);
      const due = page.hashes.filter((sdHash) => blobs.finished.has(sdHash));
      const work = async (): Promise<void> => {
        for (let next = due.shift(); next !== undefined; next = due.shift())
          if (!this.#stopping.signal.aborted) await this.reflectStream(next);
      };
      const count = Math.min(due.length, Math.max(1, settings().concurrent));
      await Promise.all(Array.from({ length: count }, work));
      after = page.next;
    }
  }

  /** Descriptor hashes of the streams that are being uploaded. */
  get uploading(): readonly string[] {
    return [...this.#uploads.keys()];
  }

  /** Progress of the running upload of a stream; null if no upload is running. */
  progressOf(sdHash: string): UploadProgress | null {
    return this.#uploads.get(sdHash)?.upload.progress ?? null;
  }

  /** Reason for the failure of the stream's last upload. Null if that upload succeeded, or if the stream was never uploaded. */
  failureOf(sdHash: string): string | null {
    return this.#failures.get(sdHash) ?? null;
  }

  /**
   * Starts the upload of a newly published stream if the settings enable that. The next round retries a failed upload.
   * Source: lbry-sdk `StreamManager.create`.
   */
  reflectNew(sdHash: string): void {
    const { isOn, servers } = this.#deps.settings();
    if (isOn && servers.length > 0 && !this.#stopping.signal.aborted) void this.reflectStream(sdHash);
  }

  /** Cancels the upload of a stream. Has no effect if none is running. Source: lbry-sdk `StreamManager.delete`. */
  async cancel(sdHash: string): Promise<void> {
    const running = this.#uploads.get(sdHash);
    running?.ending.abort(new Error('the stream was deleted'));
    await running?.result;
    this.#failures.delete(sdHash);
  }

  /**
   * Selects a random reflector from the settings. A reflector that was unreachable in the last upload is chosen only if all
   * others were unreachable too. Null if the settings contain no reflector.
   */
  anyServer(): BlobPlace | null {
    const { settings, random, clock } = this.#deps;
    const { servers } = settings();
    const reached = servers.filter(([host, port]) => {
      const failedMs = this.#unreached.get(placeText({ host, port }));
      return failedMs === undefined || clock.nowMs() - failedMs >= AVOID_MS;
    });
    const choice = reached.length > 0 ? reached : servers;
    const found = choice[random.bytes(4).readUInt32BE() % Math.max(1, choice.length)];
    return found === undefined ? null : { host: found[0], port: found[1] };
  }

  /**
   * Uploads a stream to `server`, or to one of the reflectors in the settings. If an upload of the stream is already
   * running, waits for it instead. With `isNamed`, an upload to another reflector does not count: the upload to `server` starts
   * after it. Never rejects: the result has the reason if the upload is incomplete.
   */
  async reflectStream(
    sdHash: string,
    server: BlobPlace | null = this.anyServer(),
    isNamed = false,
  ): Promise<UploadResult> {
    const running = this.#uploads.get(sdHash);
    if (running) {
      if (!isNamed || server === null || running.upload.progress.reflector === placeText(server))
        return running.result;
      await running.result;
      return this.reflectStream(sdHash, server, isNamed);
    }
    if (server === null) return { sent: [], isComplete: false, reason: 'the settings contain no reflector' };
    let blobs: UploadedStream['blobs'];
    try {
      const bytes = await this.#deps.blobs.read(sdHash);
      if (bytes === null) return { sent: [], isComplete: false, reason: 'the descriptor is not stored here' };
      const data = readDescriptor(bytes).blobs.slice(0, -1);
      blobs = data.map(({ blobHash, length }) => ({ hash: blobHash!, lengthBytes: length }));
    } catch (error) {
      return { sent: [], isComplete: false, reason: failureReason(error) };
    }
    // Another call may have started the upload during the wait.
    if (this.#uploads.has(sdHash)) return this.reflectStream(sdHash, server, isNamed);
    const upload = new StreamUpload({ sdHash, blobs }, server, this.#deps);
    const ending = new AbortController();
    const result = this.#run(sdHash, upload, server, ending.signal).finally(() =>
      this.#uploads.delete(sdHash),
    );
    this.#uploads.set(sdHash, { upload, result, ending });
    return result;
  }

  async #run(
    sdHash: string,
    upload: StreamUpload,
    server: BlobPlace,
    ended: AbortSignal,
  ): Promise<UploadResult> {
    await this.#takePlace(ended);
    const end = this.#report(sdHash, upload);
    try {
      const result = await upload.run(AbortSignal.any([this.#stopping.signal, ended]));
      if (result.isComplete) await this.#note(sdHash, server);
      if (!ended.aborted && !this.#stopping.signal.aborted) this.#noteContact(server, result);
      if (result.reason === null || ended.aborted) this.#failures.delete(sdHash);
      else this.#failures.set(sdHash, result.reason);
      if (result.isComplete) end?.('finished');
      else if (ended.aborted || this.#stopping.signal.aborted) end?.('stopped');
      else end?.('failed', result.reason ?? '');
      return result;
    } finally {
      this.#running--;
      this.#waiting[0]?.();
    }
  }

  #noteContact(server: BlobPlace, { isComplete, sent }: UploadResult): void {
    this.isReached = isComplete || sent.length > 0;
    if (this.isReached) this.#unreached.delete(placeText(server));
    else this.#unreached.set(placeText(server), this.#deps.clock.nowMs());
  }

  #report(sdHash: string, upload: StreamUpload): EndTransfer | undefined {
    const { reflector } = upload.progress;
    return this.#deps.transfers?.begin(
      { kind: 'reflect', sdHash, claimName: null, path: null, reflector },
      () => {
        const { bytesSent, bytesToSend, bytesPerSecond } = upload.progress;
        const bytesTotal = bytesToSend === 0 ? null : bytesToSend;
        return { bytesDone: bytesSent, bytesTotal, bytesPerSecond, peers: null };
      },
    );
  }

  async #note(sdHash: string, server: BlobPlace): Promise<void> {
    const { notes, clock, debug } = this.#deps;
    try {
      await notes.noteReflected(sdHash, placeText(server), clock.nowSec());
    } catch (error) {
      // If the upload is not recorded, the next upload finds the whole stream on the reflector.
      debug(() => `a reflected stream could not be recorded: ${failureReason(error)}`);
    }
  }

  /** Waits until fewer uploads run than the settings allow. A cancelled upload does not wait. */
  async #takePlace(ended: AbortSignal): Promise<void> {
    const isFull = (): boolean => this.#running >= Math.max(1, this.#deps.settings().concurrent);
    while (isFull() && !this.#stopping.signal.aborted && !ended.aborted)
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          ended.removeEventListener('abort', wake);
          this.#waiting = this.#waiting.filter((one) => one !== wake);
          resolve();
        };
        this.#waiting.push(wake);
        ended.addEventListener('abort', wake);
      });
    this.#running++;
  }

  /**
   * Uploads single blobs of any streams. Resolves to the hashes of the uploaded blobs. Skips blobs that are not on disk.
   * Rejects with `ReflectorError` if the connection fails.
   */
  async reflectBlobs(hashes: readonly string[], server: BlobPlace): Promise<string[]> {
    const { blobs } = this.#deps;
    const session = await ReflectorSession.open(server, this.#deps, this.#stopping.signal, () => undefined);
    const sent: string[] = [];
    try {
      for (const hash of hashes) {
        const bytes = await blobs.read(hash);
        if (bytes === null) continue;
        const read = (): Promise<Uint8Array> => Promise.resolve(bytes);
        if ((await session.offerBlob(hash, bytes.length, read)) === 'sent') sent.push(hash);
      }
      return sent;
    } finally {
      session.close();
    }
  }

  /** Stops uploading. Running uploads are ended. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the daemon is stopping'));
    for (const wake of [...this.#waiting]) wake();
    await this.#loop;
    await Promise.all([...this.#uploads.values()].map(({ result }) => result));
  }
}
