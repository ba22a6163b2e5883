/**
 * Client connection to a reflector. Offers blobs one after the other and sends the blobs that the reflector needs. Source:
 * lbry-sdk lbry/stream/reflector/client.py `StreamReflectorClient`; reflector.go reflector/server.go.
 */
import { boundedErrorText } from '../../util/text/errorText.js';
import { sleep, type Clock } from '../base/clock.js';
import { isBlobHash } from '../content/blobHash.js';
import type { Bandwidth } from './bandwidth.js';
import { JsonMessages, type JsonMembers } from './jsonMessages.js';
import { placeText, type Dial, type Link, type BlobPlace } from './links.js';
import type { RateLimiter } from './rateLimiter.js';

/**
 * Protocol version of this client. With version 1, the response to a descriptor lists the needed blobs. Source:
 * `REFLECTOR_V2`.
 */
const VERSION = 1;
/** Source: `MAX_RESPONSE_SIZE`. */
const ANSWER_LIMIT_BYTES = 2_000_000;
const CONNECT_MS = 30_000;
/** Source: `send_request`. */
const ANSWER_MS = 180_000;
/**
 * Milliseconds for sending a blob and for its acknowledgement. A slow connection needs time for 2 MiB. Arbitrary: lbry-sdk
 * waits 30 s for the acknowledgement.
 */
const SEND_MS = 180_000;
const PIECE_BYTES = 64 * 1024;

/** Error: the connection to the reflector is not usable. The text is for logs and responses. */
export class ReflectorError extends Error {
  override readonly name: string = 'ReflectorError';
}

/** Error: the connection to the reflector could not be established. */
export class UnreachedReflector extends ReflectorError {
  override readonly name = 'UnreachedReflector';
}

/** Error: the reflector refuses the stream or blob, for example because its quota is used up. */
export class ReflectorRefusal extends ReflectorError {
  override readonly name = 'ReflectorRefusal';
}

export interface ReflectorSessionDeps {
  readonly dial: Dial;
  readonly clock: Clock;
  readonly bandwidth: Pick<Bandwidth, 'sent' | 'received'>;
  /** Limit on the upload rate. */
  readonly rate: RateLimiter;
}

export interface OfferedStream {
  /** Whether the descriptor was sent and accepted. */
  readonly isSent: boolean;
  /** Hashes of the data blobs that the reflector lacks; null if the reflector sends no list. */
  readonly needed: readonly string[] | null;
}

/**
 * Outcome of offering a blob. `sent`: sent and acknowledged. `unwanted`: the reflector already has the blob. `refused`: sent
 * but not accepted.
 */
export type BlobOutcome = 'sent' | 'unwanted' | 'refused';

interface Waiting {
  resolve(members: JsonMembers): void;
  reject(error: Error): void;
}

export class ReflectorSession {
  readonly #deps: ReflectorSessionDeps;
  readonly #name: string;
  readonly #onSent: (bytes: number) => void;
  readonly #messages = new JsonMessages(ANSWER_LIMIT_BYTES);
  readonly #closed = new AbortController();
  #link: Link | null = null;
  #waiting: Waiting | null = null;
  #early: JsonMembers | null = null;

  private constructor(place: BlobPlace, deps: ReflectorSessionDeps, onSent: (bytes: number) => void) {
    this.#deps = deps;
    this.#name = placeText(place);
    this.#onSent = onSent;
  }

  /**
   * Connects and agrees on the version. `onSent` is called with the number of bytes sent. This call and later calls of the
   * session reject with `ReflectorError` when the connection ends or the signal aborts.
   */
  static async open(
    place: BlobPlace,
    deps: ReflectorSessionDeps,
    signal: AbortSignal,
    onSent: (bytes: number) => void,
  ): Promise<ReflectorSession> {
    const session = new ReflectorSession(place, deps, onSent);
    try {
      await session.#connect(place, signal);
      const { version } = await session.#ask({ version: VERSION });
      if (Number(version) !== VERSION)
        throw new ReflectorError(
          `the reflector uses version ${JSON.stringify(version)} of the protocol, which is not supported`,
        );
      return session;
    } catch (error) {
      session.close();
      throw error;
    }
  }

  async #connect(place: BlobPlace, signal: AbortSignal): Promise<void> {
    const { dial, clock } = this.#deps;
    const giveUp = new AbortController();
    const timer = clock.after(CONNECT_MS, () =>
      giveUp.abort(new Error('the connection was not established in time')),
    );
    const events = {
      onData: (bytes: Buffer) => this.#onData(bytes),
      onClose: () => this.#end('the reflector closed it'),
    };
    try {
      this.#link = await dial(place, events, AbortSignal.any([signal, giveUp.signal]));
    } catch (error) {
      throw new UnreachedReflector((error as Error).message);
    } finally {
      timer.cancel();
    }
    const onAbort = (): void => this.#end('stopped');
    signal.addEventListener('abort', onAbort, { once: true });
    this.#closed.signal.addEventListener('abort', () => signal.removeEventListener('abort', onAbort));
    if (signal.aborted) onAbort();
  }

  #onData(bytes: Buffer): void {
    this.#deps.bandwidth.received(this.#name, bytes.length);
    try {
      for (let rest: Buffer | null = bytes; rest !== null && rest.length > 0;) {
        const found = this.#messages.push(rest);
        rest = found?.rest ?? null;
        if (found === null) continue;
        if (this.#early !== null) throw new ReflectorError('the reflector sent unsolicited data');
        if (this.#waiting === null) this.#early = found.members;
        else this.#waiting.resolve(found.members);
      }
    } catch (error) {
      this.#end((error as Error).message);
    }
  }

  #end(reason: string): void {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort(new ReflectorError(`the connection to the reflector ended: ${reason}`));
    this.#link?.close();
    this.#waiting?.reject(this.#closed.signal.reason as Error);
  }

  close(): void {
    this.#end('it was closed locally');
  }

  get isOpen(): boolean {
    return !this.#closed.signal.aborted;
  }

  /** Reads the next response of the reflector. Rejects after `timeoutMs`. */
  async #answer(timeoutMs: number): Promise<JsonMembers> {
    this.#closed.signal.throwIfAborted();
    const { clock } = this.#deps;
    const timer = clock.after(timeoutMs, () => this.#end('no answer in time'));
    try {
      if (this.#early !== null) return this.#early;
      return await new Promise<JsonMembers>((resolve, reject) => {
        this.#waiting = { resolve, reject };
      });
    } finally {
      this.#early = null;
      this.#waiting = null;
      timer.cancel();
    }
  }

  async #ask(request: Readonly<Record<string, string | number>>): Promise<JsonMembers> {
    this.#closed.signal.throwIfAborted();
    // The request has the text format of Python's `json.dumps`, as from lbry-sdk.
    const members = Object.entries(request).map(([key, value]) => `"${key}": ${JSON.stringify(value)}`);
    void this.#link!.send(Buffer.from(`{${members.join(', ')}}`));
    return this.#answer(ANSWER_MS);
  }

  async #send(bytes: Uint8Array): Promise<JsonMembers> {
    const { rate, bandwidth, clock } = this.#deps;
    const timer = clock.after(SEND_MS, () => this.#end('the blob could not be sent in time'));
    try {
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        const piece = bytes.subarray(at, at + PIECE_BYTES);
        const delay = rate.delayMs(piece.length);
        if (delay > 0) await sleep(clock, delay, this.#closed.signal);
        if (!(await this.#link!.send(piece))) this.#end('the reflector closed it');
        this.#closed.signal.throwIfAborted();
        bandwidth.sent(this.#name, piece.length);
        this.#onSent(piece.length);
      }
    } finally {
      timer.cancel();
    }
    return this.#answer(SEND_MS);
  }

  /** Offers the descriptor of a stream. */
  async offerStream(sdHash: string, bytes: Uint8Array): Promise<OfferedStream> {
    const answer = await this.#ask({ sd_blob_hash: sdHash, sd_blob_size: bytes.length });
    const wanted = answer['send_sd_blob'];
    if (typeof wanted !== 'boolean') throw this.#unanswered('whether it wants the descriptor', answer);
    const listed = answer['needed_blobs'];
    const needed = Array.isArray(listed) ? listed.filter(isBlobHash) : null;
    if (!wanted) return { isSent: false, needed: needed ?? [] };
    const receipt = await this.#send(bytes);
    if (receipt['received_sd_blob'] !== true) throw this.#unanswered('that it took the descriptor', receipt);
    return { isSent: true, needed: needed !== null && needed.length > 0 ? needed : null };
  }

  /**
   * Offers a blob and calls `read` if the reflector needs it. If `read` returns null, because the blob was deleted, the
   * connection is closed, since the reflector expects bytes.
   */
  async offerBlob(
    hash: string,
    lengthBytes: number,
    read: () => Promise<Uint8Array | null>,
  ): Promise<BlobOutcome> {
    const answer = await this.#ask({ blob_hash: hash, blob_size: lengthBytes });
    const wanted = answer['send_blob'];
    if (typeof wanted !== 'boolean') throw this.#unanswered('whether it wants the blob', answer);
    if (!wanted) return 'unwanted';
    const bytes = await read();
    if (bytes?.length !== lengthBytes) {
      this.#end('the blob is not stored any more');
      this.#closed.signal.throwIfAborted();
    }
    const { received_blob: isReceived } = await this.#send(bytes!);
    return isReceived === true ? 'sent' : 'refused';
  }

  /** Error for an answer without the expected member. The reflector role of lbcnet gives its reason in `error`. */
  #unanswered(what: string, { error }: JsonMembers): ReflectorError {
    this.#end('it does not follow the protocol');
    if (typeof error === 'string' && error !== '')
      return new ReflectorRefusal(boundedErrorText(`the reflector refuses: ${error}`));
    return new ReflectorError(`the reflector does not report ${what}`);
  }
}
