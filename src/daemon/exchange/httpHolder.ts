/**
 * HTTP(S) servers of blobs as holders: `GET <base>/blob?hash=<hash>`. Source: reflector.go server/http/routes.go.
 */
import { sleep, type Clock } from '../base/clock.js';
import { MissMemory } from '../base/missMemory.js';
import { MAX_BLOB_BYTES } from '../content/blobHash.js';
import { IncomingBlob, type ReceivedBlob } from '../content/incomingBlob.js';
import type { Bandwidth } from './bandwidth.js';
import type { Holder, Line, LineEvents, LineOutcome } from './blobHolders.js';
import type { RateLimiter } from './rateLimiter.js';

/**
 * Milliseconds for which a server caches a 404 response, so that a repeated request is useless. Source:
 * server/http/server.go.
 */
const MISS_MS = 5 * 60_000;

export interface HttpDeps {
  readonly clock: Clock;
  readonly bandwidth: Pick<Bandwidth, 'sent' | 'received'>;
  readonly rate: RateLimiter;
  readonly blobTimeoutMs: () => number;
  /** Returns the token for protected blobs (`edge_token`); null if none is set. Called at each use. */
  readonly edgeToken: () => string | null;
}

/** Blobs that an HTTP server reported as missing. All connections to the server share this memory. */
export class HttpServerMemory extends MissMemory {
  constructor() {
    super(MISS_MS);
  }
}

/** One of several connections to a server. `base` is `http://host:port` or `https://…`, with or without a path. */
export class HttpHolder implements Holder {
  readonly name: string;
  readonly #base: string;
  readonly #memory: HttpServerMemory;
  readonly #deps: HttpDeps;

  constructor(base: string, number: number, memory: HttpServerMemory, deps: HttpDeps) {
    this.#base = base.replace(/\/+$/, '');
    this.name = `${this.#base}#${number}`;
    this.#memory = memory;
    this.#deps = deps;
  }

  open(): Promise<Line> {
    return Promise.resolve(new HttpLine(this.#base, this.#memory, this.#deps));
  }
}

class HttpLine implements Line {
  readonly #base: string;
  readonly #place: string;
  readonly #memory: HttpServerMemory;
  readonly #deps: HttpDeps;
  readonly #closed = new AbortController();
  receivedBytes = 0;
  lastBytesMs = 0;

  constructor(base: string, memory: HttpServerMemory, deps: HttpDeps) {
    this.#base = base;
    this.#place = new URL(base).host;
    this.#memory = memory;
    this.#deps = deps;
  }

  get isOpen(): boolean {
    return !this.#closed.signal.aborted;
  }

  async request(
    hash: string,
    lengthBytes: number | null,
    _others: readonly string[],
    events: LineEvents,
  ): Promise<LineOutcome> {
    const { clock, blobTimeoutMs } = this.#deps;
    if (this.#memory.has(hash, clock.nowMs())) return { kind: 'lacks' };
    this.receivedBytes = 0;
    const late = new AbortController();
    const timer = clock.after(blobTimeoutMs() * 2, () =>
      late.abort(new Error('the blob did not arrive in time')),
    );
    try {
      const signal = AbortSignal.any([late.signal, this.#closed.signal]);
      const body = await this.#open(hash, signal);
      if (body === null) return { kind: 'lacks' };
      events.onComing();
      const blob = await this.#read(body, signal);
      if (lengthBytes !== null && blob.bytes.length !== lengthBytes)
        throw new Error(`the server sent ${blob.bytes.length} bytes, not ${lengthBytes}`);
      return { kind: 'blob', blob };
    } catch (error) {
      const { cause, message } = error as Error;
      const reason = late.signal.aborted
        ? 'the blob did not arrive in time'
        : cause instanceof Error
          ? cause.message
          : message;
      this.#closed.abort();
      return { kind: 'failed', reason };
    } finally {
      timer.cancel();
    }
  }

  /** Body of the HTTP response; null if the server does not have the blob or refuses the request. */
  async #open(hash: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
    const url = `${this.#base}/blob?hash=${hash}`;
    const token = this.#deps.edgeToken();
    let response = await this.#get(url, signal);
    if (response.status === 403 && token !== null) {
      await response.body?.cancel();
      response = await this.#get(`${url}&edge_token=${encodeURIComponent(token)}`, signal);
    }
    const { status, body } = response;
    if (status === 200 && body !== null) return body;
    await body?.cancel();
    if (status !== 404 && status !== 403)
      throw new Error(`the server answered with the HTTP status ${status}`);
    this.#memory.note(hash, this.#deps.clock.nowMs());
    return null;
  }

  #get(url: string, signal: AbortSignal): Promise<Response> {
    this.#deps.bandwidth.sent(this.#place, url.length);
    return fetch(url, { signal });
  }

  async #read(body: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<ReceivedBlob> {
    const { bandwidth, clock, rate } = this.#deps;
    const blob = new IncomingBlob(MAX_BLOB_BYTES);
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      bandwidth.received(this.#place, chunk.length);
      this.receivedBytes += chunk.length;
      this.lastBytesMs = clock.nowMs();
      // The exception leaves the loop, which aborts the transfer.
      if (blob.add(chunk) < chunk.length) throw new Error('the server sent more bytes than a blob can have');
      const delay = rate.delayMs(chunk.length);
      if (delay > 0) await sleep(clock, delay, signal);
    }
    return blob.end();
  }

  close(): void {
    this.#closed.abort();
  }
}
