/**
 * The web server of the explorer: routes requests to pages, renders each page once per block, limits requests, and sends
 * headers that prevent data from the chain from acting as code. Source of the headers: OWASP Secure Headers Project; W3C
 * Content Security Policy 3.
 */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { documentBytes, type Assets, type Look } from '../page/document.js';
import { HostNames } from '../server/hostNames.js';
import { Lru } from '../util/lru.js';
import { asksForWebSocket, handBack } from '../util/network/httpUpgrade.js';
import { parseIp, Subnet } from '../util/network/subnet.js';
import { ErrorBody, SyncStrip } from './frameParts.js';
import { KeptRows } from './keptRows.js';
import { RateLimit, visitorOf } from './limits.js';
import { Live, refuse } from './live.js';
import type { ExplorerCounters, ExplorerStart, TakenBlock, Tip } from './messages.js';
import { AskError, BusyError, type ExplorerRpcClient } from './explorerRpcClient.js';
import { SyncLimit } from './syncLimit.js';
import { isFilling, isTemporary, pageErrorOf, withoutCause } from './nodeErrors.js';
import { PageError, searchFor, type PageContext, type PageResult, type Redirect } from './pageContext.js';
import { pageOf } from './pages/pageTable.js';
import type { CacheUsage } from '../util/threadMemory.js';
import { encodingOf, matches, packed, RenderedCache, renderedOf, type Rendered } from './rendered.js';

const MAX_URL_CHARS = 4096;
/** The client program's options for networks other than `main`. */
const NETWORK_OPTIONS: Readonly<Record<string, string>> = { test: ' -testnet', regtest: ' -regtest' };
/** Maximum memory in bytes for rendered pages. */
const CACHE_BYTES = 32 << 20;
/** Maximum number of cached answers that never change, of about 300 bytes each. */
const KEPT_ANSWERS = 1000;
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
const YEAR_SEC = 31_536_000;

export interface SiteState {
  tip: Tip | null;
  /** Progress of the sync; null when the node is in sync with the chain. */
  sync: { readonly headers: number; readonly etaSec: number | null } | null;
  /** Blocks that a reorg disconnected recently, sorted from the latest. */
  taken: readonly TakenBlock[];
  /** Startup or shutdown status of the node; null while it runs normally. */
  status: string | null;
}

export interface SiteDeps {
  readonly node: Pick<ExplorerRpcClient, 'ask' | 'askExactly'>;
  readonly state: SiteState;
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

interface Manifest {
  readonly style: string;
  readonly script: string | null;
}

/** Properties of a request that its error page depends on. */
interface ErrorContext {
  readonly path: string;
  readonly look: Look;
  /** Seconds after which the browser loads the page again; absent if it does not. */
  readonly againSec?: number | undefined;
}

/** Whether the address belongs to this machine. */
const isLoopback = (address: string): boolean =>
  address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.');

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="M12 2 22 7v10l-10 5L2 17V7z" fill="#0b6e5f"/><path d="m2 7 10 5 10-5M12 12v10" fill="none" stroke="#fff" stroke-width="1.6"/></svg>';

/** Returns the security headers that every response has. */
function securityHeaders(showsPictures: boolean): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self'${showsPictures ? ' https:' : ''}`,
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return {
    'Content-Security-Policy': policy.join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    'X-Frame-Options': 'DENY',
  };
}

/** Returns the path for a redirect. Returns the home page if a browser could interpret the path as a URL of another site. */
function localPath(path = '/'): string {
  return /^\/(?!\/)[\x21-\x7e]*$/.test(path) && !path.includes('\\') ? path : '/';
}

/**
 * If the request target is a whole URL, replaces the target by the path of the URL, and the `Host` header by its host (RFC 9112,
 * section 3.2.2). Proxies may send this form.
 */
function splitTarget(request: IncomingMessage): void {
  const [, host, rest = ''] = /^http:\/\/([^/?]*)(.*)$/is.exec(request.url ?? '') ?? [];
  if (host === undefined) return;
  request.headers.host = host;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
}

/** Query parameters that choose a block or a position in a list. */
const PLACES = ['after', 'block', 'coins', 'from', 'before', 'skip', 'tx'] as const;

/** Returns the path of a page as of now, from the beginning of its list. */
function withoutPlace(path: string, search: string): string {
  const query = new URLSearchParams(search);
  for (const name of PLACES) query.delete(name);
  return localPath(query.size === 0 ? path : `${path}?${query}`);
}

/** Splits the target of a request into its path and its query. */
function splitUrl(url: string): [path: string, search: string] {
  const queryAt = url.indexOf('?');
  return queryAt < 0 ? [url, ''] : [url.slice(0, queryAt), url.slice(queryAt + 1)];
}

const isTooLong = (url = ''): boolean => url.length > MAX_URL_CHARS;

/** Whether another site caused the request, as browsers report (W3C Fetch Metadata Request Headers). */
function isForeign({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

/** Returns the error page for a request that another site must not cause; null for other requests. */
function refusalOf(path: string, first: string, query: URLSearchParams): PageError | null {
  if (first === 'console' && query.has('run'))
    return new PageError(
      403,
      'Another site started this call',
      'Methods are called only from the page of the console.',
      [['/console', 'Console']],
    );
  if (path !== '/look') return null;
  return new PageError(
    403,
    'Another site made this choice',
    'Colours and pictures are chosen only on these pages.',
    [[localPath(query.get('back') ?? '/'), 'Back to the page']],
  );
}

/** Parses the `Cookie` header; returns only cookies that the explorer itself sets. */
function cookiesOf(header: string | undefined): ReadonlyMap<string, string> {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim().split('=', 2));
  return new Map(pairs.filter(([name]) => name).map(([name, value = '']) => [name!, value]));
}

function schemeOf(text: string | undefined | null): Look['scheme'] {
  return text === 'dark' || text === 'light' ? text : null;
}

export class Site {
  readonly server: Server;
  readonly live: Live;
  /** Limits the thread's time while the node syncs. */
  readonly syncLimit: SyncLimit;
  private readonly start: ExplorerStart;
  private readonly deps: SiteDeps;
  private readonly hosts: HostNames;
  private readonly proxies: readonly Subnet[];
  private readonly pagesLimit: RateLimit;
  private readonly heavyLimit: RateLimit;
  /** Limits the start pages that are sent without delay, for all visitors together. */
  private readonly startingLimit: RateLimit;
  private readonly assets: Assets;
  /** Responses of the style sheet and the script, by path. */
  private readonly files = new Map<string, Rendered>();
  private readonly cache = new RenderedCache(CACHE_BYTES);
  private readonly fixed = new Lru<string, object>(KEPT_ANSWERS);
  private readonly rows = new KeptRows();
  private readonly rendering = new Map<string, Promise<Rendered>>();
  private underWay = 0;
  /** Numbers of requests that are being answered, by connection. */
  private readonly pipelined = new WeakMap<Socket, number>();
  /** The response to requests that are refused during a sync; null before the first one. */
  private refusal: Rendered | null = null;
  /** The response to requests during the start under heavy load, with the status of the node that it shows. */
  private starting: { readonly status: string; readonly page: Rendered } | null = null;
  private errorNumber = 0;
  private counts = { pages: 0, rendered: 0, refused: 0, failed: 0 };

  constructor(start: ExplorerStart, deps: SiteDeps) {
    this.start = start;
    this.deps = deps;
    this.hosts = new HostNames([start.host, ...start.hostNames]);
    this.proxies = start.proxies.map((text) => Subnet.parse(text)).filter((subnet) => subnet !== null);
    this.pagesLimit = new RateLimit({ rate: 20, burst: 60 }, deps.nowMs);
    this.heavyLimit = new RateLimit({ rate: 2, burst: 20 }, deps.nowMs);
    this.startingLimit = new RateLimit({ rate: MANY_REQUESTS, burst: MANY_REQUESTS }, deps.nowMs);
    this.syncLimit = new SyncLimit(deps);
    this.assets = this.loadAssets();
    this.server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
      if (response.shouldKeepAlive) response.setHeader('Keep-Alive', `timeout=${ANNOUNCED_KEEP_ALIVE_SEC}`);
      void this.handle(request, response);
    });
    this.live = new Live({
      allows: (request) => this.allowsSocket(request),
      addressOf: (request) => this.addressOf(request),
      tipHash: () => this.deps.state.tip?.hash ?? null,
      onCount: deps.onViewers,
    });
    this.server.on('upgrade', (request, socket, head) => {
      if (!asksForWebSocket(request)) handBack(this.server, request, socket, head);
      else if (request.url === '/live') this.live.upgrade(request, socket, head);
      else refuse(socket, 404);
    });
  }

  /** Memory use of the cache of rendered pages, for `getmemoryinfo`. */
  get pageMemory(): CacheUsage {
    return { name: 'pages', bytes: this.cache.sizeBytes, maxBytes: CACHE_BYTES };
  }

  get counters(): ExplorerCounters {
    return { ...this.counts, viewers: this.live.count };
  }

  private loadAssets(): Assets {
    const { assetFolder } = this.deps;
    const manifest = JSON.parse(readFileSync(`${assetFolder}/manifest.json`, 'utf8')) as Manifest;
    const put = (file: string, type: string): string => {
      const body = readFileSync(`${assetFolder}/${file}`);
      this.files.set(`/assets/${file}`, renderedOf(200, type, body, securityHeaders(false), true));
      return `/assets/${file}`;
    };
    return {
      style: put(manifest.style, 'text/css; charset=utf-8'),
      script: manifest.script === null ? null : put(manifest.script, 'text/javascript; charset=utf-8'),
    };
  }

  /** Whether a WebSocket may be opened: the origin of the page must equal the requested host. */
  private allowsSocket({ headers: { host, origin } }: IncomingMessage): boolean {
    if (!this.hosts.allows(host)) return false;
    if (origin === undefined) return true;
    return URL.canParse(origin) && new URL(origin).host === host;
  }

  /** Whether several visitors may have this remote address, because it belongs to a proxy or to this machine. */
  isShared(address: string): boolean {
    return isLoopback(address) || this.isProxy(address);
  }

  private isProxy(address: string): boolean {
    const ip = parseIp(address);
    return ip !== null && this.proxies.some((proxy) => proxy.contains(ip));
  }

  private addressOf(request: IncomingMessage): string {
    const direct = request.socket.remoteAddress ?? '';
    const forwarded = request.headers['x-forwarded-for'];
    if (typeof forwarded !== 'string' || !this.isProxy(direct)) return direct;
    return forwarded.split(',').at(-1)?.trim() || direct;
  }

  /** Whether the visitor is on this machine. A request that an unknown proxy forwarded is not. */
  private isLocal(request: IncomingMessage): boolean {
    const { headers, socket } = request;
    const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
    return isLoopback(this.addressOf(request)) && (!isForwarded || this.isProxy(socket.remoteAddress ?? ''));
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
      if (await this.syncLimit.enter(visitorOf(this.addressOf(request)), isCached))
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

  /** Delays an error response under heavy load. During a sync `syncLimit` limits the responses. */
  private holdBack(): Promise<void> {
    if (this.underWay <= MANY_REQUESTS || this.syncLimit.isSyncing) return Promise.resolve();
    return new Promise((resolve) => setTimeout(resolve, HOLD_MS));
  }

  /** Refuses a request during a sync. The page is rendered once for all visitors. */
  private async refuseInSync(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.counts.refused++;
    this.refusal ??= this.errorPage(
      new PageError(
        503,
        'The node is busy',
        'It syncs with the chain, and too many pages were requested. Try again in some seconds.',
      ),
      { path: '/', tip: null, look: { scheme: null } },
    );
    await new Promise((resolve) => setTimeout(resolve, SYNC_HOLD_MS).unref());
    if (request.socket.destroyed) return;
    response.setHeader('Retry-After', String(SYNC_RETRY_SEC));
    this.send(request, response, this.refusal, 'no-store');
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
    if (!this.hosts.allows(request.headers.host))
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
    if (this.sendFile(request, response, path)) return;
    const visitor = visitorOf(this.addressOf(request));
    const first = firstPartOf(path);
    const waitSec =
      this.pagesLimit.take(visitor) ?? (HEAVY.has(first) ? this.heavyLimit.take(visitor) : null);
    if (waitSec !== null) {
      this.counts.refused++;
      await this.holdBack();
      response.setHeader('Retry-After', String(waitSec));
      return this.sendError(
        request,
        response,
        new PageError(429, 'Too many requests', `Wait ${waitSec} seconds and try again.`),
      );
    }
    const query = new URLSearchParams(search);
    const refused = isForeign(request) ? refusalOf(path, first, query) : null;
    if (refused !== null) return this.sendError(request, response, refused);
    if (path === '/look') return this.setLook(response, query);
    this.counts.pages++;
    const { status } = this.deps.state;
    if (status !== null) return this.sendStarting(request, response, status);
    await this.sendPage(request, response, path, search);
  }

  private sendFile(request: IncomingMessage, response: ServerResponse, path: string): boolean {
    if (path === '/robots.txt') {
      const text = this.start.isIndexable
        ? 'User-agent: *\nDisallow: /console\nDisallow: /find\n'
        : 'User-agent: *\nDisallow: /\n';
      this.send(
        request,
        response,
        renderedOf(200, 'text/plain; charset=utf-8', Buffer.from(text), securityHeaders(false)),
        'no-cache',
      );
      return true;
    }
    if (path === '/icon.svg' || path === '/favicon.ico') {
      this.send(
        request,
        response,
        renderedOf(200, 'image/svg+xml', Buffer.from(ICON), securityHeaders(false)),
        'public, max-age=86400',
      );
      return true;
    }
    const file = this.files.get(path);
    if (file === undefined) return false;
    this.send(request, response, file, `public, max-age=${YEAR_SEC}, immutable`);
    return true;
  }

  /** Stores the visitor's colour scheme in a cookie, and redirects back to the page. */
  private setLook(response: ServerResponse, query: URLSearchParams): void {
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

  private lookOf(request: IncomingMessage): Look & { readonly wantsImages: boolean } {
    const cookies = cookiesOf(request.headers.cookie);
    return {
      scheme: schemeOf(cookies.get('scheme')),
      wantsImages: this.start.showsImages && cookies.get('images') === 'yes',
    };
  }

  private async sendPage(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    search: string,
  ): Promise<void> {
    const look = this.lookOf(request);
    const isLocal = this.isLocal(request);
    const keys = this.keysOf([path, search, look, isLocal]);
    const known = this.cache.get(keys.lively) ?? this.cache.get(keys.still);
    if (known) return this.send(request, response, known, 'no-cache');
    let work = this.rendering.get(keys.lively);
    if (work === undefined) {
      work = this.render(path, search, look, isLocal, keys).finally(() => this.rendering.delete(keys.lively));
      this.rendering.set(keys.lively, work);
    }
    try {
      this.send(request, response, await work, 'no-cache');
    } catch (error) {
      if (error instanceof PageError) return this.sendError(request, response, error);
      if (error instanceof BusyError) {
        await this.holdBack();
        response.setHeader('Retry-After', '2');
        return this.sendError(
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

  /** Whether the response to a request is in the cache, so that it takes little time. */
  private isCached(request: IncomingMessage): boolean {
    const { url = '/' } = request;
    if (isTooLong(url)) return false;
    const [path, search] = splitUrl(url);
    if (this.files.has(path)) return true;
    const keys = this.keysOf([path, search, this.lookOf(request), this.isLocal(request)]);
    return this.cache.has(keys.lively) || this.cache.has(keys.still);
  }

  /**
   * Keys of a page in the cache. They contain the versions of its topics: after a hint, no page from before the change is sent.
   * The hash of the tip alone is not enough, because a reorg can return to a block while a page of this block is in the cache.
   * During a sync, when each second has new blocks, a page is kept for `SYNC_KEPT_MS`.
   */
  private keysOf(request: readonly unknown[]): CacheKeys {
    const { tip, sync } = this.deps.state;
    const still = JSON.stringify([
      ...request,
      ...(sync ? ['sync'] : [tip?.hash, this.live.versioned('tip')]),
    ]);
    if (sync) return { still, lively: still };
    return { still, lively: `${still} ${this.live.versioned('mempool')}` };
  }

  private async render(
    path: string,
    search: string,
    look: Look & { readonly wantsImages: boolean },
    isLocal: boolean,
    keys: CacheKeys,
  ): Promise<Rendered> {
    const { start, deps } = this;
    const { tip, sync } = deps.state;
    const versions = { tip: this.live.versioned('tip'), mempool: this.live.versioned('mempool') };
    if (tip === null)
      throw new PageError(503, 'There is no block yet', 'The node has not read its first block.');
    const parts = partsOf(path);
    const page = pageOf(parts);
    if (page === undefined)
      throw new PageError(
        404,
        'There is no such page',
        'Use the links above, or search.',
        searchFor(parts.at(-1) ?? ''),
      );
    this.counts.rendered++;
    const nowSec = Math.floor(Date.now() / 1000);
    const { hasTemporary, ...askers } = this.askersFor(start.showsPeers || isLocal);
    const context: PageContext = {
      ...askers,
      parts: parts.slice(1),
      query: new URLSearchParams(search),
      tip,
      isSyncing: sync !== null,
      fixed: this.fixed,
      rows: this.rows,
      taken: deps.state.taken,
      nowSec,
      network: start.network,
      spacingSec: start.spacingSec,
      isLocal,
      wantsImages: look.wantsImages,
      showsImages: start.showsImages,
      showsPeers: start.showsPeers || isLocal,
      lacking: start.lacking,
      command: isLocal ? start.command : `lbcnode-cli${NETWORK_OPTIONS[start.network] ?? ''}`,
      methods: start.methods,
    };
    const result = await page(context);
    if ('redirect' in result) return this.redirection(result);
    // The state from before the page's data was read: a change during the rendering makes the page outdated.
    const topics = result.topics.map((topic) => versions[topic]);
    const html = this.html(result, search === '' ? path : `${path}?${search}`, { tip, sync, topics }, look);
    const rendered = renderedOf(
      result.status ?? 200,
      'text/html; charset=utf-8',
      html,
      securityHeaders(look.wantsImages),
    );
    const key = result.isLively ? keys.lively : keys.still;
    this.cache.put(key, rendered);
    const keptMs = sync ? SYNC_KEPT_MS : result.isLively || hasTemporary() ? LIVELY_MS : STILL_MS;
    setTimeout(() => this.cache.delete(key), keptMs).unref();
    return rendered;
  }

  /**
   * Returns the functions with which a page calls methods. Causes of errors in indexes are for local visitors. `hasTemporary` returns
   * whether a call had no answer because the node will have the data later without a new block.
   */
  private askersFor(
    showsCauses: boolean,
  ): Pick<PageContext, 'ask' | 'askExactly'> & { readonly hasTemporary: () => boolean } {
    const { node } = this.deps;
    let isAnyTemporary = false;
    const shown = <Result,>(answer: Promise<Result>): Promise<Result> =>
      answer.catch((error: unknown) => {
        isAnyTemporary ||= isTemporary(error);
        throw showsCauses ? error : withoutCause(error);
      });
    return {
      ask: <Result,>(method: string, ...params: readonly unknown[]) =>
        shown(node.ask<Result>(method, ...params)),
      askExactly: (method, ...params) => shown(node.askExactly(method, ...params)),
      hasTemporary: () => isAnyTemporary,
    };
  }

  private redirection({ redirect }: Redirect): Rendered {
    return renderedOf(302, 'text/plain; charset=utf-8', Buffer.alloc(0), {
      ...securityHeaders(false),
      Location: redirect,
    });
  }

  private html(
    result: PageResult,
    path: string,
    { tip, sync, topics }: Pick<SiteState, 'tip' | 'sync'> & { readonly topics: readonly string[] },
    look: Look,
  ): Buffer {
    return documentBytes(
      {
        title: result.title,
        description: result.description,
        path,
        query: result.searched,
        network: this.start.network,
        tip,
        topics,
        strip: sync && tip ? <SyncStrip tip={tip} {...sync} /> : null,
        nowSec: Math.floor(Date.now() / 1000),
        isIndexable: this.start.isIndexable,
      },
      look,
      this.assets,
      result.body,
    );
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
    if (this.starting?.status !== status) {
      const context = { path: '/', tip: null, look: { scheme: null }, againSec: STARTING_AGAIN_SEC };
      this.starting = { status, page: this.errorPage(error, context) };
    }
    response.setHeader('Retry-After', String(STARTING_AGAIN_SEC));
    this.send(request, response, this.starting.page, 'no-store');
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
    const { tip, status } = this.deps.state;
    const rendered = this.errorPage(error, {
      path: isTooLong(request.url) ? '/' : localPath(request.url),
      tip: status === null ? tip : null,
      look: this.lookOf(request),
      againSec,
    });
    this.send(request, response, rendered, 'no-store');
  }

  private errorPage(
    error: PageError,
    { path, tip, look, againSec }: Pick<SiteState, 'tip'> & ErrorContext,
  ): Rendered {
    const html = documentBytes(
      {
        title: error.title,
        description: error.title,
        path,
        network: this.start.network,
        tip,
        topics: [],
        nowSec: Math.floor(Date.now() / 1000),
        isIndexable: false,
        againSec,
      },
      look,
      this.assets,
      <ErrorBody error={error} again={againSec === undefined ? null : path} />,
    );
    return renderedOf(error.status, 'text/html; charset=utf-8', html, securityHeaders(false));
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

/** Returns the first segment of a path, decoded as for `pageOf`. Empty for a malformed segment. */
function firstPartOf(path: string): string {
  try {
    return decodeURIComponent(path.split('/', 2)[1] ?? '');
  } catch {
    return '';
  }
}

/**
 * Decodes the segments of a path. An empty last segment is removed, except for the root. Throws `PageError` for a malformed
 * segment.
 */
export function partsOf(path: string): string[] {
  try {
    const parts = path.slice(1).split('/').map(decodeURIComponent);
    if (parts.length > 1 && parts.at(-1) === '') parts.pop();
    return parts;
  } catch {
    throw new PageError(400, 'This address is malformed', 'A part of it is not UTF-8 in percent encoding.');
  }
}
