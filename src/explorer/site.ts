/** The web server of the explorer: answers requests, caches each page until the next block, and limits requests. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { asksForWebSocket, handBack } from '../util/network/httpUpgrade.js';
import { ErrorPages } from './errorPages.js';
import { RateLimit, visitorOf } from './limits.js';
import { Live, refuse } from './live.js';
import type { ExplorerCounters, ExplorerStart } from './messages.js';
import { AskError, BusyError } from './explorerRpcClient.js';
import { SyncLimit } from './syncLimit.js';
import { isFilling, pageErrorOf } from './nodeErrors.js';
import { PageError } from './pageContext.js';
import { knownSearch, refuseUnknownValues } from './pages/pageParameters.js';
import { PageRenderer, type RequestedPage, type RendererDeps, type SiteState } from './pageRenderer.js';
import type { CacheUsage } from '../util/threadMemory.js';
import { encodingOf, lastResponse, matches, packed, RenderedCache, type Rendered } from './rendered.js';
import { SiteFiles, YEAR_SEC } from './siteFiles.js';
import {
  cookiesOf,
  firstPartOf,
  isForeign,
  isTooLong,
  localPath,
  refusalOf,
  schemeOf,
  securityHeaders,
  splitTarget,
  splitUrl,
  unreadableOf,
  withoutPlace,
} from './siteRequests.js';
import { Visitors } from './visitors.js';

/** Maximum memory in bytes for rendered pages. */
const CACHE_BYTES = 32 << 20;
/** Time in ms for which a rendered page is reused if its content also changes between blocks. */
const LIVELY_MS = 2000;
/** Time in ms for which other rendered pages are reused. The limit is needed because they show ages in minutes. */
const STILL_MS = 60_000;
/** Time in ms for which rendered pages are reused during a sync. */
const SYNC_KEPT_MS = 10_000;
/** First path segments of pages that need more work than others. An additional rate limit applies to these pages. */
const HEAVY: ReadonlySet<string> = new Set(['find', 'lbry', 'console', 'proof', 'proof-hex', 'claims']);
/** Seconds after which a page is requested again while the node starts, and while an index is filled. */
const STARTING_AGAIN_SEC = 3;
const FILLING_AGAIN_SEC = 10;
/** Number of pending requests above which error responses are delayed by `HOLD_MS`, to limit their number under heavy load. */
const MANY_REQUESTS = 64;
const HOLD_MS = 1000;
/** Delay in ms of responses to requests that are refused during a sync. */
const SYNC_HOLD_MS = 5000;
/** Value of Retry-After in these responses, in seconds. */
const SYNC_RETRY_SEC = 5;
/**
 * Maximum number of requests of one connection that wait for their responses. A connection with more is closed, because each
 * waiting request needs memory. Browsers wait for a response before they send the next request.
 */
const MAX_PIPELINED = 16;
/**
 * An idle connection is closed later than announced to its client. Otherwise a request could arrive while the server closes the
 * connection, and the visitor would see an error.
 */
const ANNOUNCED_KEEP_ALIVE_SEC = 5;
const KEEP_ALIVE_MS = 7000;
/** A connection is closed if its client has not read the whole response after this time in ms. Pages have some kilobytes. */
const MAX_SENDING_MS = 60_000;
/** A connection whose request cannot be read is closed after this time in ms, if its client does not close it before. */
const UNREADABLE_MS = 1000;

export interface SiteDeps extends Pick<RendererDeps, 'node' | 'state'> {
  /** Folder that contains the compiled style sheet and script. */
  readonly assetFolder: string;
  readonly log: (text: string) => void;
  /** Called when the number of open pages with a live connection changes, with that number. */
  readonly onViewers?: (count: number) => void;
  readonly nowMs: () => number;
  /** See `SyncLimitOptions`. */
  readonly workedMs?: (() => number) | undefined;
  readonly calledMs?: (() => number) | undefined;
}

/** Cache keys of a page: `still` if it changes only with blocks, `lively` if it also changes with the mempool. */
interface CacheKeys {
  readonly still: string;
  readonly lively: string;
}

export class Site {
  readonly server: Server;
  readonly live: Live;
  /** Limits the thread's time while the node syncs. */
  readonly syncLimit: SyncLimit;
  private readonly start: ExplorerStart;
  private readonly deps: SiteDeps;
  private readonly visitors: Visitors;
  private readonly pagesLimit: RateLimit;
  private readonly heavyLimit: RateLimit;
  /** Limits the start pages that are sent without delay, for all visitors together. */
  private readonly startingLimit: RateLimit;
  private readonly renderer: PageRenderer;
  private readonly errors: ErrorPages;
  private readonly files: SiteFiles;
  private readonly cache = new RenderedCache(CACHE_BYTES);
  private readonly rendering = new Map<string, Promise<Rendered>>();
  private underWay = 0;
  /** Numbers of requests that are being answered, by connection. */
  private readonly pipelined = new WeakMap<Socket, number>();
  /** Connections whose request could not be read. */
  private readonly unreadable = new WeakSet<Socket>();
  private errorNumber = 0;
  private counts = { pages: 0, refused: 0, failed: 0 };

  constructor(start: ExplorerStart, deps: SiteDeps) {
    this.start = start;
    this.deps = deps;
    this.visitors = new Visitors(start);
    this.files = new SiteFiles(deps.assetFolder, start.isIndexable);
    this.pagesLimit = new RateLimit({ rate: 20, burst: 60 }, deps.nowMs);
    this.heavyLimit = new RateLimit({ rate: 2, burst: 20 }, deps.nowMs);
    this.startingLimit = new RateLimit({ rate: MANY_REQUESTS, burst: MANY_REQUESTS }, deps.nowMs);
    this.syncLimit = new SyncLimit(deps);
    this.server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
      if (response.shouldKeepAlive) response.setHeader('Keep-Alive', `timeout=${ANNOUNCED_KEEP_ALIVE_SEC}`);
      void this.handle(request, response);
    });
    this.live = new Live({
      allows: (request) => this.visitors.mayOpenSocket(request),
      addressOf: (request) => this.visitors.addressOf(request),
      admits: (visitor) => {
        const isAdmitted = this.pagesLimit.take(visitor) === null;
        if (!isAdmitted) this.counts.refused++;
        return isAdmitted;
      },
      tipHash: () => this.deps.state.tip?.hash ?? null,
      onCount: deps.onViewers,
    });
    const { assets } = this.files;
    const { node, state } = deps;
    const versioned = this.live.versioned.bind(this.live);
    this.renderer = new PageRenderer(start, { node, state, versioned }, assets);
    this.errors = new ErrorPages(start.network, assets);
    this.server.on('upgrade', (request, socket, head) => {
      if (!asksForWebSocket(request)) handBack(this.server, request, socket, head);
      else if (request.url === '/live') this.live.upgrade(request, socket, head);
      else refuse(socket, 404);
    });
    this.server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
      this.refuseUnreadable(error, socket as Socket),
    );
  }

  /** Memory use of the cache of rendered pages, for `getmemoryinfo`. */
  get pageMemory(): CacheUsage {
    return { name: 'pages', bytes: this.cache.sizeBytes, maxBytes: CACHE_BYTES };
  }

  get counters(): ExplorerCounters {
    return { ...this.counts, rendered: this.renderer.count, viewers: this.live.count };
  }

  /** Whether several visitors may have this remote address, because it belongs to a proxy or to this machine. */
  isShared(address: string): boolean {
    return this.visitors.isShared(address);
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    const pipelined = (this.pipelined.get(socket) ?? 0) + 1;
    if (pipelined > MAX_PIPELINED) return void socket.destroy();
    this.pipelined.set(socket, pipelined);
    this.underWay++;
    try {
      splitTarget(request);
      const isCached = this.syncLimit.isSyncing && this.isCached(request);
      if (await this.syncLimit.enter(visitorOf(this.visitors.addressOf(request)), isCached))
        await this.answerInTurn(request, response);
      else await this.refuseInSync(request, response);
    } finally {
      this.underWay--;
      this.pipelined.set(socket, this.pipelined.get(socket)! - 1);
    }
  }

  private async answerInTurn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      // The visitor may have closed the connection while the request waited.
      if (!request.socket.destroyed) await this.answer(request, response);
    } catch (error) {
      const number = ++this.errorNumber;
      this.counts.failed++;
      this.deps.log(
        `error ${number} at ${request.url?.slice(0, 200)}: ${(error as Error).stack ?? String(error)}`,
      );
      if (response.headersSent) return void response.destroy();
      this.sendError(
        request,
        response,
        new PageError(500, 'Something went wrong', `The log of the node has the reason as error ${number}.`),
      );
    } finally {
      this.syncLimit.leave();
    }
  }

  /**
   * Refuses a request that the HTTP parser cannot read, and closes its connection. The remaining bytes of the request cause the
   * same event again and are ignored: a connection that is closed at once could lose the response.
   */
  private refuseUnreadable({ code }: NodeJS.ErrnoException, socket: Socket): void {
    if (this.unreadable.has(socket)) return;
    if (!socket.writable || (this.pipelined.get(socket) ?? 0) > 0) return void socket.destroy();
    this.unreadable.add(socket);
    const page = this.errors.shared(unreadableOf(code), { ...this.shownState, look: { scheme: null } });
    socket.end(lastResponse(page));
    setTimeout(() => socket.destroy(), UNREADABLE_MS).unref();
  }

  /** Delays an error response under heavy load. During a sync `syncLimit` limits the responses. */
  private holdBack(): Promise<void> {
    if (this.underWay <= MANY_REQUESTS || this.syncLimit.isSyncing) return Promise.resolve();
    return new Promise((resolve) => setTimeout(resolve, HOLD_MS));
  }

  /** Refuses a request during a sync. The page is rendered once for all visitors. */
  private async refuseInSync(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.counts.refused++;
    const error = new PageError(
      503,
      'The node is busy',
      'It syncs with the chain, and too many pages were requested. Try again in some seconds.',
    );
    const refusal = this.errors.shared(error, { tip: null, look: { scheme: null } });
    await new Promise((resolve) => setTimeout(resolve, SYNC_HOLD_MS).unref());
    if (request.socket.destroyed) return;
    response.setHeader('Retry-After', String(SYNC_RETRY_SEC));
    this.send(request, response, refusal, 'no-store');
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    if (method !== 'GET' && method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      // The connection is closed, because the request's body was not read.
      response.setHeader('Connection', 'close');
      return this.sendError(
        request,
        response,
        new PageError(405, 'The pages are read-only', 'Use GET or HEAD.'),
      );
    }
    // RFC 9112, section 3.2. Proxies and this server could otherwise choose different ones.
    if ((request.headersDistinct['host']?.length ?? 0) > 1)
      return this.sendError(
        request,
        response,
        new PageError(400, 'Several Host headers', 'Send one Host header.'),
      );
    if (!this.visitors.isAllowedHost(request))
      return this.sendError(
        request,
        response,
        new PageError(
          403,
          'This host name is not allowed',
          'Ask for the IP address or for localhost, or allow the name by -explorerhost=<name>.',
        ),
      );
    if (isTooLong(url))
      return this.sendError(request, response, new PageError(414, 'This address is too long', 'Shorten it.'));
    const [path, search] = splitUrl(url);
    const file = this.files.find(path);
    if (file !== null) return this.send(request, response, file.rendered, file.caching);
    const visitor = visitorOf(this.visitors.addressOf(request));
    const first = firstPartOf(path);
    const waitSec =
      this.pagesLimit.take(visitor) ?? (HEAVY.has(first) ? this.heavyLimit.take(visitor) : null);
    if (waitSec !== null) {
      this.counts.refused++;
      await this.holdBack();
      response.setHeader('Retry-After', String(waitSec));
      const error = new PageError(429, 'Too many requests', `Wait ${waitSec} seconds and try again.`);
      return this.sendShared(request, response, error);
    }
    const query = new URLSearchParams(search);
    const refused = isForeign(request) ? refusalOf(path, first, query) : null;
    if (refused !== null) return this.sendError(request, response, refused);
    if (path === '/look') return this.setLook(request, response, query);
    this.counts.pages++;
    const { status } = this.deps.state;
    if (status !== null) return this.sendStarting(request, response, status);
    await this.sendPage(request, response, path, search);
  }

  /** Stores the visitor's colour scheme in a cookie, and redirects back to the page. */
  private setLook(request: IncomingMessage, response: ServerResponse, query: URLSearchParams): void {
    try {
      refuseUnknownValues('look', '/look', query);
    } catch (error) {
      if (error instanceof PageError) return this.sendError(request, response, error);
      throw error;
    }
    const back = query.get('back') ?? '/';
    const place = localPath(back);
    const cookie = (name: string, value: string, keep: boolean): string =>
      `${name}=${value}; Path=/; SameSite=Strict; HttpOnly; Max-Age=${keep ? YEAR_SEC : 0}`;
    const cookies: string[] = [];
    if (query.has('scheme')) {
      const scheme = schemeOf(query.get('scheme'));
      cookies.push(cookie('scheme', scheme ?? '', scheme !== null));
    }
    if (query.has('images')) cookies.push(cookie('images', 'yes', query.get('images') === 'yes'));
    response
      .writeHead(303, {
        ...securityHeaders(false),
        Location: place,
        'Cache-Control': 'no-store',
        ...(cookies.length > 0 && { 'Set-Cookie': cookies }),
        'Content-Length': '0',
      })
      .end();
  }

  private lookOf(request: IncomingMessage): RequestedPage['look'] {
    const cookies = cookiesOf(request.headers.cookie);
    return {
      scheme: schemeOf(cookies.get('scheme')),
      wantsImages: this.start.showsImages && cookies.get('images') === 'yes',
    };
  }

  /** The page of a request, without parameters that no page has. */
  private requestedPage(request: IncomingMessage, path: string, search: string): RequestedPage {
    return {
      path,
      search: knownSearch(firstPartOf(path), search),
      look: this.lookOf(request),
      isLocal: this.visitors.isLocal(request),
    };
  }

  private async sendPage(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    search: string,
  ): Promise<void> {
    const page = this.requestedPage(request, path, search);
    const keys = this.keysOf(page);
    const known = this.cache.get(keys.lively) ?? this.cache.get(keys.still);
    if (known) return this.send(request, response, known, 'no-cache');
    let work = this.rendering.get(keys.lively);
    if (work === undefined) {
      work = this.render(page, keys).finally(() => this.rendering.delete(keys.lively));
      this.rendering.set(keys.lively, work);
    }
    try {
      this.send(request, response, await work, 'no-cache');
    } catch (error) {
      if (error instanceof PageError) return this.sendError(request, response, error);
      if (error instanceof BusyError) {
        await this.holdBack();
        response.setHeader('Retry-After', '2');
        return this.sendShared(
          request,
          response,
          new PageError(
            503,
            'The node is busy',
            `${error.isLate ? 'It did not answer in time.' : 'Too many pages were requested.'} Try again in some seconds.`,
          ),
        );
      }
      if (!(error instanceof AskError)) throw error;
      const shown = pageErrorOf(error, withoutPlace(path, search));
      if (isFilling(error)) return this.sendLater(request, response, shown, FILLING_AGAIN_SEC);
      return this.sendError(request, response, shown);
    }
  }

  /** Renders a page and caches it. */
  private async render(request: RequestedPage, keys: CacheKeys): Promise<Rendered> {
    const { sync } = this.deps.state;
    const { rendered, isLively, isPartial } = await this.renderer.render(request);
    if (isLively === null) return rendered;
    const key = isLively ? keys.lively : keys.still;
    this.cache.put(key, rendered);
    const keptMs = sync ? SYNC_KEPT_MS : isLively || isPartial ? LIVELY_MS : STILL_MS;
    setTimeout(() => this.cache.delete(key), keptMs).unref();
    return rendered;
  }

  /** Whether the response to a request is in the cache, so that it takes little time. */
  private isCached(request: IncomingMessage): boolean {
    const { url = '/' } = request;
    if (isTooLong(url)) return false;
    const [path, search] = splitUrl(url);
    if (this.files.find(path) !== null) return true;
    const keys = this.keysOf(this.requestedPage(request, path, search));
    return this.cache.has(keys.lively) || this.cache.has(keys.still);
  }

  /**
   * Keys of a page in the cache. They contain the versions of its topics: after a hint, no page from before the change is sent.
   * The hash of the tip alone is not enough, because a reorg can return to a block while a page of this block is in the cache.
   * During a sync, when each second has new blocks, a page is kept for `SYNC_KEPT_MS`.
   */
  private keysOf({ path, search, look, isLocal }: RequestedPage): CacheKeys {
    const { tip, sync } = this.deps.state;
    const still = JSON.stringify([
      ...[path, search, look, isLocal],
      ...(sync ? ['sync'] : [tip?.hash, this.live.versioned('tip')]),
    ]);
    if (sync) return { still, lively: still };
    return { still, lively: `${still} ${this.live.versioned('mempool')}` };
  }

  /**
   * Sends the page that shows the state of the start. Under heavy load it is sent after a delay and rendered once for all
   * visitors, because the start of the node needs the processor.
   */
  private async sendStarting(
    request: IncomingMessage,
    response: ServerResponse,
    status: string,
  ): Promise<void> {
    const title = status.includes('stopping') ? 'The node is stopping' : 'The node is starting';
    const error = new PageError(503, title, status);
    if (this.startingLimit.take('') === null)
      return this.sendLater(request, response, error, STARTING_AGAIN_SEC);
    await new Promise((resolve) => setTimeout(resolve, HOLD_MS));
    const page = this.errors.shared(error, {
      tip: null,
      look: { scheme: null },
      againSec: STARTING_AGAIN_SEC,
    });
    response.setHeader('Retry-After', String(STARTING_AGAIN_SEC));
    this.send(request, response, page, 'no-store');
  }

  /** Sends the page of a temporary error, which the browser loads again after `againSec` seconds. */
  private sendLater(
    request: IncomingMessage,
    response: ServerResponse,
    error: PageError,
    againSec: number,
  ): void {
    response.setHeader('Retry-After', String(againSec));
    this.sendError(request, response, error, againSec);
  }

  private sendError(
    request: IncomingMessage,
    response: ServerResponse,
    error: PageError,
    againSec?: number,
  ): void {
    const rendered = this.errors.of(error, {
      path: isTooLong(request.url) ? '/' : localPath(request.url),
      ...this.shownState,
      look: this.lookOf(request),
      againSec,
    });
    this.send(request, response, rendered, 'no-store');
  }

  /** Sends the page of an error that many requests may have at once. */
  private sendShared(request: IncomingMessage, response: ServerResponse, error: PageError): void {
    const { scheme } = this.lookOf(request);
    this.send(
      request,
      response,
      this.errors.shared(error, { ...this.shownState, look: { scheme } }),
      'no-store',
    );
  }

  /** The tip and the progress of the sync that error pages show; both are null while the node starts or stops. */
  private get shownState(): Pick<SiteState, 'tip' | 'sync'> {
    const { tip, sync, status } = this.deps.state;
    return status === null ? { tip, sync } : { tip: null, sync: null };
  }

  private send(
    request: IncomingMessage,
    response: ServerResponse,
    rendered: Rendered,
    caching: string,
  ): void {
    const { status, type, headers, etag } = rendered;
    const base = { ...headers, 'Cache-Control': caching, Vary: 'Accept-Encoding, Cookie' };
    const encoding = encodingOf(request.headers['accept-encoding'], rendered.body.length);
    // A strong ETag would stand for equal bytes in all encodings (RFC 9110, section 8.8.1).
    const shownEtag = encoding === '' ? etag : `W/${etag}`;
    if (status === 200 && matches(request.headers['if-none-match'], etag)) {
      response.writeHead(304, { ...base, ETag: shownEtag }).end();
      return;
    }
    const body = packed(rendered, encoding);
    response.writeHead(status, {
      ...base,
      'Content-Type': type,
      'Content-Length': body.length,
      ...(encoding !== '' && { 'Content-Encoding': encoding }),
      ...(status === 200 && { ETag: shownEtag }),
    });
    response.end(request.method === 'HEAD' ? undefined : body);
    const { socket } = request;
    if (socket.writableLength === 0) return;
    const timer = setTimeout(() => socket.destroy(), MAX_SENDING_MS).unref();
    socket.once('close', () => clearTimeout(timer));
    response.once('finish', () => clearTimeout(timer));
  }
}
