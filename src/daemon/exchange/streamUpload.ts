/**
 * Upload of one stream to one reflector, over several connections if the reflector supports that. The upload resumes after a
 * disconnect. Each attempt first asks which blobs the reflector lacks, so no blob is sent twice. Source: lbry-sdk
 * lbry/stream/managed_stream.py `upload_to_reflector`, stream_manager.py `_retriable_reflect_stream`.
 */
import { sleep } from '../base/clock.js';
import { RateWindow } from '../base/rateWindow.js';
import { placeText, type BlobPlace } from './links.js';
import type { BlobReader, UploadProgress } from './ports.js';
import {
  ReflectorError,
  ReflectorRefusal,
  ReflectorSession,
  UnreachedReflector,
  type ReflectorSessionDeps,
} from './reflectorSession.js';

/** Maximum number of connections for the upload of one stream. Arbitrary. */
const SESSIONS = 4;
/** Number of consecutive failures without progress after which the upload is abandoned until the next round. */
const MAX_FAILURES = 6;
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;

export interface UploadedStream {
  readonly sdHash: string;
  /** Hashes and lengths of the data blobs, in the order of the stream. */
  readonly blobs: readonly { readonly hash: string; readonly lengthBytes: number }[];
}

export interface UploadDeps extends ReflectorSessionDeps {
  readonly blobs: BlobReader;
  readonly debug: (text: () => string) => void;
}

export interface UploadResult {
  /** Hashes of the blobs that were sent, in the order of their acknowledgements. */
  readonly sent: readonly string[];
  /** Whether the reflector reports that it has the complete stream. */
  readonly isComplete: boolean;
  /** Reason why the upload is incomplete; null if it is complete. */
  readonly reason: string | null;
}

interface Pass {
  readonly isComplete: boolean;
  readonly reason: string | null;
}

export class StreamUpload {
  readonly #stream: UploadedStream;
  readonly #place: BlobPlace;
  readonly #deps: UploadDeps;
  readonly #lengths: ReadonlyMap<string, number>;
  #sdBytes = 0;
  readonly #acknowledged = new Set<string>();
  /** Data blobs that the reflector reported as present. */
  readonly #unwanted = new Set<string>();
  /**
   * Number of blobs that the reflector listed as missing at the last attempt. If it became smaller, blobs arrived whose
   * acknowledgements were lost.
   */
  #missing = Infinity;
  #blobsToSend = 0;
  #bytesToSend = 0;
  /**
   * Number of bytes sent, including a blob that is being sent. The bytes of an interrupted blob are subtracted before the
   * next attempt.
   */
  #bytesSent = 0;
  readonly #rate: RateWindow;
  /** Whether the reflector accepted blobs over a second connection at the same time; null while unknown. */
  #takesSeveral: boolean | null = null;

  constructor(stream: UploadedStream, place: BlobPlace, deps: UploadDeps) {
    this.#stream = stream;
    this.#place = place;
    this.#deps = deps;
    this.#rate = new RateWindow(deps.clock);
    this.#lengths = new Map(stream.blobs.map(({ hash, lengthBytes }) => [hash, lengthBytes]));
  }

  get progress(): UploadProgress {
    return {
      sdHash: this.#stream.sdHash,
      reflector: placeText(this.#place),
      blobsSent: this.#acknowledged.size,
      blobsToSend: this.#blobsToSend,
      bytesSent: this.#bytesSent,
      bytesToSend: this.#bytesToSend,
      bytesPerSecond: this.#rate.perSecond,
    };
  }

  /** Runs until the reflector has the stream, nothing more can be sent, or too many attempts failed. Never rejects. */
  async run(signal: AbortSignal): Promise<UploadResult> {
    const { clock, debug } = this.#deps;
    let failures = 0;
    let isReached = false;
    let reason: string | null = null;
    while (!signal.aborted && failures < MAX_FAILURES) {
      const before = this.#acknowledged.size;
      const missingBefore = this.#missing;
      try {
        const pass = await this.#pass(signal);
        if (pass.isComplete || this.#acknowledged.size === before)
          return { sent: [...this.#acknowledged], ...pass };
        isReached = true;
        failures = 0;
      } catch (error) {
        ({ message: reason } = error as Error);
        const isUnreached = error instanceof UnreachedReflector && !isReached && !signal.aborted;
        // The upload is retried in the next round. A quota, a block list or a wrong address does not change within seconds.
        if (error instanceof ReflectorRefusal || isUnreached)
          return { sent: [...this.#acknowledged], isComplete: false, reason };
        isReached = true;
        debug(() => `${placeText(this.#place)}: ${reason}`);
        const hasProgress = this.#acknowledged.size > before || this.#missing < missingBefore;
        failures = hasProgress ? 1 : failures + 1;
        if (failures < MAX_FAILURES)
          await sleep(clock, Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)), signal);
      }
    }
    return { sent: [...this.#acknowledged], isComplete: false, reason: signal.aborted ? 'stopped' : reason };
  }

  #open(signal: AbortSignal): Promise<ReflectorSession> {
    return ReflectorSession.open(this.#place, this.#deps, signal, (bytes) => {
      this.#bytesSent += bytes;
      this.#rate.add(bytes);
    });
  }

  #lengthOf(hashes: Iterable<string>): number {
    let sum = 0;
    for (const hash of hashes) sum += hash === this.#stream.sdHash ? this.#sdBytes : this.#lengths.get(hash)!;
    return sum;
  }

  /** One attempt: asks the reflector which blobs it lacks and sends them. */
  async #pass(signal: AbortSignal): Promise<Pass> {
    const { blobs } = this.#deps;
    const { sdHash } = this.#stream;
    const sd = await blobs.read(sdHash);
    if (sd === null) return { isComplete: false, reason: 'the descriptor is not stored here' };
    this.#sdBytes = sd.length;
    this.#bytesSent = this.#lengthOf(this.#acknowledged);
    const session = await this.#open(signal);
    try {
      const { isSent, needed } = await session.offerStream(sdHash, sd);
      if (isSent) this.#acknowledged.add(sdHash);
      if (needed !== null) this.#missing = needed.length;
      if (!isSent && needed?.length === 0) return { isComplete: true, reason: null };
      const wanted = (needed ?? [...this.#lengths.keys()]).filter(
        (hash) => this.#lengths.has(hash) && !(needed === null && this.#acknowledged.has(hash)),
      );
      const queue = wanted.filter((hash) => blobs.finished.has(hash));
      this.#blobsToSend = this.#acknowledged.size + queue.length;
      this.#bytesToSend = this.#lengthOf([...this.#acknowledged, ...queue]);
      const lacking = wanted.length - queue.length;
      await this.#sendAll(session, queue, signal);
      // A reflector that does not list the needed blobs may request the descriptor at each connection, although it has the
      // whole stream.
      const isThere = (hash: string): boolean => this.#acknowledged.has(hash) || this.#unwanted.has(hash);
      if (needed === null && isSent && [...this.#lengths.keys()].every(isThere))
        return { isComplete: true, reason: null };
      return {
        isComplete: false,
        reason:
          lacking > 0
            ? `${lacking} blobs that the reflector requested are not stored here`
            : 'the reflector refused blobs',
      };
    } finally {
      session.close();
    }
  }

  /**
   * Sends the blobs of a queue over the first session and over additional sessions. The reflector may not support several
   * sessions: lbry-sdk's reflector closes a connection that does not start with a descriptor. In that case the blobs are
   * sent over the first session.
   */
  async #sendAll(first: ReflectorSession, queue: string[], signal: AbortSignal): Promise<void> {
    const own = this.#work(first, queue);
    const further: Promise<void>[] = [];
    const count = this.#takesSeveral === false ? 1 : Math.min(SESSIONS, queue.length + 1);
    for (let n = 1; n < count; n++) further.push(this.#workBeside(queue, signal));
    // All connections must end before the reflector is asked again which blobs arrived.
    await Promise.allSettled([own, ...further]);
    await own;
    await Promise.all(further);
  }

  async #workBeside(queue: string[], signal: AbortSignal): Promise<void> {
    let session: ReflectorSession | null = null;
    try {
      session = await this.#open(signal);
      await this.#work(session, queue, () => (this.#takesSeveral = true));
    } catch (error) {
      if (!(error instanceof ReflectorError)) throw error;
      this.#takesSeveral ??= false;
    } finally {
      session?.close();
    }
  }

  /**
   * A blob whose connection was cut is not sent again at once. In the next attempt the reflector is asked whether the blob
   * arrived.
   */
  async #work(session: ReflectorSession, queue: string[], onAnswer?: () => void): Promise<void> {
    const { blobs } = this.#deps;
    for (let hash = queue.shift(); hash !== undefined; hash = queue.shift()) {
      const blobHash = hash;
      const outcome = await session.offerBlob(blobHash, this.#lengths.get(blobHash)!, () =>
        blobs.read(blobHash),
      );
      onAnswer?.();
      if (outcome === 'sent') this.#acknowledged.add(blobHash);
      if (outcome === 'unwanted') this.#unwanted.add(blobHash);
    }
  }
}
