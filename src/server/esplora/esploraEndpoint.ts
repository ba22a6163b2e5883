/**
 * The Esplora-compatible interface (`-esplora`): routes requests, checks that the needed indexes exist, applies CORS, and
 * converts failures to error responses. Requests need no authentication. They must come from the addresses of `-rpcallowip`,
 * and use the RPC work queue. Stores the request bodies that are being read.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { IndexStatus } from '../../index/chainIndex.js';
import { isInPieces, type AnswerCache, type KeptText } from '../../rpc/call/answerCache.js';
import { RpcError } from '../../rpc/declare/errors.js';
import { onChain, readingChain } from '../../rpc/call/onChain.js';
import type { RpcServices } from '../../interfaces/services.js';
import type { Logger } from '../../util/logging.js';
import { isPromise } from '../../util/maybePromise.js';
import { NotificationStream, type NotificationSource } from '../notifications/stream.js';
import type { HttpReply } from '../replyStream.js';
import type { CallSignals } from '../routes.js';
import { EsploraBlockSizes } from './blockSizes.js';
import {
  badRequest,
  EsploraError,
  notFound,
  type EsploraCall,
  type EsploraIndex,
  type EsploraNode,
  type EsploraPath,
} from './declaration.js';
import { EsploraSockets } from './esploraSockets.js';
import { FeeProjection } from './feeProjection.js';
import { Origins } from './origins.js';
import { matchPath, type MatchedPath } from './pathTable.js';
import { RecentReads } from './recentReads.js';
import { textReply, withHeaders } from './reply.js';

/** Prefix of all paths of the Esplora-compatible interface. */
const ESPLORA_PREFIX = '/api/';
/** Maximum size of a request body in bytes, above the hex of any transaction that nodes relay. */
const MAX_BODY_BYTES = 1 << 20;
/** Maximum length of a response that is cached. A page of transactions fits; computing such a page takes some milliseconds. */
const MAX_KEPT_CHARS = 131_072;
/** Maximum number of large bodies that are received concurrently. Arbitrary: bounds the memory to 16 MiB. */
const MAX_LARGE_BODIES = 16;
const SMALL_BODY_BYTES = 1 << 13;
const INDEX_NAMES: Readonly<Record<EsploraIndex, string>> = {
  txindex: 'transaction index',
  addressindex: 'address index',
  spendindex: 'index of spends',
};

export interface EsploraDeps {
  readonly services: RpcServices;
  /** Origins of web pages that may read responses; `*` for any (`-esploraorigin`). */
  readonly origins: readonly string[];
  /** Returns the reason why the node cannot respond yet; null once it can. */
  readonly warmupStatus: () => string | null;
  readonly log: Logger;
  /** Cache of responses; null without `-rpccache`. */
  readonly answers: AnswerCache | null;
  /** Called with every exception that is not an `EsploraError`. */
  readonly onException: (error: unknown, what: string) => void;
}

/** Waits for a turn in the work queue, runs the handler, and sends its result. */
export type Serve = (run: (signals: CallSignals) => HttpReply | Promise<HttpReply>) => void;

export class EsploraEndpoint {
  readonly prefix = ESPLORA_PREFIX;
  readonly node: EsploraNode;
  readonly origins: Origins;
  readonly sockets: EsploraSockets;
  private readonly deps: EsploraDeps;
  /** Indexes that have been filled. Each new block updates them, so they stay complete. */
  private readonly synced = new Set<EsploraIndex>();
  private largeBodies = 0;

  constructor(deps: EsploraDeps) {
    this.deps = deps;
    this.origins = new Origins(deps.origins);
    const fees = new FeeProjection(() => deps.services.mempool);
    this.node = { services: deps.services, fees, sizes: new EsploraBlockSizes(), recent: new RecentReads() };
    const { warmupStatus, log } = deps;
    this.sockets = new EsploraSockets({ node: this.node, origins: this.origins, log, warmupStatus });
  }

  /** Starts to follow the chain and the mempool, and to send notifications to WebSocket clients. */
  follow(source: NotificationSource): void {
    const stream = new NotificationStream(false, this.deps.log);
    stream.listen(this.sockets);
    stream.follow(source);
  }

  /** Handles a request whose target begins with `ESPLORA_PREFIX`. */
  receive(request: IncomingMessage, response: ServerResponse, serve: Serve): void {
    const { origin } = request.headers;
    if (request.method === 'OPTIONS') {
      this.origins.preflight(request, response);
      return;
    }
    const target = request.url ?? '';
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '');
    this.route({ method, target, origin }, serve, (post, refuse) => this.readBody(request, post, refuse));
  }

  receivePlain({ target, origin }: { target: string; origin: string | undefined }, serve: Serve): void {
    this.route({ method: 'GET', target, origin }, serve, () => undefined);
  }

  /** Handles a request. `read` is called to read the body of a POST. */
  private route(
    { method, target, origin }: { method: string; target: string; origin: string | undefined },
    serve: Serve,
    read: (onBody: (body: Buffer) => void, onRefused: (error: EsploraError) => void) => void,
  ): void {
    const allowed = this.origins.headersFor(origin);
    const mark = target.indexOf('?');
    const found = matchPath(mark < 0 ? target : target.slice(0, mark));
    const declared = found?.paths.get(method);
    if (found === null || declared === undefined) {
      const error =
        found === null
          ? notFound(`endpoint does not exist "${target}"`)
          : new EsploraError(405, `this path accepts only ${[...found.paths.keys()].join(' and ')}`);
      serve(() => errorReply(error, allowed));
      return;
    }
    if (method === 'GET') {
      serve((signals) => this.kept(declared, found, target, signals, allowed));
      return;
    }
    const post = (body: Buffer): void =>
      serve((signals) => this.answer(declared, found, { target, body, allowed }, signals));
    read(post, (error) => serve(() => errorReply(error, allowed)));
  }

  /** Returns the cached response if the state on which it depends is unchanged. Otherwise calls the handler. */
  private kept(
    declared: EsploraPath,
    found: MatchedPath,
    target: string,
    signals: CallSignals,
    allowed: readonly string[],
  ): HttpReply | Promise<HttpReply> {
    const { answers, services } = this.deps;
    const request = { target, body: NOTHING, allowed };
    // Before the chain is open, it is unknown whether a cached response is valid.
    if (answers === null || declared.follows === undefined || this.deps.warmupStatus() !== null)
      return this.answer(declared, found, request, signals);
    if (!services.chain.chain.reorganisation.isWhole) return this.answer(declared, found, request, signals);
    const call = answers.callAt(declared.follows, target, MAX_KEPT_CHARS);
    const kept = call === null ? undefined : answers.find(call);
    if (kept !== undefined && !isInPieces(kept)) return keptReply(declared, kept, allowed);
    const reply = this.answer(declared, found, request, signals);
    if (call === null) return reply;
    const keep = (made: HttpReply): HttpReply => {
      if (made.status === 200 && typeof made.text === 'string')
        answers.keep(call, `${made.headers?.[1] ?? ''}\n${made.text}`);
      return made;
    };
    return isPromise(reply) ? reply.then(keep) : keep(reply);
  }

  private readBody(
    request: IncomingMessage,
    onBody: (body: Buffer) => void,
    onRefused: (error: EsploraError) => void,
  ): void {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let isLarge = false;
    let isOver = false;
    const end = (): void => {
      if (isLarge) this.largeBodies--;
      isLarge = false;
      isOver = true;
    };
    const refuse = (error: EsploraError): void => {
      end();
      chunks.length = 0;
      onRefused(error);
    };
    request.on('data', (chunk: Buffer) => {
      // The remaining bytes of a rejected body are read and discarded. Otherwise the connection could be reset before the
      // client reads the response.
      if (isOver) return;
      bytes += chunk.length;
      if (!isLarge && bytes > SMALL_BODY_BYTES) {
        if (this.largeBodies >= MAX_LARGE_BODIES) {
          refuse(new EsploraError(503, 'Too many transactions are being sent; try again'));
          return;
        }
        this.largeBodies++;
        isLarge = true;
      }
      if (bytes > MAX_BODY_BYTES) refuse(new EsploraError(413, `body exceeds ${MAX_BODY_BYTES} bytes`));
      else chunks.push(chunk);
    });
    request.once('end', () => {
      if (isOver) return;
      end();
      onBody(Buffer.concat(chunks));
    });
    request.once('close', end);
  }

  private answer(
    declared: EsploraPath,
    { params }: MatchedPath,
    { target, body, allowed }: Asked,
    signals: CallSignals,
  ): HttpReply | Promise<HttpReply> {
    const call = new EsploraRequest(this.node, target, body);
    // `Cache-Control` must be the first header, because the code for cached responses relies on this order.
    const caching = (reply: HttpReply): HttpReply =>
      withHeaders(
        reply,
        allowed.length === 0
          ? ['Cache-Control', call.cacheControl]
          : ['Cache-Control', call.cacheControl, ...allowed],
      );
    const failed = (error: unknown): HttpReply => this.failed(error, declared, signals, allowed);
    try {
      this.requireReady(declared.needs);
      const { reorganisation } = this.deps.services.chain.chain;
      call.params = target.includes('%') ? decodeParams(params) : params;
      const run = (): HttpReply | Promise<HttpReply> => declared.run(call);
      const reply = (declared.changes ? onChain : readingChain)(reorganisation, signals, run);
      return isPromise(reply) ? reply.then(caching, failed) : caching(reply);
    } catch (error) {
      return failed(error);
    }
  }

  private failed(
    error: unknown,
    declared: EsploraPath,
    { signal }: CallSignals,
    allowed: readonly string[],
  ): HttpReply {
    if (error instanceof EsploraError) return errorReply(error, allowed);
    const headers = [...NO_STORE, ...allowed];
    if (error instanceof RpcError && signal.aborted) return { ...textReply(error.message, 503), headers };
    this.deps.onException(error, declared.path);
    return { ...textReply('Internal error', 500), headers };
  }

  /** Throws an error with status 503 while the node starts, or while a needed index is being built. */
  private requireReady(needs: readonly EsploraIndex[]): void {
    const warmup = this.deps.warmupStatus();
    if (warmup !== null) throw new EsploraError(503, `Service temporarily unavailable: ${warmup}`);
    for (const index of needs) {
      if (this.synced.has(index)) continue;
      const status = this.deps.services.indexes().find(({ name }) => name === index);
      if (status?.synced !== true) throw new EsploraError(503, this.whyMissing(index, status));
      this.synced.add(index);
    }
  }

  private whyMissing(index: EsploraIndex, status: IndexStatus | undefined): string {
    const what = `The ${INDEX_NAMES[index]}`;
    if (status === undefined) return `${what} is not enabled. Start with -${index} to use it`;
    const progress = `block ${status.height} of ${this.deps.services.chain.chain.height}`;
    if (status.failure === null) return `${what} is still being filled: ${progress}`;
    return `${what} is incomplete: it ends at ${progress}. ${status.failure}`;
  }
}

/** Request data that a handler gets besides the path parameters. */
interface Asked {
  /** Request target, including the query. */
  readonly target: string;
  readonly body: Buffer;
  /** CORS headers for the origin of the request. */
  readonly allowed: readonly string[];
}

/** A request with the data and services that handlers use. */
class EsploraRequest implements EsploraCall {
  readonly services: RpcServices;
  readonly fees: FeeProjection;
  readonly sizes: EsploraBlockSizes;
  readonly recent: RecentReads;
  readonly body: Buffer;
  params = NO_PARAMS;
  private readonly target: string;
  private keptSec = 0;

  constructor({ services, fees, sizes, recent }: EsploraNode, target: string, body: Buffer) {
    this.services = services;
    this.fees = fees;
    this.sizes = sizes;
    this.recent = recent;
    this.target = target;
    this.body = body;
  }

  get query(): URLSearchParams {
    const mark = this.target.indexOf('?');
    return mark < 0 ? NO_QUERY : new URLSearchParams(this.target.slice(mark + 1));
  }

  get cacheControl(): string {
    return this.keptSec > 0 ? `public, max-age=${this.keptSec}` : 'no-cache';
  }

  cacheFor(seconds: number): void {
    this.keptSec = seconds;
  }
}

const NOTHING = Buffer.alloc(0);
const NO_PARAMS: Readonly<Record<string, string>> = {};
const NO_QUERY = new URLSearchParams();
const NO_STORE: readonly string[] = ['Cache-Control', 'no-store'];

function errorReply({ status, message }: EsploraError, allowed: readonly string[]): HttpReply {
  return { ...textReply(message, status), headers: [...NO_STORE, ...allowed] };
}

/** Builds the reply for a cached response. `text` begins with the `Cache-Control` line. */
function keptReply({ answer }: EsploraPath, kept: KeptText, allowed: readonly string[]): HttpReply {
  const end = kept.indexOf('\n');
  const headers = ['Cache-Control', kept.slice(0, end).toString(), ...allowed];
  const reply =
    typeof kept === 'string'
      ? textReply(kept.slice(end + 1))
      : { ...textReply(''), text: null, pieces: [kept.subarray(end + 1)] };
  return answer.kind === 'json'
    ? { ...reply, contentType: 'application/json', headers }
    : { ...reply, headers };
}

function decodeParams(params: Readonly<Record<string, string>>): Record<string, string> {
  const decoded: Record<string, string> = {};
  for (const [name, text] of Object.entries(params)) {
    try {
      decoded[name] = text.includes('%') ? decodeURIComponent(text) : text;
    } catch {
      throw badRequest('Invalid path');
    }
  }
  return decoded;
}
