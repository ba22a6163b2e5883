/**
 * Which streams go to reflectors and when: those of the settings one after another in the background, others on demand.
 * Source: lbry-sdk lbry/stream/stream_manager.py `_reflect_streams`, `reflect_stream`.
 */
import { failureReason } from '../../util/text/environmentError.js';
import { sleep, type Clock, type RandomSource } from '../base/clock.js';
import type { EndTransfer, Transfers } from '../base/transfers.js';
import { readDescriptor } from '../content/descriptor.js';
import type { HashPage } from '../content/rows.js';
import { placeText, type Place } from './links.js';
import type { UploadProgress } from './ports.js';
import { ReflectorSession } from './reflectorSession.js';
import { StreamUpload, type UploadDeps, type UploadedStream, type UploadResult } from './streamUpload.js';

/** Source: `_reflect_streams`. */
const ROUND_MS = 300_000;
/** How long another reflector is preferred to one that was not reached. Arbitrary: longer than a round. */
const AVOID_MS = 600_000;
/** Descriptors that are listed together. Arbitrary. */
const STREAMS_AT_ONCE = 500;

/** Stores which streams are on reflectors; `ContentDatabase` implements it. */
export interface ReflectedNotes {
  /** A page of the descriptors of the streams that have a file and some blob, and were never noted: those behind `after`. */
  streamsToReflect(after: number, limit: number): Promise<HashPage>;
  noteReflected(sdHash: string, reflectorAddress: string, nowSec: number): Promise<void>;
}

export interface ReflectingSettings {
  /** `reflect_streams`: whether streams are sent without being asked for. */
  readonly isOn: boolean;
  readonly servers: readonly (readonly [host: string, port: number])[];
  /** Streams at a time. */
  readonly concurrent: number;
}

export interface ReflectingDeps extends UploadDeps {
  readonly notes: ReflectedNotes;
  readonly clock: Clock;
  readonly random: RandomSource;
  /** Read at each use. */
  readonly settings: () => ReflectingSettings;
  /** Takes note of uploads; without it none is taken. */
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
  readonly #waiting: (() => void)[] = [];
  /** When an upload last did not reach a reflector, by its place. */
  readonly #unreached = new Map<string, number>();
  /** Whether the last upload reached its reflector; null before any. */
  isReached: boolean | null = null;
  /** Reason for the failure of the last upload, by descriptor hash. */
  readonly #failures = new Map<string, string>();

  constructor(deps: ReflectingDeps) {
    this.#deps = deps;
  }

  /** Begins to send what was never sent, every five minutes. */
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

  /** Takes as many streams at a time as may be sent, so that no more descriptors are in memory. */
  async #round(): Promise<void> {
    const { notes, blobs, settings } = this.#deps;
    for (let after: number | null = 0; after !== null && !this.#stopping.signal.aborted;) {
      const page: HashPage = await notes.streamsToReflect(after, STREAMS_AT_ONCE);
      const due = page.hashes.filter((sdHash) => blobs.finished.has(sdHash));
      const work = async (): Promise<void> => {
        for (let next = due.shift(); next !== undefined; next = due.shift())
          if (!this.#stopping.signal.aborted) await this.reflectStream(next);
      };
      await Promise.all(Array.from({ length: Math.max(1, settings().concurrent) }, work));
      after = page.next;
    }
  }

  /** Descriptors of the streams that are being sent. */
  get uploading(): readonly string[] {
    return [...this.#uploads.keys()];
  }

  /** How uploads go that run now, by descriptor. */
  progressOf(sdHash: string): UploadProgress | null {
    return this.#uploads.get(sdHash)?.upload.progress ?? null;
  }

  /** Reason why the last upload of the stream did not end well; null if it did, or there was none. */
  failureOf(sdHash: string): string | null {
    return this.#failures.get(sdHash) ?? null;
  }

  /**
   * Begins to send a stream that was just published, where the settings want that. What fails is tried again by the next round.
   * Source: lbry-sdk `StreamManager.create`.
   */
  reflectNew(sdHash: string): void {
    const { isOn, servers } = this.#deps.settings();
    if (isOn && servers.length > 0 && !this.#stopping.signal.aborted) void this.reflectStream(sdHash);
  }

  /** Ends the upload of a stream, if there is one. Source: lbry-sdk `StreamManager.delete`. */
  async cancel(sdHash: string): Promise<void> {
    const running = this.#uploads.get(sdHash);
    running?.ending.abort(new Error('the stream is deleted'));
    await running?.result;
    this.#failures.delete(sdHash);
  }

  /**
   * A random reflector of the settings; one that the last upload did not reach only if all others were not reached either. Null if
   * the settings name none.
   */
  anyServer(): Place | null {
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
   * Sends a stream, to any reflector of the settings unless one is named. A stream that is on its way is not begun again. It does
   * not reject: the result says why something is missing.
   */
  async reflectStream(sdHash: string, server: Place | null = this.anyServer()): Promise<UploadResult> {
    const running = this.#uploads.get(sdHash);
    if (running) return running.result;
    if (server === null) return { sent: [], isComplete: false, reason: 'the settings name no reflector' };
    let blobs: UploadedStream['blobs'];
    try {
      const bytes = await this.#deps.blobs.read(sdHash);
      if (bytes === null) return { sent: [], isComplete: false, reason: 'the descriptor is not there' };
      const data = readDescriptor(bytes).blobs.slice(0, -1);
      blobs = data.map(({ blobHash, length }) => ({ hash: blobHash!, lengthBytes: length }));
    } catch (error) {
      return { sent: [], isComplete: false, reason: failureReason(error) };
    }
    // Another call may have begun it meanwhile.
    const begun = this.#uploads.get(sdHash);
    if (begun) return begun.result;
    const upload = new StreamUpload({ sdHash, blobs }, server, this.#deps);
    const ending = new AbortController();
    const result = this.#run(sdHash, upload, server, ending.signal).finally(() =>
      this.#uploads.delete(sdHash),
    );
    this.#uploads.set(sdHash, { upload, result, ending });
    return result;
  }

  async #run(sdHash: string, upload: StreamUpload, server: Place, ended: AbortSignal): Promise<UploadResult> {
    await this.#takePlace();
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
      this.#waiting.shift()?.();
    }
  }

  #noteContact(server: Place, { isComplete, sent }: UploadResult): void {
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

  async #note(sdHash: string, server: Place): Promise<void> {
    const { notes, clock, debug } = this.#deps;
    try {
      await notes.noteReflected(sdHash, placeText(server), clock.nowSec());
    } catch (error) {
      // Without the note the reflector is asked again, and has it.
      debug(() => `a reflected stream could not be noted: ${failureReason(error)}`);
    }
  }

  async #takePlace(): Promise<void> {
    while (this.#running >= Math.max(1, this.#deps.settings().concurrent) && !this.#stopping.signal.aborted)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running++;
  }

  /**
   * Sends single blobs, of whichever streams. Resolves to those that were sent; rejects with `ReflectorError` where the
   * connection fails. A blob that is not here is passed over.
   */
  async reflectBlobs(hashes: readonly string[], server: Place): Promise<string[]> {
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

  /** Ends all uploads. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the daemon stops'));
    for (const wake of this.#waiting.splice(0)) wake();
    await this.#loop;
    await Promise.all([...this.#uploads.values()].map(({ result }) => result));
  }
}
