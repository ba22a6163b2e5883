/**
 * Client of the blob exchange: a connection to one peer that sends one blob at a time. The request for the next blob can be sent
 * while a blob arrives: servers do not read during a transfer, so they read one request at a time. Source: lbry-sdk
 * lbry/blob_exchange/client.py `BlobExchangeClientProtocol`; server.py `BlobServerProtocol` and asyncio `loop.sendfile`, which
 * pauses reading; reflector.go server/peer/server.go.
 */
import type { Clock, Timer } from '../base/clock.js';
import { IncomingBlob } from '../content/incomingBlob.js';
import type { Bandwidth } from './bandwidth.js';
import type { Holder, Line, LineEvents, LineOutcome } from './blobHolders.js';
import { JsonMessages, ProtocolError } from './jsonMessages.js';
import { placeText, type Dial, type Link, type BlobPlace } from './links.js';
import { ANSWER_LIMIT_BYTES, blobRequestBytes, MAX_ASKED_BESIDE_BLOB, readAnswer } from './messages.js';
import type { RateLimiter } from './rateLimiter.js';

export interface LineDeps {
  readonly dial: Dial;
  readonly clock: Clock;
  readonly bandwidth: Pick<Bandwidth, 'sent' | 'received'>;
  /** Shared limit on the download rate from all peers. */
  readonly rate: RateLimiter;
  /** Returns the time limit for connecting in milliseconds (setting `peer_connect_timeout`). Called for each connection. */
  readonly connectTimeoutMs: () => number;
  /**
   * Returns the time limit in ms for the response, which applies again to the blob (`blob_download_timeout`). Called at each
   * use.
   */
  readonly blobTimeoutMs: () => number;
}

/** The next request can be sent when the blob is expected to be complete within this time in ms. Arbitrary: most answers take less. */
const EARLY_MS = 100;
/**
 * Divisor of the length of a blob. The rate is estimated when this fraction of the blob has arrived, because a peer's first bytes
 * may have waited in buffers.
 */
const MEASURED_DIVISOR = 8;

/** A request that was sent while another blob arrived. */
interface EarlyRequest {
  readonly hash: string;
  readonly asked: readonly string[];
}

interface Request {
  readonly hash: string;
  readonly lengthBytes: number | null;
  readonly asked: readonly string[];
  readonly events: LineEvents;
  readonly settle: (outcome: LineOutcome) => void;
  /** Time of the response, in milliseconds of the clock. */
  comingMs: number;
  /** Whether `onEnding` was called. */
  isEnding: boolean;
  /** The blob that is received; null until the response reports the length. */
  blob: IncomingBlob | null;
  timer: Timer;
}

export class PeerHolder implements Holder {
  readonly name: string;
  readonly #place: BlobPlace;
  readonly #deps: LineDeps;

  constructor(place: BlobPlace, deps: LineDeps) {
    this.#place = place;
    this.#deps = deps;
    this.name = placeText(place);
  }

  async open(onClose: () => void, signal: AbortSignal): Promise<Line> {
    const { dial, clock, connectTimeoutMs } = this.#deps;
    const giveUp = new AbortController();
    const timer = clock.after(connectTimeoutMs(), () =>
      giveUp.abort(new Error('the connection was not established in time')),
    );
    const line = new PeerLine(this.name, this.#deps, onClose);
    try {
      line.attach(await dial(this.#place, line, AbortSignal.any([signal, giveUp.signal])));
      return line;
    } finally {
      timer.cancel();
    }
  }
}

class PeerLine implements Line {
  readonly #name: string;
  readonly #deps: LineDeps;
  readonly #onClose: () => void;
  #link: Link | null = null;
  #isOpen = true;
  #request: Request | null = null;
  #early: EarlyRequest | null = null;
  #messages = new JsonMessages(ANSWER_LIMIT_BYTES);
  receivedBytes = 0;
  lastBytesMs = 0;

  constructor(name: string, deps: LineDeps, onClose: () => void) {
    this.#name = name;
    this.#deps = deps;
    this.#onClose = onClose;
  }

  attach(link: Link): void {
    this.#link = link;
    if (!this.#isOpen) link.close();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  request(
    hash: string,
    lengthBytes: number | null,
    others: readonly string[],
    events: LineEvents,
  ): Promise<LineOutcome> {
    if (!this.#isOpen) return Promise.resolve({ kind: 'failed', reason: 'the connection is closed' });
    const early = this.#early;
    this.#early = null;
    if (early !== null && early.hash !== hash) {
      this.#shut('another blob was requested early');
      return Promise.resolve({ kind: 'failed', reason: 'another blob was requested early' });
    }
    return new Promise((settle) => {
      this.receivedBytes = 0;
      const timer = this.#startTimer('answer');
      const asked = early?.asked ?? this.#send(hash, others);
      this.#request = {
        hash,
        lengthBytes,
        asked,
        events,
        settle,
        comingMs: 0,
        isEnding: false,
        blob: null,
        timer,
      };
    });
  }

  requestEarly(hash: string, others: readonly string[]): void {
    if (!this.#isOpen || this.#early !== null || this.#request?.isEnding !== true) return;
    this.#early = { hash, asked: this.#send(hash, others) };
  }

  /** Sends a request. Returns the additional hashes in it. */
  #send(hash: string, others: readonly string[]): readonly string[] {
    const asked = others.slice(0, MAX_ASKED_BESIDE_BLOB - 1);
    const bytes = blobRequestBytes(hash, asked);
    this.#deps.bandwidth.sent(this.#name, bytes.length);
    void this.#link!.send(bytes);
    return asked;
  }

  #startTimer(what: 'answer' | 'blob'): Timer {
    const { clock, blobTimeoutMs } = this.#deps;
    return clock.after(blobTimeoutMs(), () => this.#fail(`no ${what} in time`));
  }

  /** Bytes of a blob go to the blob's buffer without a copy. */
  target(): Buffer | null {
    const blob = this.#request?.blob ?? null;
    return blob === null || blob.isFull ? null : blob.unused;
  }

  onData(bytes: Buffer): void {
    if (!this.#isOpen) return;
    const { bandwidth, rate, clock } = this.#deps;
    bandwidth.received(this.#name, bytes.length);
    const delay = rate.delayMs(bytes.length);
    if (delay > 0) {
      this.#link?.pause();
      clock.after(delay, () => this.#link?.resume());
    }
    try {
      this.#take(bytes);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#fail(error.message);
    }
  }

  #take(bytes: Buffer): void {
    const request = this.#request;
    if (request === null) throw new ProtocolError('unsolicited bytes arrived');
    if (request.blob !== null) return this.#takeBlob(request, request.blob, bytes);
    const found = this.#messages.push(bytes);
    if (found === null) return;
    const answer = readAnswer(found.members, request.hash, request.lengthBytes);
    request.events.onAvailability(request.asked, answer.available);
    if (answer.kind === 'lacks') {
      if (found.rest.length > 0)
        throw new ProtocolError('there are bytes after the answer that the blob is not available');
      return this.#end({ kind: 'lacks' });
    }
    request.timer.cancel();
    request.timer = this.#startTimer('blob');
    request.blob = new IncomingBlob(answer.lengthBytes);
    request.comingMs = this.lastBytesMs = this.#deps.clock.nowMs();
    request.events.onComing();
    if (found.rest.length > 0) this.#takeBlob(request, request.blob, found.rest);
  }

  #takeBlob(request: Request, blob: IncomingBlob, bytes: Buffer): void {
    const count = blob.add(bytes);
    this.receivedBytes = blob.count;
    this.lastBytesMs = this.#deps.clock.nowMs();
    if (!blob.isFull) {
      if (request.isEnding || !this.#endsSoon(request, blob)) return;
      request.isEnding = true;
      request.events.onEnding();
      return;
    }
    this.#end({ kind: 'blob', blob: blob.end() });
    // Bytes after the end of the blob close the connection. QUIRK: lbry-sdk truncates them, and parses later bytes as the
    // next response.
    if (count < bytes.length) this.close();
  }

  /** Whether the rest of the blob arrives within `EARLY_MS` at the present rate. */
  #endsSoon({ comingMs }: Request, { count, missing }: IncomingBlob): boolean {
    if (count * MEASURED_DIVISOR < count + missing) return false;
    return missing * (this.lastBytesMs - comingMs) <= count * EARLY_MS;
  }

  #end(outcome: LineOutcome): void {
    const request = this.#request;
    if (request === null) return;
    this.#request = null;
    request.timer.cancel();
    request.settle(outcome);
  }

  onClose(): void {
    if (!this.#isOpen) return;
    this.#shut('the peer closed the connection');
    this.#onClose();
  }

  #fail(reason: string): void {
    const isIdle = this.#request === null;
    this.#shut(reason);
    if (isIdle) this.#onClose();
  }

  #shut(reason: string): void {
    this.#isOpen = false;
    this.#link?.close();
    this.#end({ kind: 'failed', reason });
  }

  close(): void {
    if (this.#isOpen) this.#shut('the connection was closed locally');
  }
}
